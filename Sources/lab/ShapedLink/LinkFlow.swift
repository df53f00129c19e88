import DequeModule
import LinkModel

/// The packets that one connection sends in one direction: waiting, in flight, arrived.
///
/// It models TCP coarsely. Packets arrive in order; a lost one holds up those after it until it is sent
/// again. A window limits the bytes in flight: it begins at ten packets (RFC 6928), doubles each round trip
/// until a loss, is then halved, and grows by a packet each round trip (RFC 5681).
struct LinkFlow: Sendable {
  /// The maximum payload of a packet (Ethernet's 1500 without the headers of IPv4 and TCP).
  static let packetBytes = 1460

  /// The content of a packet.
  enum Content: Hashable, Sendable {
    case bytes([UInt8])
    /// Nothing follows.
    case end
    /// The sender is gone: nothing follows, and nothing is taken any more.
    case reset

    var byteCount: Int {
      if case .bytes(let bytes) = self { bytes.count } else { 0 }
    }
  }

  private struct Packet: Sendable {
    let content: Content
    /// The arrival; nil while the packet is lost.
    var arrivalNanoseconds: UInt64?
  }

  private struct Loss: Sendable {
    let sequence: Int
    let resendNanoseconds: UInt64
  }

  private struct Acknowledgement: Sendable {
    let timeNanoseconds: UInt64
    let bytes: Int
  }

  let id: Int
  private let limits: LinkLimits
  /// The time before which nothing is sent, because the connection is being set up.
  private let startNanoseconds: UInt64

  private var queue: Deque<Content> = []
  private(set) var queuedBytes = 0
  private var underWay: Deque<Packet> = []
  /// The number of the first packet in flight.
  private var firstSequence = 0
  private var losses: [Loss] = []
  private var acknowledgements: Deque<Acknowledgement> = []
  private var arrived: [Content] = []
  /// The number of bytes sent and not acknowledged.
  private var unacknowledgedBytes = 0
  /// The number of bytes arrived and not read.
  private var unreadBytes = 0
  private var windowBytes = 10 * packetBytes
  private var thresholdBytes = Int.max
  /// The number of the packet before which losses do not halve the window again.
  private var recoverySequence = 0

  init(id: Int, startNanoseconds: UInt64, limits: LinkLimits) {
    self.id = id
    self.startNanoseconds = startNanoseconds
    self.limits = limits
  }

  // MARK: Sender

  /// The number of bytes that the sender may still put in.
  var roomBytes: Int { max(0, limits.sendBufferBytes - queuedBytes) }

  /// Whether nothing waits or is in flight.
  var isIdle: Bool {
    queue.isEmpty && underWay.isEmpty && acknowledgements.isEmpty
  }

  /// The number of bytes that were sent and not lost, and have not arrived yet.
  var bytesUnderWay: Int {
    underWay.reduce(0) { $0 + ($1.arrivalNanoseconds == nil ? 0 : $1.content.byteCount) }
  }

  mutating func put(_ bytes: ArraySlice<UInt8>) {
    var rest = bytes
    while !rest.isEmpty {
      queue.append(.bytes(Array(rest.prefix(Self.packetBytes))))
      rest = rest.dropFirst(Self.packetBytes)
    }
    queuedBytes += bytes.count
  }

  /// Adds the end. A sender that is gone sends no waiting bytes, and none again.
  mutating func finish(_ mark: Content) {
    if mark == .reset {
      queue = []
      queuedBytes = 0
      if let first = losses.map(\.sequence).min() {
        let kept = first - firstSequence
        unacknowledgedBytes -= underWay.dropFirst(kept).reduce(0) { $0 + $1.content.byteCount }
        underWay.removeLast(underWay.count - kept)
        losses = []
      }
    }
    queue.append(mark)
  }

  // MARK: Transmission

