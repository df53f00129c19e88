import HTTP
import System

extension Connection {
  /// Reads once; what is left comes with the next event.
  func read() {
    // An event of this turn may be older than what blocks the connection since.
    guard stage == .lingering || (stage == .open && !isBlocked), !inputEnded else {
      return settle()
    }
    var buffer = worker.takeReadBuffer()
    do throws(SystemError) {
      switch try socket.read(into: &buffer) {
      case .wouldBlock: break
      case .done(0):
        inputEnded = true
        if stage == .lingering { close() } else { concludeInput() }
      case .done(let count) where stage == .lingering: throwAway(count)
      case .done(let count): receive(buffer, count)
      }
    } catch {
      close()
    }
    worker.giveBack(buffer)
    // Where answers are about to be written, that is when it settles.
    if !isWriting { settle() }
  }

  /// Goes on after something was answered or written.
  func resume() {
    flush()
    if stage == .open, !isBlocked, !pending.isEmpty || parser.hasEventAtHand {
      let bytes = pending
      pending = []
      keep(bytes, from: advance(bytes.span), to: bytes.count)
    }
    concludeInput()
    settle()
  }

  /// Whether requests have to wait before they may be parsed.
  var isBlocked: Bool {
    if let receiving { return receiving.isPaused }
    return isYielding || !output.isEmpty || exchanges.count >= configuration.pipeliningDepth
      || exchanges.heldBytes >= configuration.pipelinedAnswerBytes
      || exchanges.heldFiles >= configuration.pipelinedFiles || exchanges.endsWithWrite
  }

  /// Lets the other connections have their turn, after so many requests of this one.
  private func yieldIfDue() {
    begunInTurn += 1
    guard begunInTurn >= configuration.requestsPerTurn else { return }
    isYielding = true
    loop.execute { [self] in
      isYielding = false
      begunInTurn = 0
      guard stage != .closed else { return }
      resume()
    }
  }

  /// Tells the loop how much memory this connection's answers hold.
  func account() {
    let held = stage == .closed ? 0 : exchanges.heldBytes + output.heldBytes
    guard held != accountedBytes else { return }
    worker.heldBytes += held - accountedBytes
    accountedBytes = held
  }

  private func receive(_ buffer: [UInt8], _ count: Int) {
    activeMilliseconds = loop.nowMilliseconds
    if pending.isEmpty {
      let used = advance(buffer.span.extracting(0..<count))
      keep(buffer, from: used, to: count)
    } else {
      var bytes = pending
      pending = []
      bytes.append(contentsOf: buffer[..<count])
      keep(bytes, from: advance(bytes.span), to: bytes.count)
    }
  }

  private func keep(_ bytes: [UInt8], from start: Int, to end: Int) {
    hasMoreInput = false
    if stage == .open, start < end {
      pending = start == 0 && end == bytes.count ? bytes : Array(bytes[start..<end])
    }
  }

  private func throwAway(_ count: Int) {
    lingerBytesLeft -= count
    if lingerBytesLeft < 0 { close() }
  }

  /// Parses and answers what can be; returns how many bytes were consumed.
  private func advance(_ bytes: Span<UInt8>) -> Int {
    var position = 0
    isAdvancing = true
    while true {
      let isStarved = parse(bytes, &position)
      hasMoreInput = position < bytes.count
      if isStarved, stage == .open, exchanges.isFirstAnswered {
        writeSoon()
        break
      }
      flush()
      if isStarved || stage != .open || isBlocked { break }
    }
    isAdvancing = false
    return position
  }

  /// Parses until bytes run out (true) or requests have to wait.
  private func parse(_ bytes: Span<UInt8>, _ position: inout Int) -> Bool {
    defer { receiving?.passBodyOn() }
    while stage == .open, !isBlocked {
      switch parser.next(bytes, &position) {
      case .needMoreBytes:
        return true
      case .head(let request):
        begin(request, hasMoreBytes: position < bytes.count)
      case .body(let range):
        takeBody(bytes, range)
      case .end(let trailers):
        end(trailers)
      case .failed(.bodyTooLarge) where receiving?.isDiscarded == true:
        answerWithoutRest()
      case .failed(let error):
        refuse(error)
      }
    }
    return false
  }

