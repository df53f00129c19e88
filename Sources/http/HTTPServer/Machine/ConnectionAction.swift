import HTTP

/// The next action of a connection. The caller performs it at once, calls the method of the machine that the
/// comment names, and asks for the next action.
enum ConnectionAction {
  /// Ask the application what to do with the body of `request`, which is not complete: `decide`.
  case askBodyPolicy
  /// Give the application the request (`takeRequest`), which is `answered` now or later; with `streamsBody`
  /// the body follows.
  case handle(exchange: UInt64, requestID: String, streamsBody: Bool)
  /// Give these bytes to the reader of the streamed body: `delivered`.
  case deliver([UInt8])
  /// Tell that reader that this is all.
  case endStream(StreamEnd)
  /// Ask the application for the text of an error: `explained`.
  case explain(ProtocolError, exchange: UInt64, requestID: String)
  /// Write once from `output`: `wrote`, `writeBlocked` or `disconnected`.
  case write
  /// Ask the stream for the next bytes: `streamed`, or `streamEnded`.
  case askStream(ResponseStream, isIdle: Bool)
  /// Request these bytes from the source: later `pieceCame`, or `disconnected` if they cannot be read.
  case askPiece(any PieceSource, Range<Int>)
  /// Do nothing more for now. The answers may leave with those of other connections: `gatheringEnded` follows
  /// soon, whatever else happens.
  case gather
  /// Let other connections have their turn: `turnCame` follows, whatever else happens.
  case yield
  /// Tell the client that everything was sent.
  case finishSending
  /// Do nothing more until one of these events comes, or an answer, or a piece of it, or room in the stream.
  case wait(ConnectionWait)
  /// Close the socket and forget the connection.
  case close(isCutOff: Bool)
}

/// The events that a connection waits for, besides those of the application.
struct ConnectionWait: Hashable {
  /// Bytes from the client: `received`, or `inputEnded`.
  var reads: Bool
  /// The client accepts more bytes: `canWrite`.
  var writes: Bool
  /// The deadline has passed: `deadlinePassed`.
  var deadlineMilliseconds: UInt64
}

/// The end of a body that the application reads as it arrives.
struct StreamEnd {
  /// Its last bytes.
  var rest: [UInt8]
  /// Why the body is not complete; nil if it is.
  var error: BodyStreamError?
}

/// An answer in the output queue whose end is reported to the observer.
struct Departure {
  /// The counts of written bytes at which it begins and ends.
  let beginsAt: Int
  var endsAt: Int
  var request: FinishedRequest
}

/// The state that the connections of one event loop get with each step, and that they share: values, which
/// the loop keeps up to date.
struct Surroundings {
  let configuration: ServerConfiguration
  /// Whether there is an observer of answered requests.
  let isObserved: Bool
  /// The time of a monotonic clock.
  var nowMilliseconds: UInt64
  /// The same clock, finer, as of the arrival of the bytes at hand.
  var nowNanoseconds: UInt64 = 0
  /// The `Date` line, with its CRLF.
  var dateLine: [UInt8] = []
  var requestIDs = RequestIDGenerator()
  /// The memory that the answers of all these connections hold and that their clients have not read.
  var heldBytes = 0
}