  /// The size of the next packet to send, and the time from which it may be sent; nil if none may be.
  func next(atNanoseconds time: UInt64) -> (bytes: Int, fromNanoseconds: UInt64)? {
    let new = nextNew
    guard let loss = nextLoss else { return new }
    if let new, new.fromNanoseconds <= time, loss.resendNanoseconds > time { return new }
    return (
      underWay[loss.sequence - firstSequence].content.byteCount, loss.resendNanoseconds
    )
  }

  private var nextLoss: Loss? {
    losses.min {
      ($0.resendNanoseconds, $0.sequence) < ($1.resendNanoseconds, $1.sequence)
    }
  }

  private var nextNew: (bytes: Int, fromNanoseconds: UInt64)? {
    guard let bytes = queue.first?.byteCount else { return nil }
    let fitsWindow = unacknowledgedBytes == 0 || unacknowledgedBytes + bytes <= windowBytes
    let isRead = unacknowledgedBytes + unreadBytes + bytes <= limits.receiveWindowBytes
    return bytes == 0 || fitsWindow && isRead ? (bytes, startNanoseconds) : nil
  }

  /// Sends the packet that `next` returned.
  mutating func send(atNanoseconds time: UInt64, isLost: Bool, _ conditions: LinkConditions) {
    let arrival = isLost ? nil : time + conditions.latencyNanoseconds
    let sequence: Int
    if let loss = nextLoss, loss.resendNanoseconds <= time {
      sequence = loss.sequence
      underWay[sequence - firstSequence].arrivalNanoseconds = arrival
      losses.removeAll { $0.sequence == sequence }
    } else {
      let content = queue.removeFirst()
      sequence = firstSequence + underWay.count
      queuedBytes -= content.byteCount
      unacknowledgedBytes += content.byteCount
      underWay.append(Packet(content: content, arrivalNanoseconds: arrival))
    }
    guard isLost else { return }
    losses.append(
      Loss(sequence: sequence, resendNanoseconds: time + conditions.resendNanoseconds))
    guard sequence >= recoverySequence else { return }
    recoverySequence = firstSequence + underWay.count
    thresholdBytes = max(windowBytes / 2, 2 * Self.packetBytes)
    windowBytes = thresholdBytes
  }

  /// The time of the next arrival of a packet, or of an acknowledgement.
  var nextArrivalNanoseconds: UInt64? {
    let times = [
      underWay.first?.arrivalNanoseconds, acknowledgements.first?.timeNanoseconds,
    ]
    return times.compactMap { $0 }.min()
  }

  /// Handles what has arrived by this time, and returns the number of bytes that did.
  mutating func settle(atNanoseconds time: UInt64, _ conditions: LinkConditions) -> Int {
    var bytes = 0
    while let packet = underWay.first, let arrival = packet.arrivalNanoseconds, arrival <= time {
      underWay.removeFirst()
      firstSequence += 1
      arrived.append(packet.content)
      let count = packet.content.byteCount
      guard count > 0 else { continue }
      bytes += count
      let back = time + conditions.latencyNanoseconds
      acknowledgements.append(
        Acknowledgement(
          timeNanoseconds: max(back, acknowledgements.last?.timeNanoseconds ?? 0), bytes: count))
    }
    unreadBytes += bytes
    while let word = acknowledgements.first, word.timeNanoseconds <= time {
      acknowledgements.removeFirst()
      unacknowledgedBytes -= word.bytes
      let growth =
        windowBytes < thresholdBytes
        ? word.bytes : max(1, Self.packetBytes * word.bytes / windowBytes)
      windowBytes = min(windowBytes + growth, limits.receiveWindowBytes)
    }
    return bytes
  }

  // MARK: Receiver

  /// Takes what has arrived since the last call.
  mutating func takeArrived() -> [Content] {
    defer { arrived = [] }
    return arrived
  }

  /// Notes that the receiver has read this many bytes.
  mutating func read(_ bytes: Int) { unreadBytes -= bytes }
}
