import HTTP

/// The protocol of one connection: what happens goes in, what is to be done comes out. It does no I/O,
/// reads no clock and knows no descriptor; time comes with `Surroundings`.
///
/// Theory of operation. Whoever has the socket (`Connection`) tells the machine what happened by the
/// functions of `ConnectionMachine+events`, then asks `next` for actions, one at a time, and does each
/// before it asks for another, until that says `.wait`, `.gather` or `.close`. The caller owns the bytes,
/// as with `RequestParser`: `next` is given all that came and was not consumed, every time, and moves
/// `position` over what it consumes.
///
/// Each `next` goes the same way from the top, whatever happened before:
///
/// 1. Requests are read, as far as nothing stands in their way (`isBlocked`). A request takes its place in
///    `exchanges` when its head is complete; the application gets it when its body is, or at once where it
///    takes the body as it comes.
/// 2. Whoever takes a body hears of its end; errors get their text.
/// 3. Where nothing more is here and the client has ended its side, the connection does, too.
/// 4. Answers leave from the front of `exchanges`, and nowhere else, into `output`, which is written.
///    Pieces of them that lie elsewhere are asked for one ahead of what is being written.
/// 5. Of an answer that is made as it leaves, more is asked for when all before is written.
/// 6. After the last answer the connection lingers, then ends.
/// 7. What is left is waiting.
///
/// Since nothing is skipped for what happened last, nothing that is here waits for the client: whatever
/// ends what blocked a connection, the next step finds what was left behind it. `ConnectionInvariant` in
/// the tests says after each event who owes what a connection waits for.
struct ConnectionMachine {
  /// What has come of the message that is being read.
  enum Input {
    /// No head that is complete; since when there is a part of one that is being read.
    case head(sinceMilliseconds: UInt64?)
    /// The head of `request`, whose body is to come; the application says what to do with that.
    case deciding(expectsContinue: Bool)
    /// And has said so.
    case decided(BodyPolicy, expectsContinue: Bool)
    /// A body. In a box, since a connection has none most of the time, and steps look at the stage often.
    indirect case body(IncomingBody)
  }

  /// How far a connection is. Nothing leads back.
  enum Stage {
    /// Requests are read and answered.
    case open(Input)
    /// No more requests are read; those that wait are answered, and there are some.
    case answering
    /// The last answer is in `output` but for what is made of it as it leaves.
    case streaming
    /// The last answer is in `output`.
    case closing
    /// All is written, and the sending side is shut down; up to a limit, what still arrives is discarded.
    case lingering(untilMilliseconds: UInt64, bytesLeft: Int)
    /// Cut off where the client took too little of an answer.
    case closed(isCutOff: Bool)
  }

  /// Whose turn it is on the event loop.
  enum Turn {
    case own
    /// The answers that are ready leave at the end of the loop's turn.
    case gathering
    /// The connection began enough requests in this turn; others have theirs first.
    case ending
    /// They have it.
    case others
  }

  var stage = Stage.open(.head(sinceMilliseconds: nil))
  var turn = Turn.own
  var parser: RequestParser
  /// A request that is on its way to the application or to its body: what an action is about. Not in
  /// the action, which is passed on from hand to hand.
  var request: Request?
  var exchanges = ExchangeQueue()
  var output = OutputQueue()
  /// The answers in `output`, where anybody wants to hear of them.
  var departures = ShortQueue<Departure>()

  /// Since when a piece of an answer is on its way; nil where none is.
  var pieceAskedMilliseconds: UInt64?

  /// What makes the last answer as it leaves.
  var stream: ResponseStream?
  /// Whether it is to be asked, and because nothing was sent for long.
  var isStreamWoken = false
  var isStreamIdle = false
  /// How much a client that is answered so has sent, for nothing.
  var unreadBytes = 0

