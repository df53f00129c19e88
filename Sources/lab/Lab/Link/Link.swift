import LinkModel

/// A link between a client and a server: connections with their setup, round trips, slow start and loss, and
/// requests that share the bandwidth.
///
/// It is a fluid that moves in steps: between two events every rate is constant. All amounts are integers
/// (`LinkRequest`), so that the same requests bring the same bytes at the same microsecond on every machine.
///
/// - Connections that have something to send share the link evenly; what one leaves goes to the others. That
///   is max-min fairness: a window is used up in a burst, and then nothing is sent until the round trip is
///   over (Kurose, Ross, "Computer Networking", on the latency of slow start). Requests of one connection
///   share its part.
/// - A window that is not used up by the end of its round fills the link: from then on it limits nothing.
/// - A lost packet stops its connection until it has arrived again, one or more round trips later.
/// - What a cancelled request has in flight still arrives, for a round trip (`LinkTail`).
/// - A request that receives nothing for too long times out.
/// - While nothing passes (`LinkConditions.isUp`), round trips make no progress, either.
///
/// Each event loses less than a microsecond of the link, because time is in whole microseconds.
struct Link: Sendable {
  private(set) var nowMicroseconds = 0
  /// What all requests have received, including heads. It wraps around: only differences are meaningful.
  var receivedUnits = 0
  let settings: LinkSettings
  let schedule: LinkSchedule
  private var step: Int
  private var stepEndsMicroseconds: Int
  var random: LabRandom
  var connections: [LinkConnection]
  var requests: [LinkRequest] = []
  var tails: [LinkTail] = []

  /// - Parameter offsetMicroseconds: the moment of its loop at which the schedule begins.
  init(
    _ schedule: LinkSchedule, settings: LinkSettings = LinkSettings(), offsetMicroseconds: Int = 0,
    random: LabRandom
  ) {
    self.settings = settings
    self.schedule = schedule
    self.random = random
    connections = Array(repeating: LinkConnection(), count: settings.connections)
    if let loop = schedule.loopMicroseconds {
      let time = offsetMicroseconds % loop
      step = schedule.index(atMicroseconds: time)
      stepEndsMicroseconds = schedule.endsMicroseconds[step] - time
    } else {
      step = 0
      stepEndsMicroseconds = .max
    }
  }

  /// The conditions at present.
  var conditions: LinkConditions { schedule.conditions[step] }

  /// Requests this many bytes.
  ///
  /// - Parameter tellsHead: whether the answer's head is an event of its own.
  mutating func start(_ id: Int, bytes: Int, priority: Int = 0, tellsHead: Bool = false) {
    precondition((0...LinkRequest.byteLimit).contains(bytes), "more bytes than a request may bring")
    let head = settings.responseHeadBytes * LinkRequest.unitsPerByte
    requests.append(
      LinkRequest(
        id: id, priority: priority, headUnits: head,
        totalUnits: head + bytes * LinkRequest.unitsPerByte,
        movedAtMicroseconds: nowMicroseconds, tellsHead: tellsHead))
    assignConnections()
  }

  /// Sets the number of bytes of the body whose arrival is an event.
  mutating func mark(_ id: Int, bytes: Int) {
    guard let index = requests.firstIndex(where: { $0.id == id }) else { return }
    requests[index].markUnits = requests[index].headUnits + bytes * LinkRequest.unitsPerByte
  }

  /// The number of bytes of the body that have arrived; `nil` if the request no longer exists.
  func bytes(of id: Int) -> Int? { requests.first { $0.id == id }?.bodyBytes }

  /// Ends a request before its answer is complete. With HTTP/1.1, this also ends its connection.
  ///
  /// - Returns: the number of bytes of its body that are in flight, and arrive all the same.
  @discardableResult
  mutating func cancel(_ id: Int) -> Int {
    guard let index = requests.firstIndex(where: { $0.id == id }) else { return 0 }
    let request = requests[index]
    if let slot = request.connection, settings.requestsPerConnection == 1 {
      connections[slot].isOpen = false
    }
    var late = 0
    if settings.bringsWhatWasCancelled, request.isAnswered, request.rate > 0 {
      late = min(
        request.totalUnits - request.receivedUnits,
        Self.product(request.rate, conditions.roundTripMicroseconds))
      if late > 0 { tails.append(LinkTail(units: late)) }
    }
    remove(at: index)
    return late / LinkRequest.unitsPerByte
  }

