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
    /// All is written, and the client was told so; so much of what it still sends is thrown away.
    case lingering(untilMilliseconds: UInt64, bytesLeft: Int)
    /// Cut off where the client took too little of an answer.
    case closed(isCutOff: Bool)
  }

  /// Whose turn it is on the event loop.
  enum Turn {
    case own
    /// The answers that are ready leave at the end of the loop's turn.
    case gathering
    /// So many requests were begun that the others are to have their turn.
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
