import HTTP

/// What a connection wants done next. Whoever asked for it does it at once, tells the machine what the
/// comment says, and asks for the next.
enum ConnectionAction {
  /// Ask the application what to do with the body of `request`, which is not complete: `decide`.
  case askBodyPolicy
  /// Give the application the request (`takeRequest`), which is now or later `answered`; with
  /// `streamsBody` the body follows.
  case handle(exchange: UInt64, requestID: String, streamsBody: Bool)
  /// Give these bytes to the reader of the streamed body: `delivered`.
  case deliver([UInt8])
  /// Tell it that this is all.
  case endStream(StreamEnd)
  /// Ask the application for the text of an error: `explained`.
  case explain(ProtocolError, exchange: UInt64, requestID: String)
  /// Write of `output`, once: `wrote`, `writeBlocked` or `disconnected`.
  case write
  /// Ask the stream what follows: `streamed`, or `streamEnded`.
  case askStream(ResponseStream, isIdle: Bool)
  /// Ask the source for these bytes, later: `pieceCame`, or `disconnected` where they cannot be had.
  case askPiece(any PieceSource, Range<Int>)
  /// Do nothing more for now. The answers may leave with those of other connections: `gatheringEnded`,
  /// soon and whatever else happens.
  case gather
  /// Let the other connections have their turn: `turnCame`, whatever else happens.
  case yield
  /// Tell the client that all was sent.
  case finishSending
  /// Do nothing more until one of these comes, or an answer, or a piece of it, or room in the stream.
  case wait(ConnectionWait)
  /// Close the socket and forget the connection.
  case close(isCutOff: Bool)
}

/// What a connection waits for, besides the application.
struct ConnectionWait: Hashable {
  /// Bytes of the client: `received`, or `inputEnded`.
  var reads: Bool
  /// That the client takes more: `canWrite`.
  var writes: Bool
  /// That it is this late: `deadlinePassed`.
  var deadlineMilliseconds: UInt64
}

/// How a body ends that the application takes as it comes.
struct StreamEnd {
  /// Its last bytes.
  var rest: [UInt8]
  /// Why it is not whole; nil where it is.
  var error: BodyStreamError?
}

/// An answer in the output queue whose end is reported to the observer.
struct Departure {
  /// At which count of written bytes it begins, and at which it ends.
  let beginsAt: Int
  var endsAt: Int
  let startNanoseconds: UInt64
  var request: FinishedRequest
}

/// What the connections of one event loop are told with each step, and what they share: values, which
/// the loop keeps up to date.
struct Surroundings {
  let configuration: ServerConfiguration
  /// Whether there is an observer of answered requests.
  let isObserved: Bool
  /// A clock that never goes back.
  var nowMilliseconds: UInt64
  /// The same clock, finer, as of when the bytes came that are at hand.
  var nowNanoseconds: UInt64 = 0
  /// The line of `Date`, with its end.
  var dateLine: [UInt8] = []
  var requestIDs = RequestIDGenerator()
  /// How much memory the answers of all these connections hold that their clients have not taken.
  var heldBytes = 0

  /// The moment this many milliseconds from now.
  func after(milliseconds: Int) -> UInt64 { nowMilliseconds + UInt64(milliseconds) }
}
