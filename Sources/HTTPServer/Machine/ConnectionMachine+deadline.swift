import HTTP

extension ConnectionMachine {
  /// What a connection waits for, which decides what happens when that takes too long.
  enum Waiting: Hashable {
    /// Nothing: it is closed.
    case nothing
    /// The client, to end its side.
    case end
    /// The client, to take output.
    case delivery
    /// The client, to send more of a body.
    case body
    /// The application, to take more of a body.
    case room
    /// The client, to send the rest of a head.
    case head
    /// The application, to answer the oldest request.
    case answer
    /// The client, to send a request.
    case request
    /// Whoever makes an answer as it leaves.
    case stream
    /// The event loop.
    case turn
  }

  /// What is waited for first.
  var waiting: Waiting {
    if isClosed { return .nothing }
    if isLingering { return .end }
    if !output.isEmpty { return .delivery }
    if case .open(.body(let body)) = stage {
      if body.isPaused { return .room }
      // Before `100 Continue` come the answers to the requests before.
      if !body.awaitsContinue || exchanges.count == 1 { return .body }
    }
    if isStreaming { return .stream }
    if case .open(.head(.some)) = stage { return .head }
    if exchanges.isEmpty { return .request }
    return exchanges.firstOwedSinceMilliseconds == nil ? .turn : .answer
  }

  /// When that has taken too long.
  func deadlineMilliseconds(_ around: inout Surroundings) -> UInt64 {
    switch waiting {
    case .nothing, .turn:
      return around.after(milliseconds: around.configuration.answerTimeoutMilliseconds)
    case .end:
      guard case .lingering(let end, _) = stage else { return around.nowMilliseconds }
      return end
    case .delivery:
      return deliveryMilliseconds + UInt64(around.configuration.writeStallTimeoutMilliseconds)
    case .body:
      guard case .open(.body(let body)) = stage else { return around.nowMilliseconds }
      return body.deadlineMilliseconds(&around)
    case .room:
      guard case .open(.body(let body)) = stage else { return around.nowMilliseconds }
      return body.lastMilliseconds + UInt64(around.configuration.answerTimeoutMilliseconds)
    case .head:
      guard case .open(.head(let since?)) = stage else { return around.nowMilliseconds }
      return since + UInt64(around.configuration.headerReadTimeoutMilliseconds)
    case .answer:
      let since = exchanges.firstOwedSinceMilliseconds ?? around.nowMilliseconds
      return since + UInt64(around.configuration.answerTimeoutMilliseconds)
    case .stream:
      return activeMilliseconds + UInt64(around.configuration.streamIdleMilliseconds)
    case .request:
      if let drainStartMilliseconds {
        return drainStartMilliseconds + UInt64(around.configuration.drainSilenceMilliseconds)
      }
      return activeMilliseconds + UInt64(around.configuration.idleTimeoutMilliseconds)
    }
  }

  /// It is late: what was waited for may have taken too long.
  ///
  /// - Parameter unacknowledgedBytes: how many bytes of what was written the client has not confirmed.
  mutating func deadlinePassed(unacknowledgedBytes: Int, _ around: inout Surroundings) {
    guard around.nowMilliseconds >= deadlineMilliseconds(&around) else { return }
    switch waiting {
    case .nothing, .turn:
      break
    case .end, .request:
      close(isCutOff: false)
    case .delivery:
      if !takesEnough(unacknowledgedBytes: unacknowledgedBytes, &around) { close(isCutOff: true) }
    case .body:
      guard case .open(.body(var body)) = stage, body.use == .discarded else {
        return refuseMessage(.bodyTimedOut, &around)
      }
      body.giveUp()
      stage = .open(.body(body))
    case .room:
      refuseMessage(.answerTimedOut, &around)
    case .head:
      refuseMessage(.headerTimedOut, &around)
    case .stream:
      (isStreamWoken, isStreamIdle) = (true, true)
      // Should nothing come of it, it is as late as this again.
      activeMilliseconds = around.nowMilliseconds
    case .answer:
      failed(exchanges.firstNumber, .answerTimedOut)
    }
  }

  /// Whether the client has taken enough of the output since that was last looked at; looks again
  /// from now on.
  ///
  /// What counts is what the client has acknowledged: a socket is writable again only when a good
  /// part of its buffer is free, which for a slow client takes longer than any time-out.
  private mutating func takesEnough(
    unacknowledgedBytes: Int, _ around: inout Surroundings
  ) -> Bool {
    let configuration = around.configuration
    let taken = output.writtenCount - unacknowledgedBytes
    let needed =
      configuration.minimumAnswerBytesPerSecond * configuration.writeStallTimeoutMilliseconds / 1000
    defer {
      deliveredCount = taken
      deliveryMilliseconds = around.nowMilliseconds
    }
    return taken - deliveredCount >= max(1, needed)
  }
}