  /// What the application has not been told of the end of a body that it takes.
  var streamEnd: StreamEnd?
  /// Whether the client sends nothing more.
  var hasInputEnded = false
  /// Whether the client has to take something before more is written.
  var isWriteBlocked = false
  /// How many requests were begun, and how much was written, in this turn.
  var begunInTurn = 0
  var writtenInTurn = 0
  /// How much of the surroundings' `heldBytes` is this connection's.
  var accountedBytes = 0

  /// When the client last sent or took something.
  var activeMilliseconds: UInt64
  /// Since when the server drains.
  var drainStartMilliseconds: UInt64?
  /// When it was last looked at how much of the output the client has taken, and how much that was.
  var deliveryMilliseconds: UInt64 = 0
  var deliveredCount = 0

  init(limits: MessageLimits, nowMilliseconds: UInt64) {
    parser = RequestParser(limits: limits)
    activeMilliseconds = nowMilliseconds
  }

  var isOpen: Bool { if case .open = stage { true } else { false } }
  var isStreaming: Bool { if case .streaming = stage { true } else { false } }
  var isLingering: Bool { if case .lingering = stage { true } else { false } }
  var isClosed: Bool { if case .closed = stage { true } else { false } }

  /// Whether no body is on its way.
  var awaitsHead: Bool { if case .open(.head) = stage { true } else { false } }

  /// Whether requests have to wait before they may be read.
  func isBlocked(_ around: inout Surroundings) -> Bool {
    if case .open(.body(let body)) = stage { return body.isPaused }
    switch turn {
    case .own, .gathering: break
    case .ending, .others: return true
    }
    return !output.isEmpty || exchanges.count >= around.configuration.pipeliningDepth
      || exchanges.heldBytes >= around.configuration.pipelinedAnswerBytes
      || exchanges.heldFiles >= around.configuration.pipelinedFiles || exchanges.endsWithWrite
  }

  /// Whether bytes of the client are of any use now.
  func wantsInput(_ around: inout Surroundings) -> Bool {
    !hasInputEnded && (isLingering || isStreaming || (isOpen && !isBlocked(&around)))
  }

  /// Ends the reading of requests: nothing behind what was read is read as one. Whoever takes the body
  /// that is on its way hears why it ends.
  mutating func leaveOpen(for stage: Stage, _ error: BodyStreamError) {
    if case .open(.body(var body)) = self.stage, body.use == .streamed {
      streamEnd = StreamEnd(rest: body.takeGathered(), error: error)
    }
    self.stage = stage
    request = nil
  }
}

extension ConnectionMachine {
  /// What a connection waits for, which decides what happens when that takes too long.
  enum Waiting: Hashable {
    /// Nothing: it is closed.
    case nothing
    /// The client, to end its side.
    case end
    /// The client, to take output.
    case delivery
    /// Whoever brings the bytes of an answer that lie somewhere else.
    case piece
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
    if output.awaitsPiece { return .piece }
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
    case .piece:
      return (pieceAskedMilliseconds ?? around.nowMilliseconds)
        + UInt64(around.configuration.answerTimeoutMilliseconds)
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
    case .end, .request, .piece:
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

extension ConnectionMachine {
  /// Puts the answers that are ready into `output`, in order, as far as there is room.
  mutating func queueAnswers(hasMoreInput: Bool, _ around: inout Surroundings) {
    while !output.isFull {
      // While draining, the last request that is here is the connection's last.
      let mayBeLast =
        drainStartMilliseconds != nil && exchanges.count == 1 && awaitsHead && !hasMoreInput
      guard let exchange = exchanges.popFirstReady(), let response = exchange.response else {
        return queueContinue(&around)
      }
      let isLast = !exchange.keepsAlive || mayBeLast
      queue(response, of: exchange, isLast: isLast, &around)
      if stream != nil {
        exchanges.removeAll()
        return leaveOpen(for: .streaming, .disconnected)
      }
      if isLast {
        exchanges.removeAll()
        return leaveOpen(for: .closing, .disconnected)
      }
    }
  }

