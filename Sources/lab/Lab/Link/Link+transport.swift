/// Connections: their assignment to requests, the beginning of their answers, and their windows.
extension Link {
  /// Assigns connections to waiting requests: the most urgent first, of those the oldest.
  mutating func assignConnections() {
    while let index = nextWaiting(), let slot = freeConnection() {
      if !connections[slot].isOpen || isExpired(connections[slot]) { open(slot) }
      send(index, on: slot)
    }
  }

  private func nextWaiting() -> Int? {
    var best: Int?
    for index in requests.indices where requests[index].connection == nil {
      if best.map({ requests[index].priority < requests[$0].priority }) ?? true { best = index }
    }
    return best
  }

  /// An open and idle connection, the most recently used one; or a new one; or the one with the fewest
  /// requests that has room for another.
  private func freeConnection() -> Int? {
    var (idle, new, shared): (Int?, Int?, Int?)
    for slot in connections.indices {
      let connection = connections[slot]
      if !connection.isOpen || isExpired(connection) {
        new = new ?? slot
      } else if connection.requestCount == 0 {
        if idle.map({
          connections[$0].idleSinceMicroseconds < connection.idleSinceMicroseconds
        }) ?? true {
          idle = slot
        }
      } else if connection.requestCount < settings.requestsPerConnection {
        if shared.map({ connection.requestCount < connections[$0].requestCount }) ?? true {
          shared = slot
        }
      }
    }
    return idle ?? new ?? shared
  }

  private func isExpired(_ connection: LinkConnection) -> Bool {
    connection.requestCount == 0
      && idleMicroseconds(connection) > settings.keepAliveMilliseconds * 1_000
  }

  private func idleMicroseconds(_ connection: LinkConnection) -> Int {
    nowMicroseconds - connection.idleSinceMicroseconds
  }

  private mutating func open(_ slot: Int) {
    var connection = LinkConnection()
    connection.isOpen = true
    var time = 0
    for _ in 0..<settings.setupRoundTrips { time += exchangeMicroseconds() }
    connection.readyAtMicroseconds = nowMicroseconds + time
    connection.idleSinceMicroseconds = nowMicroseconds
    connection.windowUnits = initialWindowUnits
    connection.unitsUntilLoss = unitsUntilLoss()
    connections[slot] = connection
  }

  private mutating func send(_ index: Int, on slot: Int) {
    if connections[slot].requestCount == 0,
      idleMicroseconds(connections[slot]) > settings.idleRestartMilliseconds * 1_000
    {
      connections[slot].windowUnits = initialWindowUnits
      connections[slot].isInSlowStart = true
      connections[slot].fillsLink = false
    }
    connections[slot].requestCount += 1
    let sentAt = max(nowMicroseconds, connections[slot].readyAtMicroseconds)
    let upload = conditions.isUp ? settings.requestBytes * 8_000 / conditions.uplinkKbps : 0
    requests[index].connection = slot
    requests[index].sentAtMicroseconds = sentAt
    requests[index].answersAtMicroseconds =
      sentAt + upload + exchangeMicroseconds() + settings.thinkMilliseconds * 1_000
  }

  /// The time of one packet there and one back, each of which may be lost repeatedly.
  private mutating func exchangeMicroseconds() -> Int {
    conditions.roundTripMicroseconds + resendMicroseconds() + resendMicroseconds()
  }

  /// The delay of a packet by its losses.
  private mutating func resendMicroseconds() -> Int {
    var tries = 0
    while tries < 100, random.chance(permille: conditions.lossPercent * 10) { tries += 1 }
    return tries * conditions.resendMicroseconds
  }

  private var packetUnits: Int { settings.packetBytes * LinkRequest.unitsPerByte }
  private var initialWindowUnits: Int { settings.initialWindowPackets * packetUnits }

  private mutating func unitsUntilLoss() -> Int {
    guard conditions.lossPercent > 0 else { return .max }
    var packets = 1
    while packets < 10_000, !random.chance(permille: conditions.lossPercent * 10) { packets += 1 }
    return packets * packetUnits
  }