  /// Advances to the next event and returns it, or advances to `end` and returns `nil`.
  mutating func next(untilMicroseconds end: Int) -> LinkEvent? {
    while true {
      if let event = takeEvent() { return event }
      guard nowMicroseconds < end else { return nil }
      guard !requests.isEmpty || !tails.isEmpty else {
        pass(end)
        return nil
      }
      move(until: end)
    }
  }

  /// Lets time pass without requests.
  private mutating func pass(_ end: Int) {
    nowMicroseconds = end
    while stepEndsMicroseconds <= end { nextStep() }
  }

  private mutating func nextStep() {
    let lossPercent = conditions.lossPercent
    step = step + 1 == schedule.conditions.count ? 0 : step + 1
    if conditions.lossPercent != lossPercent { drawLosses() }
    let ends = schedule.endsMicroseconds
    stepEndsMicroseconds += ends[step] - (step > 0 ? ends[step - 1] : 0)
  }

  /// Takes an event of a request that has come as far as its caller wants to know; requests in the order of
  /// their start.
  private mutating func takeEvent() -> LinkEvent? {
    for index in requests.indices {
      let request = requests[index]
      let isThere = request.receivedUnits >= request.nextUnits
      guard isThere || givesUpMicroseconds(request) <= nowMicroseconds else { continue }
      guard isThere else { return giveUp(at: index) }
      let isFinished = request.receivedUnits >= request.totalUnits && !request.tellsHead
      let event = LinkEvent(
        request: request.id, bytes: request.bodyBytes, isFinished: isFinished,
        firstByteMicroseconds: request.answersAtMicroseconds - request.sentAtMicroseconds,
        isHead: request.tellsHead)
      if request.tellsHead {
        requests[index].tellsHead = false
      } else if isFinished {
        remove(at: index)
      } else {
        requests[index].markUnits = .max
      }
      return event
    }
    return nil
  }

  private func givesUpMicroseconds(_ request: LinkRequest) -> Int {
    request.movedAtMicroseconds + settings.timeoutMilliseconds * 1_000
  }

  private mutating func giveUp(at index: Int) -> LinkEvent {
    let request = requests[index]
    cancel(request.id)
    return LinkEvent(
      request: request.id, bytes: request.bodyBytes, isFinished: false,
      firstByteMicroseconds: 0, isTimedOut: true)
  }

  private mutating func remove(at index: Int) {
    if let slot = requests[index].connection {
      connections[slot].requestCount -= 1
      connections[slot].idleSinceMicroseconds = nowMicroseconds
    }
    requests.remove(at: index)
    assignConnections()
  }

  /// Advances to the next change of any rate, at most to `end`.
  private mutating func move(until end: Int) {
    let givesUp = requests.reduce(Int.max) { min($0, givesUpMicroseconds($1)) }
    let end = min(end, max(givesUp, nowMicroseconds))
    guard conditions.isUp else {
      let elapsed = min(end, stepEndsMicroseconds) - nowMicroseconds
      rest(elapsed)
      nowMicroseconds += elapsed
      if nowMicroseconds == stepEndsMicroseconds { nextStep() }
      return
    }
    beginAnswers()
    beginRounds()
    setRates()
    let elapsed = min(min(end, stepEndsMicroseconds) - nowMicroseconds, timeToNextChange())
    nowMicroseconds += elapsed
    receive(elapsed)
    losePackets()
    if nowMicroseconds == stepEndsMicroseconds { nextStep() }
  }

  /// Delays everything in flight by this time, because nothing passes.
  private mutating func rest(_ elapsed: Int) {
    for index in requests.indices where !requests[index].isAnswered {
      requests[index].answersAtMicroseconds += elapsed
    }
    for slot in connections.indices where connections[slot].requestCount > 0 {
      if connections[slot].readyAtMicroseconds > nowMicroseconds {
        connections[slot].readyAtMicroseconds += elapsed
      }
      connections[slot].roundEndsMicroseconds += elapsed
      connections[slot].stalledUntilMicroseconds += elapsed
    }
  }