  /// Tells a client that waits for it to send its body, once all answers before are on their way.
  private mutating func queueContinue(_ around: inout Surroundings) {
    guard case .open(.body(var body)) = stage, body.awaitsContinue, exchanges.count == 1 else {
      return
    }
    body.toldToContinue(nowMilliseconds: around.nowMilliseconds)
    stage = .open(.body(body))
    beginDelivery(&around)
    output.append(ResponseHead.continue)
  }

  private mutating func queue(
    _ response: borrowing Response, of exchange: borrowing Exchange, isLast: Bool,
    _ around: inout Surroundings
  ) {
    let sendsBody = !exchange.isHead && !response.status.forbidsBody
    stream = sendsBody ? response.stream : nil
    isStreamWoken = stream != nil
    var bytes: [UInt8] = []
    bytes.reserveCapacity(
      ResponseHead.reservedBytes + (response.preparedHead?.count ?? response.fields.byteCount)
        + (sendsBody ? OutputQueue.copiedBytes(of: response.body) : 0))
    writeHead(of: response, isHead: exchange.isHead, to: &bytes)
    ResponseHead.writeEnd(
      to: &bytes,
      persistence: isLast || stream != nil
        ? .closed : exchange.isOfOldVersion ? .keptExplicitly : .kept,
      dateLine: around.dateLine, requestID: exchange.requestID)
    beginDelivery(&around)
    let start = output.writtenCount + output.byteCount
    output.append(bytes, then: sendsBody && stream == nil ? response.body : [])
    guard around.isObserved else { return }
    departures.append(
      Departure(
        beginsAt: start,
        endsAt: stream == nil ? output.writtenCount + output.byteCount : .max,
        startNanoseconds: exchange.startNanoseconds,
        request: FinishedRequest(response, of: exchange)))
  }

  /// Appends the head up to what differs from one answer to the next.
  private func writeHead(of response: borrowing Response, isHead: Bool, to bytes: inout [UInt8]) {
    if let prepared = response.preparedHead {
      bytes.append(contentsOf: prepared)
      return
    }
    let saysNoLength =
      response.status.forbidsBody || (isHead && response.saysLength) || response.stream != nil
    let head = ResponseHead(
      status: response.status, fields: response.fields,
      contentLength: saysNoLength ? nil : response.bodyLength)
    head.writeStart(to: &bytes)
  }

  /// From now on the client is to take what waits.
  mutating func beginDelivery(_ around: inout Surroundings) {
    guard output.isEmpty else { return }
    deliveryMilliseconds = around.nowMilliseconds
    deliveredCount = output.writtenCount
  }

  /// Whether an answer has left whole, or will not any more: that of a closed connection.
  var hasDeparted: Bool {
    guard let end = departures.first?.endsAt else { return false }
    return isClosed || end <= output.writtenCount
  }

  /// Takes the oldest of the answers that have departed, where one has: what to tell of it.
  mutating func takeDeparted(nowNanoseconds: UInt64) -> FinishedRequest? {
    guard hasDeparted, var departure = departures.popFirst() else { return nil }
    departure.request.bytes = max(
      0, min(output.writtenCount, departure.endsAt) - departure.beginsAt)
    departure.request.microseconds = Int((nowNanoseconds - departure.startNanoseconds) / 1000)
    return departure.request
  }
}

extension Response {
  /// Whether the application says itself how long the body would be: an answer to HEAD may do so
  /// without having the body.
  fileprivate var saysLength: Bool { body.isEmpty && fields.contains("Content-Length") }
}

extension FinishedRequest {
  fileprivate init(_ response: borrowing Response, of exchange: borrowing Exchange) {
    self.init(
      method: exchange.method, target: exchange.target, pathEnd: exchange.pathEnd,
      route: response.route, user: response.user, status: response.status, bytes: 0,
      microseconds: 0,
      requestID: exchange.requestID, peer: nil, forwardedFor: exchange.forwardedFor)
  }
}
