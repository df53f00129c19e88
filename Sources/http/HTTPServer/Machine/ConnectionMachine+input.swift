import HTTP

extension ConnectionMachine {
  /// Reads a request's head or its body, until there is an action, bytes run out (`isStarved`), or requests
  /// have to wait.
  mutating func read(
    _ bytes: Span<UInt8>, _ position: inout Int, _ around: inout Surroundings,
    _ isStarved: inout Bool
  ) -> ConnectionAction? {
    switch stage {
    case .open(.head):
      return readHead(bytes, &position, &around, &isStarved)
    case .open(.deciding):
      return .askBodyPolicy
    case .open(.decided(let policy, let expectsContinue)):
      if let action = takeUp(policy, expectsContinue: expectsContinue, &around) { return action }
      return readBody(bytes, &position, &around, &isStarved)
    case .open(.body):
      return readBody(bytes, &position, &around, &isStarved)
    case .answering, .streaming, .closing, .lingering, .closed:
      return nil
    }
  }

  private mutating func readHead(
    _ bytes: Span<UInt8>, _ position: inout Int, _ around: inout Surroundings,
    _ isStarved: inout Bool
  ) -> ConnectionAction? {
    guard !isBlocked(&around) else { return nil }
    switch parser.next(bytes, &position) {
    case .head:
      guard let request = parser.takeRequest() else { return nil }
      return begin(request, bytes, &position, &around)
    case .failed(let error):
      refuseMessage(error, &around)
    // Bodies and ends cannot come before a head.
    case .needMoreBytes, .body, .end:
      isStarved = true
    }
    return nil
  }

  private mutating func readBody(
    _ bytes: Span<UInt8>, _ position: inout Int, _ around: inout Surroundings,
    _ isStarved: inout Bool
  ) -> ConnectionAction? {
    guard case .open(.body(var body)) = stage, !body.isPaused else { return nil }
    if body.isGivenUp { return answerWithoutRest(&around) }
    // Released, so that the body's bytes have one owner and are appended to in place.
    stage = .open(.head(sinceMilliseconds: nil))
    while true {
      switch parser.next(bytes, &position) {
      case .body(let range):
        body.take(bytes, range, &around)
      case .end(let trailers):
        return end(body, trailers, &around)
      case .failed(let error):
        stage = .open(.body(body))
        if body.use == .discarded, case .bodyTooLarge = error { return answerWithoutRest(&around) }
        refuseMessage(error, &around)
        return nil
      // A head cannot come before the end.
      case .needMoreBytes, .head:
        isStarved = true
        let gathered = body.takeGathered()
        stage = .open(.body(body))
        return gathered.isEmpty ? nil : .deliver(gathered)
      }
    }
  }

  /// A head is complete: its request takes a place in the queue, and its body is decided on.
  private mutating func begin(
    _ request: consuming Request, _ bytes: Span<UInt8>, _ position: inout Int,
    _ around: inout Surroundings
  ) -> ConnectionAction? {
    let number = exchanges.append(Exchange(of: request, &around))
    begunInTurn += 1
    if begunInTurn >= around.configuration.requestsPerTurn { turn = .ending }
    if around.heldBytes >= around.configuration.heldAnswerBytes {
      refuseBegun(number, .tooManyAnswersWait)
      return nil
    }
    if request.expectation == .unknown {
      refuseBegun(number, .expectationFailed)
      return nil
    }
    if !request.hasBody, case .end = parser.next(bytes, &position) {
      stage = .open(.head(sinceMilliseconds: nil))
      return handOver(request, &around)
    }
    let expectsContinue = request.expectation == .continue && position == bytes.count
    stage = .open(.deciding(expectsContinue: expectsContinue))
    self.request = request
    return .askBodyPolicy
  }

  /// The application has decided what to do with the body.
  private mutating func takeUp(
    _ policy: BodyPolicy, expectsContinue: Bool, _ around: inout Surroundings
  ) -> ConnectionAction? {
    guard let request = request.take() else { return nil }
    var use: IncomingBody.Use
    let limit: Int
    switch policy {
    case .discard: (use, limit) = (.discarded, around.configuration.discardedBodyBytes)
    case .collect(let maximum): (use, limit) = (.collected, maximum)
    case .stream(let maximum): (use, limit) = (.streamed, maximum)
    }
    parser.limitBody(toBytes: limit)
    // A body that is too long is refused before the client is asked to send it, and before the application
    // gets the request.
    var isTooLong = false
    if use != .discarded, case .length(let length) = request.framing, length > limit {
      isTooLong = true
      use = .collected
    }
    stage = .open(
      .body(
        IncomingBody(
          of: request, use, awaitsContinue: expectsContinue && !isTooLong,
          nowMilliseconds: around.nowMilliseconds)))
    switch use {
    case .collected: return nil
    case .discarded: return expectsContinue ? answerWithoutRest(&around) : nil
    case .streamed:
      if !request.keepsAlive { exchanges.endAfterLast() }
      self.request = request
      return .handle(
        exchange: exchanges.lastNumber, requestID: exchanges.handOver(.streaming),
        streamsBody: true)
    }
  }

  /// The message is complete.
  private mutating func end(
    _ ended: IncomingBody, _ trailers: Fields, _ around: inout Surroundings
  ) -> ConnectionAction {
    var body = ended
    guard body.use == .streamed else {
      return handOver(body.complete(trailers: trailers), &around)
    }
    exchanges.bodyCompleted(nowMilliseconds: around.nowMilliseconds)
    if !body.request.keepsAlive { stage = .answering }
    return .endStream(StreamEnd(rest: body.takeGathered(), error: nil))
  }

  /// The request is complete: the application gets it.
  private mutating func handOver(
    _ request: consuming Request, _ around: inout Surroundings
  ) -> ConnectionAction {
    if !request.keepsAlive { stage = .answering }
    self.request = request
    return .handle(
      exchange: exchanges.lastNumber,
      requestID: exchanges.handOver(.owed(sinceMilliseconds: around.nowMilliseconds)),
      streamsBody: false)
  }

  /// Answers a request without waiting for the rest of an unwanted body, and ends the connection after the
  /// answer, so that the rest is never read as a request. Nil if the body is wanted.
  mutating func answerWithoutRest(_ around: inout Surroundings) -> ConnectionAction? {
    guard case .open(.body(let body)) = stage, body.use == .discarded else { return nil }
    exchanges.endAfterLast()
    stage = .answering
    return handOver(body.request, &around)
  }

  /// Refuses the message that is being read, however much of it is known; nothing behind it is read.
  mutating func refuseMessage(_ error: ProtocolError, _ around: inout Surroundings) {
    if awaitsHead {
      _ = exchanges.append(Exchange(ofRefused: parser.knownHead, &around))
    }
    refuseBegun(exchanges.lastNumber, error)
  }

  /// Refuses the newest message, whose head is complete or never will be.
  private mutating func refuseBegun(_ number: UInt64, _ error: ProtocolError) {
    _ = exchanges.refuse(number, error)
    leaveOpen(for: .answering, .refused(error))
  }
}

extension Request {
  /// Whether a body follows.
  fileprivate var hasBody: Bool {
    switch framing {
    case .none, .length(0): false
    case .length, .chunked: true
    }
  }
}