  /// A head is complete: the request takes its place in the queue, and its body is decided on.
  private func begin(_ request: Request, hasMoreBytes: Bool) {
    headStartMilliseconds = 0
    let number = exchanges.append(
      Exchange(
        of: request, requestID: request.clientRequestID ?? worker.nextRequestID(),
        isObserved: worker.context.observer != nil))
    let policy =
      request.framing == .none ? .discard : worker.context.handler.bodyPolicy(for: request)
    receiving = Receiving(
      request: request, isDiscarded: policy == .discard,
      startMilliseconds: loop.nowMilliseconds, lastMilliseconds: loop.nowMilliseconds)
    yieldIfDue()
    if worker.heldBytes >= configuration.heldAnswerBytes { return refuse(.tooManyAnswersWait) }
    if request.expectation == .unknown { return refuse(.expectationFailed) }
    guard request.hasBody else { return }

    let expectsContinue = request.expectation == .continue && !hasMoreBytes
    switch policy {
    case .collect(let maximum):
      parser.limitBody(toBytes: maximum)
      // A body that is too long is refused before the client is asked to send it.
      if case .length(let length) = request.framing, length > maximum { return }
      if expectsContinue { exchanges.update(number) { $0.needsContinue = true } }
    case .stream(let maximum):
      parser.limitBody(toBytes: maximum)
      if case .length(let length) = request.framing, length > maximum { return }
      if expectsContinue { exchanges.update(number) { $0.needsContinue = true } }
      streamBody(number)
    case .discard:
      let limit = configuration.discardedBodyBytes
      parser.limitBody(toBytes: limit)
      if expectsContinue { answerWithoutRest() }
    }
  }

  private func takeBody(_ bytes: Span<UInt8>, _ range: Range<Int>) {
    guard var current = receiving.take() else { return }
    current.bytes += range.count
    current.lastMilliseconds = loop.nowMilliseconds
    if current.stream != nil {
      bytes.append(range, to: &current.gathered)
    } else if !current.isDiscarded {
      if case .length(let length) = current.request.framing, current.request.body.isEmpty {
        // The length is only a claim: memory is taken as bytes come, but not byte by byte.
        current.request.body.reserveCapacity(min(length, 4 * configuration.readBufferBytes))
      }
      bytes.append(range, to: &current.request.body)
    }
    receiving = current
  }

  /// The application gets the request now, and its body as it comes.
  private func streamBody(_ number: UInt64) {
    guard let request = receiving?.request, let requestID = exchanges[number]?.requestID else {
      return
    }
    let stream = BodyStream(bufferBytes: configuration.streamBufferBytes) { [self] in
      loop.execute { [self] in bodyHasRoom() }
    }
    receiving?.stream = stream
    if !request.keepsAlive { exchanges.update(number) { $0.keepsAlive = false } }
    worker.context.handler.handle(
      request, Responder(self, exchange: number, requestID: requestID, body: stream))
  }

  /// The application has taken something of a body that had to wait.
  private func bodyHasRoom() {
    guard let current = receiving, stage == .open else { return }
    receiving?.excusedMilliseconds += loop.nowMilliseconds - current.lastMilliseconds
    receiving?.lastMilliseconds = loop.nowMilliseconds
    resume()
  }

  /// The message is complete.
  private func end(_ trailers: Fields) {
    receiving?.passBodyOn()
    guard let stream = receiving?.stream else {
      receiving?.request.trailers = trailers
      return handOver()
    }
    let keepsAlive = receiving?.request.keepsAlive ?? false
    receiving = nil
    exchanges.update(exchanges.lastExchangeNumber) { exchange in
      exchange.needsContinue = false
      exchange.handedOverMilliseconds = loop.nowMilliseconds
    }
    if !keepsAlive { stage = .finishing }
    stream.finish()
  }

  /// The request is complete: the application gets it.
  private func handOver() {
    guard let request = receiving.take()?.request else { return }
    let number = exchanges.lastExchangeNumber
    var requestID = ""
    exchanges.update(number) { exchange in
      exchange.needsContinue = false
      exchange.handedOverMilliseconds = loop.nowMilliseconds
      requestID = exchange.requestID
    }
    if !request.keepsAlive { stage = .finishing }
    worker.context.handler.handle(
      request, Responder(self, exchange: number, requestID: requestID))
  }

  /// The rest of a body that nobody wants is not waited for: it is answered, and the connection
  /// ends after the answer, so that the rest is never read as a request.
  func answerWithoutRest() {
    exchanges.update(exchanges.lastExchangeNumber) { $0.keepsAlive = false }
    stage = .finishing
    handOver()
  }

  /// The client sends nothing more, and what it sent has been parsed: as long as that has to wait,
  /// so has this.
  private func concludeInput() {
    guard inputEnded, stage == .open, !isBlocked else { return }
    if receiving != nil || parser.isInsideMessage {
      refuse(.unexpectedEnd)
      flush()
    } else if exchanges.isEmpty, output.isEmpty {
      close()
    } else {
      // A client that has finished sending still gets its answers.
      exchanges.update(exchanges.lastExchangeNumber) { $0.keepsAlive = false }
      stage = .finishing
      if exchanges.isEmpty { closesAfterOutput = true }
    }
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

extension Span where Element == UInt8 {
  /// Appends the bytes of `range`.
  fileprivate func append(_ range: Range<Int>, to bytes: inout [UInt8]) {
    // The buffer does not leave the closure: the array copies it.
    extracting(range).withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
  }
}