  /// Draws the next losses, because the loss rate has changed. A connection's next loss does not depend on
  /// earlier ones.
  mutating func drawLosses() {
    for slot in connections.indices where connections[slot].isOpen {
      connections[slot].unitsUntilLoss = unitsUntilLoss()
    }
  }

  /// Begins the answers that are due.
  mutating func beginAnswers() {
    for slot in connections.indices { connections[slot].answering = 0 }
    for index in requests.indices {
      guard let slot = requests[index].connection else { continue }
      if !requests[index].isAnswered {
        guard requests[index].answersAtMicroseconds <= nowMicroseconds else { continue }
        requests[index].isAnswered = true
        let isFirst = !requests.contains {
          $0.connection == slot && $0.isAnswered && $0.id != requests[index].id
        }
        if isFirst { beginRound(slot) }
      }
      connections[slot].answering += 1
    }
  }

  private mutating func beginRound(_ slot: Int) {
    connections[slot].roundUnits = connections[slot].windowUnits
    connections[slot].roundEndsMicroseconds = nowMicroseconds + conditions.roundTripMicroseconds
  }

  /// Ends the rounds that are over: a window that was used up grows, and any other limits nothing from then
  /// on.
  mutating func beginRounds() {
    for slot in connections.indices {
      let connection = connections[slot]
      guard connection.answering > 0, !connection.fillsLink,
        connection.stalledUntilMicroseconds <= nowMicroseconds,
        connection.roundEndsMicroseconds <= nowMicroseconds
      else { continue }
      if connection.roundUnits > 0 || connection.windowUnits > Self.mostWindowUnits {
        connections[slot].fillsLink = true
      } else {
        connections[slot].windowUnits +=
          connection.isInSlowStart ? connection.windowUnits : packetUnits
        beginRound(slot)
      }
    }
  }

  /// 16 GiB: no greater window makes a difference.
  private static var mostWindowUnits: Int { 1 << 57 }

  static func product(_ rate: Int, _ time: Int) -> Int {
    let (units, overflow) = rate.multipliedReportingOverflow(by: time)
    return overflow ? mostWindowUnits : min(units, mostWindowUnits)
  }

  /// Receives bytes for this time, in microseconds.
  mutating func receive(_ elapsed: Int) {
    guard elapsed > 0 else { return }
    for index in requests.indices where requests[index].rate > 0 {
      guard let slot = requests[index].connection else { continue }
      let units = min(
        requests[index].rate * elapsed, requests[index].totalUnits - requests[index].receivedUnits)
      requests[index].receivedUnits += units
      requests[index].movedAtMicroseconds = nowMicroseconds
      receivedUnits &+= units
      connections[slot].movedUnits += units
    }
    for index in tails.indices { tails[index].units -= tails[index].rate * elapsed }
    tails.removeAll { $0.units <= 0 }
    for slot in connections.indices where connections[slot].movedUnits > 0 {
      let moved = connections[slot].movedUnits
      connections[slot].roundUnits = max(0, connections[slot].roundUnits - moved)
      if connections[slot].unitsUntilLoss < .max {
        connections[slot].unitsUntilLoss = max(0, connections[slot].unitsUntilLoss - moved)
      }
    }
  }

  /// Handles the packets that are lost by now: their connections stop until the packets have arrived again.
  mutating func losePackets() {
    for slot in connections.indices where connections[slot].unitsUntilLoss == 0 {
      let connection = connections[slot]
      let stall = conditions.resendMicroseconds + resendMicroseconds()
      connections[slot].stalledUntilMicroseconds = nowMicroseconds + stall
      connections[slot].unitsUntilLoss = unitsUntilLoss()
      connections[slot].roundEndsMicroseconds += stall
      guard settings.halvesWindow else { continue }
      let underWay =
        connection.fillsLink
        ? Self.product(connection.rate, conditions.roundTripMicroseconds) : connection.windowUnits
      connections[slot].windowUnits = max(2 * packetUnits, underWay / 2)
      connections[slot].isInSlowStart = false
      connections[slot].fillsLink = false
      connections[slot].roundUnits = connections[slot].windowUnits
      connections[slot].roundEndsMicroseconds =
        nowMicroseconds + stall + conditions.roundTripMicroseconds
    }
  }
}