  /// Sets the rates, which share the link until the next change.
  private mutating func setRates() {
    var sending = 0
    for slot in connections.indices {
      connections[slot].movedUnits = 0
      connections[slot].placed = 0
      connections[slot].rate = isSending(connections[slot]) ? 1 : 0
      sending += connections[slot].rate
    }
    sending += tails.count
    let bits = conditions.downlinkKbps * 1_000
    var place = 0
    for slot in connections.indices where connections[slot].rate > 0 {
      connections[slot].rate = Self.share(bits, of: sending, place: place)
      place += 1
    }
    for index in tails.indices {
      tails[index].rate = Self.share(bits, of: sending, place: place + index)
    }
    for index in requests.indices {
      requests[index].rate = 0
      guard requests[index].isAnswered, let slot = requests[index].connection else { continue }
      requests[index].rate = Self.share(
        connections[slot].rate, of: connections[slot].answering, place: connections[slot].placed)
      connections[slot].placed += 1
    }
  }

  private func isSending(_ connection: LinkConnection) -> Bool {
    connection.answering > 0 && connection.stalledUntilMicroseconds <= nowMicroseconds
      && (connection.fillsLink || connection.roundUnits > 0)
  }

  /// An even share; the first ones get the remainder.
  private static func share(_ rate: Int, of count: Int, place: Int) -> Int {
    rate / count + (place < rate % count ? 1 : 0)
  }

  /// The time for which all rates stay as they are.
  private func timeToNextChange() -> Int {
    var time = Int.max
    for connection in connections where connection.answering > 0 {
      if connection.stalledUntilMicroseconds > nowMicroseconds {
        time = min(time, connection.stalledUntilMicroseconds - nowMicroseconds)
        continue
      }
      if !connection.fillsLink {
        time = min(time, connection.roundEndsMicroseconds - nowMicroseconds)
      }
      guard connection.rate > 0 else { continue }
      var units = connection.unitsUntilLoss
      if !connection.fillsLink { units = min(units, connection.roundUnits) }
      if units < .max { time = min(time, Self.time(units, atRate: connection.rate)) }
    }
    for request in requests where request.connection != nil {
      if !request.isAnswered {
        time = min(time, request.answersAtMicroseconds - nowMicroseconds)
      } else if request.rate > 0 {
        time = min(time, Self.time(request.nextUnits - request.receivedUnits, atRate: request.rate))
      }
    }
    for tail in tails where tail.rate > 0 {
      time = min(time, Self.time(tail.units, atRate: tail.rate))
    }
    return max(time, 0)
  }

  private static func time(_ units: Int, atRate rate: Int) -> Int { (units + rate - 1) / rate }
}

/// Settings of connections and requests on a link, apart from the conditions of the link itself.
package struct LinkSettings: Hashable, Sendable {
  /// The maximum number of parallel connections; of more requests, the most urgent go first.
  package var connections = 6
  /// The maximum number of parallel requests on one connection: 1 as in HTTP/1.1, more as in HTTP/2.
  package var requestsPerConnection = 1
  /// The number of round trips before a new connection carries a request: one of TCP (RFC 9293 section 3.5),
  /// one of TLS 1.3 (RFC 8446 section 2).
  package var setupRoundTrips = 2
  /// The size of a request in bytes.
  package var requestBytes = 500
  /// The size of an answer's head in bytes.
  package var responseHeadBytes = 400
  /// The time that the server takes before it answers.
  package var thinkMilliseconds = 5
  /// The payload of a packet in bytes.
  package var packetBytes = 1_460
  /// The number of packets that a connection sends before the first acknowledgement (RFC 6928).
  package var initialWindowPackets = 10
  /// The idle time after which a connection starts again with that window (RFC 5681 section 4.1).
  package var idleRestartMilliseconds = 1_000
  /// The idle time after which a connection ends.
  package var keepAliveMilliseconds = 60_000
  /// The time without a byte after which a request times out: that of the client library
  /// (`RangeStoreLimits`).
  package var timeoutMilliseconds = 20_000
  /// Whether the bytes in flight of a cancelled request still arrive, for a round trip, and take their share
  /// of the link. They are not kept.
  package var bringsWhatWasCancelled = true
  /// Whether a lost packet also halves the window (RFC 5681 section 3.1), or costs time alone.
  package var halvesWindow = true

  /// Creates the settings of HTTP/1.1 over TLS with six connections, as in browsers.
  package init() {}

  /// The settings of one connection for all requests.
  package static var multiplexed: LinkSettings {
    var settings = LinkSettings()
    settings.connections = 1
    settings.requestsPerConnection = 100
    return settings
  }
}
