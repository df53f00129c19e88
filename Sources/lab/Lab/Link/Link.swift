import LinkModel

/// A link between a client and a server: connections that are set up, round trips, slow start, loss, and
/// requests that share what the link brings.
///
/// It is a fluid that moves in steps: between two events every rate is constant. All amounts are whole
/// (`LinkRequest`), so that the same requests bring the same bytes at the same microsecond on every machine.
///
/// - Connections that have something to send share the link evenly, whatever they leave is the others':
///   max-min fairness, for a window is used up in a burst and then nothing goes until the round trip is over
///   (Kurose, Ross, "Computer Networking", on the latency of slow start). Requests of one connection
///   share what it gets.
/// - A window that is not used up by the end of its round fills the link: it limits nothing any more.
/// - A lost packet stops its connection until it has come again, a round trip later, or two, or more.
/// - What a cancelled request has under way comes, for a round trip (`LinkTail`).
/// - A request of which nothing comes for too long is given up.
/// - While nothing passes (`LinkConditions.isUp`), all round trips rest, too.
///
/// Each event loses less than a microsecond of the link, because time is whole microseconds.
struct Link: Sendable {
  private(set) var nowMicroseconds = 0
  /// What has come of all requests, heads included; differences alone mean something, for it wraps around.
  var receivedUnits = 0
  let settings: LinkSettings
  let schedule: LinkSchedule
  private var step: Int
  private var stepEndsMicroseconds: Int
  var random: LabRandom
  var connections: [LinkConnection]
  var requests: [LinkRequest] = []
  var tails: [LinkTail] = []

  /// - Parameter offsetMicroseconds: at which moment of its loop the schedule begins.
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

  /// What it is like now.
  var conditions: LinkConditions { schedule.conditions[step] }

  /// Asks for this many bytes.
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

  /// Wants to know when this many bytes of the body are there.
  mutating func mark(_ id: Int, bytes: Int) {
    guard let index = requests.firstIndex(where: { $0.id == id }) else { return }
    requests[index].markUnits = requests[index].headUnits + bytes * LinkRequest.unitsPerByte
  }

  /// How many bytes of the body are there; `nil` where there is no such request any more.
  func bytes(of id: Int) -> Int? { requests.first { $0.id == id }?.bodyBytes }

  /// Ends a request before its answer does. With HTTP/1.1 its connection ends with it.
  ///
  /// - Returns: how many bytes of its body were under way, and come all the same.
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

  /// What happens next, up to this time: then that is the time, or else `nil` and the time is `end`.
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

  /// A request that has come as far as somebody wants to know, in the order in which they were made.
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

  /// Goes on to the next change of any rate, at the latest to `end`.
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

  /// Nothing passes: whatever is under way comes so much later.
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

  /// How the link is shared until the next change.
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

  /// An even share: what does not divide goes to the first.
  private static func share(_ rate: Int, of count: Int, place: Int) -> Int {
    rate / count + (place < rate % count ? 1 : 0)
  }

  /// How long all rates stay as they are.
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

/// How requests go over a link, beside what the link itself is like.
package struct LinkSettings: Hashable, Sendable {
  /// How many connections there are at once; of more requests, the most urgent go first.
  package var connections = 6
  /// How many requests one connection carries at once: 1 as in HTTP/1.1, more as in HTTP/2.
  package var requestsPerConnection = 1
  /// Round trips before a new connection carries a request: one of TCP (RFC 9293 section 3.5), one of TLS 1.3
  /// (RFC 8446 section 2).
  package var setupRoundTrips = 2
  /// What a request has on the way up.
  package var requestBytes = 500
  /// What an answer has before its body.
  package var responseHeadBytes = 400
  /// How long the server thinks before it answers.
  package var thinkMilliseconds = 5
  /// What a packet carries.
  package var packetBytes = 1_460
  /// How many packets a connection sends before it has heard anything (RFC 6928).
  package var initialWindowPackets = 10
  /// After how long without traffic a connection begins again so (RFC 5681 section 4.1).
  package var idleRestartMilliseconds = 1_000
  /// After how long without traffic it ends.
  package var keepAliveMilliseconds = 60_000
  /// After how long without a byte a request is given up: the client library's (`RangeStoreLimits`).
  package var timeoutMilliseconds = 20_000
  /// Whether what a cancelled request has under way still comes, for a round trip, and takes its share of the
  /// link: bytes that are not kept.
  package var bringsWhatWasCancelled = true
  /// Whether a lost packet also halves what is under way at once (RFC 5681 section 3.1), or costs time alone.
  package var halvesWindow = true

  /// HTTP/1.1 over TLS with six connections, as browsers have it.
  package init() {}

  /// One connection for all requests.
  package static var multiplexed: LinkSettings {
    var settings = LinkSettings()
    settings.connections = 1
    settings.requestsPerConnection = 100
    return settings
  }
}
