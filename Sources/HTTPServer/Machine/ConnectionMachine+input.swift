import HTTP

extension ConnectionMachine {
  /// Reads requests until something is to be done, bytes run out (`isStarved`), or requests have to wait.
  mutating func read(
    _ bytes: Span<UInt8>, _ position: inout Int, _ around: inout Surroundings,
    _ isStarved: inout Bool
  ) -> ConnectionAction? {
    switch stage {
    case .open(.head), .answering, .closing, .lingering, .closed: break
    case .open(.deciding): return .askBodyPolicy
    case .open(.decided): if let action = takeUp(around) { return action }
    case .open(.body(let body)): if body.isGivenUp { return answerWithoutRest(around) }
    }
    while isOpen, !isBlocked(around.configuration) {
      var event = parser.next(bytes, &position)
      if case .body(let range) = event { event = takeBody(bytes, range, &position, around) }
      switch event {
      case .needMoreBytes:
        isStarved = true
        return takeGathered()
      case .head(let request):
        if let action = begin(request, bytes, &position, &around) { return action }
      case .end(let trailers):
        return end(trailers, around)
      case .failed(let error):
        if case .bodyTooLarge = error, let action = answerWithoutRest(around) { return action }
        refuseMessage(error, &around)
      case .body:
        break
      }
    }
    return nil
  }

  /// A head is complete: the request takes its place in the queue, and its body is decided on.
  private mutating func begin(
    _ request: Request, _ bytes: Span<UInt8>, _ position: inout Int,
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
      return handOver(request, around)
    }
    let expectsContinue = request.expectation == .continue && position == bytes.count
    stage = .open(.deciding(expectsContinue: expectsContinue))
    self.request = request
    return .askBodyPolicy
  }

  /// The application has said what to do with the body.
  private mutating func takeUp(_ around: borrowing Surroundings) -> ConnectionAction? {
    guard case .open(.decided(let policy, let expectsContinue)) = stage,
      let request = request.take()
    else { return nil }
    var use: IncomingBody.Use
    let limit: Int
    switch policy {
    case .discard: (use, limit) = (.discarded, around.configuration.discardedBodyBytes)
    case .collect(let maximum): (use, limit) = (.collected, maximum)
    case .stream(let maximum): (use, limit) = (.streamed, maximum)
    }
    parser.limitBody(toBytes: limit)
    // A body that is too long is refused before the client is asked to send it, and before the
    // application hears of it.
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
    case .discarded: return expectsContinue ? answerWithoutRest(around) : nil
    case .streamed:
      if !request.keepsAlive { exchanges.endAfterLast() }
      self.request = request
      return .handle(
        exchange: exchanges.lastNumber, requestID: exchanges.handOver(.streaming),
        streamsBody: true)
    }
  }

  /// Takes in all pieces of a body that are here; what comes behind them.
  private mutating func takeBody(
    _ bytes: Span<UInt8>, _ range: Range<Int>, _ position: inout Int,
    _ around: borrowing Surroundings
  ) -> RequestParser.Event {
    var event = RequestParser.Event.body(range)
    guard case .open(.body(var body)) = stage else { return event }
    // Let go of, so that the body's bytes have one owner and are appended to in place.
    stage = .open(.head(sinceMilliseconds: nil))
    while case .body(let range) = event {
      body.take(bytes, range, around)
      event = parser.next(bytes, &position)
    }
    stage = .open(.body(body))
    return event
  }

  /// What was parsed of a body that the application takes as it comes.
  private mutating func takeGathered() -> ConnectionAction? {
    guard case .open(.body(var body)) = stage, body.use == .streamed else { return nil }
    let bytes = body.takeGathered()
    guard !bytes.isEmpty else { return nil }
    stage = .open(.body(body))
    return .deliver(bytes)
  }

  /// The message is complete.
  private mutating func end(
    _ trailers: Fields, _ around: borrowing Surroundings
  ) -> ConnectionAction? {
    guard case .open(.body(var body)) = stage else { return nil }
    stage = .open(.head(sinceMilliseconds: nil))
    guard body.use == .streamed else {
      return handOver(body.complete(trailers: trailers), around)
    }
    exchanges.bodyCompleted(nowMilliseconds: around.nowMilliseconds)
    if !body.request.keepsAlive { stage = .answering }
    return .endStream(StreamEnd(rest: body.takeGathered(), error: nil))
  }

  /// The request is complete: the application gets it.
  private mutating func handOver(
    _ request: Request, _ around: borrowing Surroundings
  ) -> ConnectionAction {
    if !request.keepsAlive { stage = .answering }
    self.request = request
    return .handle(
      exchange: exchanges.lastNumber,
      requestID: exchanges.handOver(.owed(sinceMilliseconds: around.nowMilliseconds)),
      streamsBody: false)
  }

  /// The rest of a body that nobody wants is not waited for: it is answered, and the connection ends
  /// after the answer, so that the rest is never read as a request. Nil where somebody wants it.
  mutating func answerWithoutRest(_ around: borrowing Surroundings) -> ConnectionAction? {
    guard case .open(.body(let body)) = stage, body.use == .discarded else { return nil }
    exchanges.endAfterLast()
    stage = .answering
    return handOver(body.request, around)
  }

  /// Refuses the message that is being read, whatever is known of it; nothing behind it is read.
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
  /// Whether bytes of a body are to come.
  fileprivate var hasBody: Bool {
    switch framing {
    case .none, .length(0): false
    case .length, .chunked: true
    }
  }
}
