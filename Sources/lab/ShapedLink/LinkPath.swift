import LinkModel

/// One direction of a link, shared by connections: they send a packet each in turn. A packet takes as long as
/// its bits need at the link's rate, even if it finds the link idle.
///
/// Pure: the caller hands in bytes and the time, in nanoseconds since the link began, and takes what arrived.
/// Between two calls everything happens at its own time, however late the second call: a slow caller does not
/// slow the link down.
struct LinkPath: Sendable {
  private let way: LinkWay
  private let limits: LinkLimits
  private var schedule: LinkSchedule
  private var scheduleStartNanoseconds: UInt64 = 0
  private var conditions: LinkConditions
  private var conditionsEndNanoseconds: UInt64?
  /// What the link could have carried since it became busy, and has not.
  private var bucket: TokenBucket
  /// Whether a packet may be sent now.
  private var isBusy = false
  private var dice: LossDice
  private(set) var timeNanoseconds: UInt64 = 0

  private var flows: [LinkFlow] = []
  /// The index of the flow whose turn it is.
  private var turn = 0

  /// The number of bytes that arrived, including those in flight of connections closed meanwhile.
  private(set) var deliveredBytes = 0
  /// The number of bytes that were put in and not sent.
  var waitingBytes: Int { flows.reduce(0) { $0 + $1.queuedBytes } }
  /// The number of packets that were lost.
  private(set) var lostPackets = 0

  init(_ way: LinkWay, _ schedule: LinkSchedule, limits: LinkLimits, seed: UInt64) {
    self.way = way
    self.limits = limits
    self.schedule = schedule
    (conditions, conditionsEndNanoseconds) = schedule.conditions(atNanoseconds: 0)
    bucket = TokenBucket(
      rateKbps: conditions.rateKbps(way), burstBytes: LinkFlow.packetBytes)
    dice = LossDice(seed)
  }

  // MARK: Connections

  /// Opens a connection, which begins to send when it has been set up.
  mutating func open(_ id: Int, atNanoseconds time: UInt64) {
    advance(toNanoseconds: time)
    let setUp = UInt64(limits.setUpRoundTrips) * 2 * conditions.latencyNanoseconds
    flows.append(LinkFlow(id: id, startNanoseconds: timeNanoseconds + setUp, limits: limits))
  }

  /// Closes a connection. Its bytes in flight arrive, and are dropped.
  mutating func close(_ id: Int) {
    guard let index = index(of: id) else { return }
    deliveredBytes += flows.remove(at: index).bytesUnderWay
    if index < turn { turn -= 1 }
    lookAtLoad()
  }

  /// The number of bytes that the connection may still put in.
  func roomBytes(_ id: Int) -> Int { index(of: id).map { flows[$0].roomBytes } ?? 0 }

  mutating func put(_ bytes: ArraySlice<UInt8>, into id: Int, atNanoseconds time: UInt64) {
    advance(toNanoseconds: time)
    if let index = index(of: id) { flows[index].put(bytes) }
    lookAtLoad()
  }

  mutating func finish(_ id: Int, _ mark: LinkFlow.Content, atNanoseconds time: UInt64) {
    advance(toNanoseconds: time)
    if let index = index(of: id) { flows[index].finish(mark) }
    lookAtLoad()
  }

  /// Takes what has arrived of the connection since the last call.
  mutating func takeArrived(_ id: Int) -> [LinkFlow.Content] {
    index(of: id).map { flows[$0].takeArrived() } ?? []
  }

  /// Notes that the connection's receiver has read this many bytes.
  mutating func read(_ bytes: Int, from id: Int) {
    if let index = index(of: id) { flows[index].read(bytes) }
    lookAtLoad()
  }

  private func index(of id: Int) -> Int? { flows.firstIndex { $0.id == id } }

  // MARK: Time

  /// Changes the schedule from now on.
  mutating func change(to schedule: LinkSchedule, atNanoseconds time: UInt64) {
    advance(toNanoseconds: time)
    self.schedule = schedule
    scheduleStartNanoseconds = timeNanoseconds
    lookAtConditions()
  }

