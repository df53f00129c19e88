import HTTP

/// The protocol of one connection: events go in, actions come out. It does no I/O, reads no clock and knows
/// no descriptor; the time comes with `Surroundings`.
///
/// Theory of operation. The owner of the socket (`Connection`) reports events with the functions of
/// `ConnectionMachine+events`, then asks `next` for actions, one at a time, and performs each before it asks
/// for another, until `next` returns `.wait`, `.gather` or `.close`. The caller owns the bytes, as with
/// `RequestParser`: each `next` gets all bytes that arrived and were not consumed, and moves `position` past
/// those that it consumes.
///
/// Each `next` goes through the same steps from the top, whatever happened before:
///
/// 1. Requests are read, as far as nothing blocks them (`isBlocked`). A request takes its place in
///    `exchanges` when its head is complete; the application gets it when its body is complete, or at once if
///    it reads the body as it arrives.
/// 2. The reader of a body learns of its end; errors get their text.
/// 3. If nothing more is here and the client has ended its side, the connection ends as well.
/// 4. Answers leave from the front of `exchanges`, and from nowhere else, into `output`, which is written.
///    Pieces of them that lie elsewhere are requested one ahead of what is being written.
/// 5. A streamed answer is asked for more when everything before is written.
/// 6. After the last answer the connection lingers, then ends.
/// 7. Otherwise the connection waits.
///
/// No step is skipped because of the last event, so nothing that is here waits for the client: whatever
/// unblocks a connection, the next step finds what was left behind it. `ConnectionInvariant` in the tests
/// states after each event who owes what a connection waits for.
struct ConnectionMachine {
  /// The state of the message that is being read.
  enum Input {
    /// No complete head; since when a part of one is being read.
    case head(sinceMilliseconds: UInt64?)
    /// The head of `request`, whose body follows; the application has to decide what to do with that.
    case deciding(expectsContinue: Bool)
    /// The application has decided.
    case decided(BodyPolicy, expectsContinue: Bool)
    /// A body. Boxed, since a connection has none most of the time, and steps look at the stage often.
    indirect case body(IncomingBody)
  }

  /// The stage of a connection. No stage leads back to an earlier one.
  enum Stage {
    /// Requests are read and answered.
    case open(Input)
    /// No more requests are read; at least one waits for its answer.
    case answering
    /// The last answer is in `output`, except for the part that is made as it leaves.
    case streaming
    /// The last answer is in `output`.
    case closing
    /// Everything is written, and the sending side is shut down; up to a limit, what still arrives is
    /// discarded.
    case lingering(untilMilliseconds: UInt64, bytesLeft: Int)
    /// Cut off if the client read too little of an answer.
    case closed(isCutOff: Bool)
  }

  /// Whose turn it is on the event loop.
  enum Turn {
    case own
    /// Ready answers leave at the end of the loop's turn.
    case gathering
    /// The connection has begun enough requests in this turn; other connections are next.
    case ending
    /// Other connections have their turn.
    case others
  }

  var stage = Stage.open(.head(sinceMilliseconds: nil))
  var turn = Turn.own
  var parser: RequestParser
  /// The request that an action is about, on its way to the application or to its body. It is not in the
  /// action, which is passed on several times.
  var request: Request?
  var exchanges = ExchangeQueue()
  var output = OutputQueue()
  /// The answers in `output`, if there is an observer.
  var departures = ShortQueue<Departure>()

  /// Since when a piece of an answer is awaited; nil if none is.
  var pieceAskedMilliseconds: UInt64?

  /// The stream that makes the last answer as it leaves.
  var stream: ResponseStream?
  /// Whether to ask the stream for bytes, and whether the reason is that nothing was sent for long.
  var isStreamWoken = false
  var isStreamIdle = false
  /// The number of bytes that a client has sent during a streamed answer, which are discarded.
  var unreadBytes = 0

  /// The end of a streamed body, until the application is told of it.
  var streamEnd: StreamEnd?
  /// Whether the client sends nothing more.
  var hasInputEnded = false
  /// Whether the client has to accept bytes before more is written.
  var isWriteBlocked = false
  /// The number of requests begun, and of bytes written, in this turn.
  var begunInTurn = 0
  var writtenInTurn = 0
  /// This connection's part of the surroundings' `heldBytes`.
  var accountedBytes = 0

  /// When the client last sent or accepted something.
  var activeMilliseconds: UInt64
  /// Since when the server drains.
  var drainStartMilliseconds: UInt64?
  /// When it was last checked how much of the output the client has read, and how much that was.
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

  /// Whether bytes from the client are useful now.
  func wantsInput(_ around: inout Surroundings) -> Bool {
    !hasInputEnded && (isLingering || isStreaming || (isOpen && !isBlocked(&around)))
  }

