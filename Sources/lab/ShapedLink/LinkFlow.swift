import DequeModule
import LinkModel

/// What one connection sends in one direction: what waits, what is under way, what arrived.
///
/// As TCP does it, in the large: packets arrive in their order, one that was lost holds up those behind it
/// until it was sent again; a window says how much may be under way at once, begins at ten packets
/// (RFC 6928), doubles each round trip until something is lost, is then halved and grows by a packet each
/// round trip (RFC 5681).
struct LinkFlow: Sendable {
  /// What a packet carries at most (Ethernet's 1500 without the heads of IPv4 and TCP).
  static let packetBytes = 1460

  /// What a packet brings.
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
    /// Nil as long as it is lost.
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
  /// Before this nothing is sent: the connection is being made.
  private let startNanoseconds: UInt64

  private var queue: Deque<Content> = []
  private(set) var queuedBytes = 0
  private var underWay: Deque<Packet> = []
  /// The number of the first packet that is under way.
  private var firstSequence = 0
  private var losses: [Loss] = []
  private var acknowledgements: Deque<Acknowledgement> = []
  private var arrived: [Content] = []
  /// Sent and not acknowledged.
  private var unacknowledgedBytes = 0
  /// Arrived and not handed over for good.
  private var unreadBytes = 0
  private var windowBytes = 10 * packetBytes
  private var thresholdBytes = Int.max
  /// A loss before this packet belongs to one for which the window was halved already.
  private var recoverySequence = 0

  init(id: Int, startNanoseconds: UInt64, limits: LinkLimits) {
    self.id = id
    self.startNanoseconds = startNanoseconds
    self.limits = limits
  }

  // MARK: The sender's end

  /// How much more the sender may put in.
  var roomBytes: Int { max(0, limits.sendBufferBytes - queuedBytes) }

  /// Nothing of it is anywhere.
  var isIdle: Bool {
    queue.isEmpty && underWay.isEmpty && acknowledgements.isEmpty
  }

  /// Bytes that were sent and not lost, and have not arrived yet.
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

  /// Says that nothing follows; a sender that is gone sends nothing of what waits, and nothing again.
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

  // MARK: The way

  /// The packet that is to be sent next: how large it is, and from when on; nil where none may be.
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

  /// Sends the packet that `next` told.
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

  /// When the next packet, or word of one, arrives.
  var nextArrivalNanoseconds: UInt64? {
    let times = [
      underWay.first?.arrivalNanoseconds, acknowledgements.first?.timeNanoseconds,
    ]
    return times.compactMap { $0 }.min()
  }

  /// Lets arrive what has arrived by then; says how many bytes did.
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

  // MARK: The receiver's end

  /// What has arrived since the last time.
  mutating func takeArrived() -> [Content] {
    defer { arrived = [] }
    return arrived
  }

  /// The receiver has this many bytes of it for good.
  mutating func read(_ bytes: Int) { unreadBytes -= bytes }
}