  /// Handles everything that happens until this time.
  mutating func advance(toNanoseconds limit: UInt64) {
    while let next = nextNanoseconds, next <= limit {
      timeNanoseconds = max(timeNanoseconds, next)
      step()
    }
    timeNanoseconds = max(timeNanoseconds, limit)
    lookAtConditions()
  }

  /// The time of the next event; nil if there is none until something is put in.
  var nextNanoseconds: UInt64? {
    if flows.allSatisfy(\.isIdle) { return nil }
    var times = flows.compactMap(\.nextArrivalNanoseconds)
    if let end = conditionsEndNanoseconds { times.append(end) }
    if let index = nextIndex, let packet = flows[index].next(atNanoseconds: timeNanoseconds) {
      if packet.fromNanoseconds > timeNanoseconds {
        times.append(packet.fromNanoseconds)
      } else if isOpen(for: packet.bytes),
        let ready = bucket.readyNanoseconds(forBytes: packet.bytes, atNanoseconds: timeNanoseconds)
      {
        times.append(ready)
      }
    }
    return times.min()
  }

  /// The index of the flow that sends next: of those that may send now, the one whose turn it is; otherwise
  /// the first that may.
  private var nextIndex: Int? {
    var earliest: (index: Int, time: UInt64)?
    for offset in flows.indices {
      let index = (turn + offset) % flows.count
      guard let packet = flows[index].next(atNanoseconds: timeNanoseconds) else { continue }
      if packet.fromNanoseconds <= timeNanoseconds { return index }
      if packet.fromNanoseconds < earliest?.time ?? .max {
        earliest = (index, packet.fromNanoseconds)
      }
    }
    return earliest?.index
  }

  /// Whether a packet of this size may pass. At a rate of 0, the rest in the bucket does not pass, either;
  /// marks have no bytes.
  private func isOpen(for bytes: Int) -> Bool { bytes == 0 || bucket.rateKbps > 0 }

  /// Updates `isBusy`. An idle link saves nothing up: the next packet takes its whole time.
  private mutating func lookAtLoad() {
    let wasBusy = isBusy
    isBusy = flows.contains {
      $0.next(atNanoseconds: timeNanoseconds).map { $0.fromNanoseconds <= timeNanoseconds } ?? false
    }
    if isBusy, !wasBusy { bucket.empty(atNanoseconds: timeNanoseconds) }
  }

  private mutating func step() {
    defer { lookAtLoad() }
    lookAtConditions()
    for index in flows.indices {
      deliveredBytes += flows[index].settle(atNanoseconds: timeNanoseconds, conditions)
    }
    lookAtLoad()
    guard let index = nextIndex, let packet = flows[index].next(atNanoseconds: timeNanoseconds),
      packet.fromNanoseconds <= timeNanoseconds, isOpen(for: packet.bytes),
      bucket.take(packet.bytes, atNanoseconds: timeNanoseconds)
    else { return }
    let isLost = packet.bytes > 0 && dice.falls(percent: conditions.lossPercent)
    if isLost { lostPackets += 1 }
    flows[index].send(atNanoseconds: timeNanoseconds, isLost: isLost, conditions)
    turn = (index + 1) % flows.count
  }

  private mutating func lookAtConditions() {
    let found = schedule.conditions(
      atNanoseconds: timeNanoseconds - scheduleStartNanoseconds)
    conditionsEndNanoseconds = found.untilNanoseconds.map { $0 + scheduleStartNanoseconds }
    guard found.conditions != conditions else { return }
    conditions = found.conditions
    bucket.setRate(kbps: conditions.rateKbps(way), atNanoseconds: timeNanoseconds)
  }
}

/// Decides which packets are lost: the same ones for the same seed (Steele, Lea, Flood, "Fast Splittable
/// Pseudorandom Number Generators", 2014).
struct LossDice: RandomNumberGenerator, Sendable {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
    return value ^ value >> 31
  }

  mutating func falls(percent: Int) -> Bool {
    percent > 0 && Int.random(in: 0..<100, using: &self) < percent
  }
}