  /// Ends the reading of requests: nothing behind what was read is read as one. The reader of a body that is
  /// on its way learns why it ends.
  mutating func leaveOpen(for stage: Stage, _ error: BodyStreamError) {
    if case .open(.body(var body)) = self.stage, body.use == .streamed {
      streamEnd = StreamEnd(rest: body.takeGathered(), error: error)
    }
    self.stage = stage
    request = nil
  }
}

extension ConnectionMachine {
  /// What a connection waits for, which determines what happens at its deadline.
  enum Waiting: Hashable {
    /// Nothing: it is closed.
    case nothing
    /// The client, to end its side.
    case end
    /// The client, to read output.
    case delivery
    /// The source of an answer's bytes that lie elsewhere.
    case piece
    /// The client, to send more of a body.
    case body
    /// The application, to read more of a body.
    case room
    /// The client, to send the rest of a head.
    case head
    /// The application, to answer the oldest request.
    case answer
    /// The client, to send a request.
    case request
    /// The stream of an answer.
    case stream
    /// The event loop.
    case turn
  }

  /// What the connection waits for first. Inlined, like `deadlineMilliseconds`: a call would copy the whole
  /// machine.
  @inline(__always) var waiting: Waiting {
    if isClosed { return .nothing }
    if isLingering { return .end }
    if output.awaitsPiece { return .piece }
    if !output.isEmpty { return .delivery }
    if case .open(.body(let body)) = stage {
      if body.isPaused { return .room }
      // The answers to earlier requests come before `100 Continue`.
      if !body.awaitsContinue || exchanges.count == 1 { return .body }
    }
    if isStreaming { return .stream }
    if case .open(.head(.some)) = stage { return .head }
    if exchanges.isEmpty { return .request }
    return exchanges.firstOwedSinceMilliseconds == nil ? .turn : .answer
  }

  /// The deadline of what the connection waits for.
  @inline(__always) func deadlineMilliseconds(_ around: inout Surroundings) -> UInt64 {
    switch waiting {
    case .nothing, .turn:
      return around.nowMilliseconds + UInt64(around.configuration.answerTimeoutMilliseconds)
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

  /// The deadline may have passed: what the connection waits for may have taken too long.
  ///
  /// - Parameter unacknowledgedBytes: the number of written bytes that the client has not acknowledged.
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
      // If nothing comes of it, the stream is asked again after the same time.
      activeMilliseconds = around.nowMilliseconds
    case .answer:
      failed(exchanges.firstNumber, .answerTimedOut)
    }
  }

  /// Whether the client has read enough of the output since the last check; the next check counts from now
  /// on.
  ///
  /// Only bytes that the client has acknowledged count: a socket is writable again only when a good part of
  /// its buffer is free, which for a slow client takes longer than any time-out.
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
  /// Moves ready answers into `output`, in order, as far as there is room.
  mutating func queueAnswers(hasMoreInput: Bool, _ around: inout Surroundings) {
    while !output.isFull {
      // While draining, the last request that is here is the connection's last.
      let mayBeLast =
        drainStartMilliseconds != nil && exchanges.count == 1 && awaitsHead && !hasMoreInput
      guard var exchange = exchanges.popFirstReady(), let response = exchange.response.take() else {
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

  /// Tells a client that waits for `100 Continue` to send its body, once all earlier answers are on their
  /// way.
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
      dateLine: around.dateLine, requestID: exchange.request.requestID)
    beginDelivery(&around)
    let start = output.writtenCount + output.byteCount
    output.append(bytes, then: sendsBody && stream == nil ? response.body : [])
    guard around.isObserved else { return }
    departures.append(
      Departure(
        beginsAt: start, endsAt: stream == nil ? output.writtenCount + output.byteCount : .max,
        request: FinishedRequest(
          request: exchange.request, route: response.route, user: response.user,
          status: response.status)))
  }

  /// Appends the part of the head that is the same in each answer.
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

  /// Starts the time in which the client has to read what waits.
  mutating func beginDelivery(_ around: inout Surroundings) {
    guard output.isEmpty else { return }
    deliveryMilliseconds = around.nowMilliseconds
    deliveredCount = output.writtenCount
  }

  /// Whether the oldest answer has left as a whole, or never will, since the connection is closed.
  var hasDeparted: Bool {
    guard let end = departures.first?.endsAt else { return false }
    return isClosed || end <= output.writtenCount
  }

  /// Takes the report of the oldest answer that has departed; nil if there is none.
  mutating func takeDeparted(nowNanoseconds: UInt64) -> FinishedRequest? {
    guard hasDeparted, var departure = departures.popFirst() else { return nil }
    let begin = departure.request.request.startNanoseconds
    departure.request.bytes = max(
      0, min(output.writtenCount, departure.endsAt) - departure.beginsAt)
    departure.request.microseconds = Int((nowNanoseconds - begin) / 1000)
    return departure.request
  }
}

extension Response {
  /// Whether the application itself gives the length of the body: an answer to HEAD may do so without having
  /// the body.
  fileprivate var saysLength: Bool { body.isEmpty && fields.contains("Content-Length") }
}
