import HTTP
import Logging
import Sockets
import System

/// One connection: bytes to requests, answers to bytes, in order.
///
/// Theory of operation. The parser and the queues decide; this class moves bytes between them and
/// the socket. A request takes its place in `exchanges` when its head is complete, and answers
/// leave from the front of that queue only. Reading pauses while `pipeliningDepth` requests wait or
/// an answer is not written yet. Bytes that could not be used yet are copied to `pending`; a
/// connection without any holds no buffer at all. Every event ends in `settle`, which derives from
/// the state what is watched for and when that is given up. Whoever ends what blocks a connection calls
/// `resume`, which parses what was left: bytes in `pending`, the parser's event at hand
/// (`RequestParser.hasEventAtHand`), and last the end of the input. So nothing that is here waits for
/// the client.
///
/// `@unchecked Sendable`: all state is confined to the event loop's thread. Other threads hold a
/// reference (through a `Responder`) only to pass it to `loop.execute`, and read nothing but
/// `loop`, a constant.
final class Connection: EventHandler, @unchecked Sendable {
  enum Stage {
    /// Requests are read and answered.
    case open
    /// No more requests are read; those that wait are answered.
    case finishing
    /// All is written, and the client was told so; what it still sends is thrown away.
    case lingering
    case closed
  }

  /// A request whose body is on its way.
  struct Receiving {
    var request: Request
    let isDiscarded: Bool
    let startMilliseconds: UInt64
    var lastMilliseconds: UInt64
    /// How long the application and not the client was waited for.
    var excusedMilliseconds: UInt64 = 0
    var bytes = 0
    /// Where the bytes go that the application reads as they come.
    var stream: BodyStream?
    /// Bytes for the stream that were parsed in this go: they are passed on together, since a body
    /// may come in chunks of one byte.
    var gathered: [UInt8] = []

    mutating func passBodyOn() {
      guard !gathered.isEmpty else { return }
      stream?.append(gathered)
      gathered = []
    }
  }

  let worker: Worker
  let loop: EventLoop
  let socket: Socket
  let isRefused: Bool
  let peer: IPAddress?
  var registration = Registration.none
  var interest = Interest.readable
  var stage = Stage.open

  var parser: RequestParser
  /// Bytes that came and were not consumed: a partial head, or requests beyond the pipelining
  /// depth.
  var pending: [UInt8] = []
  var receiving: Receiving?
  var inputEnded = false
  /// Whether the answers that are ready leave at the end of the turn.
  var isWriting = false
  /// Whether `advance` is running, which flushes by itself.
  var isAdvancing = false
  /// How many requests were begun in this turn, and whether it is the others' turn.
  var begunInTurn = 0
  var isYielding = false
  /// How much of the loop's `heldBytes` is this connection's.
  var accountedBytes = 0
  /// Whether bytes follow the requests that `advance` has parsed.
  var hasMoreInput = false

  var exchanges = ExchangeQueue()
  var output = OutputQueue()
  /// Whether the connection ends when `output` is written.
  var closesAfterOutput = false
  /// The answers in `output`, where anybody wants to hear of them.
  var departing: [Departing] = []

  /// When the connection last did anything, when an incomplete head began (0: there is none), when
  /// it was last seen how much of the output the client has taken, and when lingering ends:
  /// milliseconds of the loop's clock.
  var activeMilliseconds: UInt64
  var headStartMilliseconds: UInt64 = 0
  var deliveryMilliseconds: UInt64 = 0
  /// How many bytes the client had taken by then.
  var deliveredCount = 0
  var lingerEndMilliseconds: UInt64 = 0
  var lingerBytesLeft = 0

  var configuration: ServerConfiguration { worker.context.configuration }

  /// Takes over a socket and watches it; it still belongs to the caller if this fails.
  init(_ worker: Worker, _ socket: Socket, isRefused: Bool) throws(SystemError) {
    self.worker = worker
    self.socket = socket
    self.isRefused = isRefused
    loop = worker.loop
    parser = RequestParser(limits: worker.context.configuration.limits)
    activeMilliseconds = worker.loop.nowMilliseconds
    peer = socket.peer
    try socket.disableDelay()
    try socket.limitUnsent(toBytes: worker.context.configuration.unsentBytes)
    registration = try worker.loop.register(socket.descriptor, for: interest, self)
  }

  /// Begins to serve, or refuses.
  func start() {
    if isRefused {
      refuse(.tooManyConnections)
      flush()
    }
    settle()
  }

  func ready(for readiness: Interest) {
    // While lingering, a hangup is only the client's end: what it sent before is read first, since
    // a close with bytes unread would reset the connection.
    let isEndOfLingering = stage == .lingering && readiness.contains(.readable)
    if readiness.contains(.hangup), !isEndOfLingering { return close() }
    if readiness.contains(.writable) { resume() }
    if readiness.contains(.readable), stage != .closed { read() }
  }

  /// Called when the server begins to drain.
  func drain() {
    // What the client has sent by now is served; only silence is idle.
    if isIdle { read() } else { settle() }
  }

  /// Whether no request is here, not even in part, and nothing is left to write.
  var isIdle: Bool {
    stage == .open && exchanges.isEmpty && receiving == nil && output.isEmpty && pending.isEmpty
      && !parser.isInsideMessage
  }

  /// Tells the client that all was sent, and waits a while for it to close first: a close with
  /// bytes unread would let the kernel reset the connection, and the client lose the last answer
  /// (RFC 9112 section 9.6).
  func linger() {
    guard stage != .lingering, stage != .closed else { return }
    if inputEnded { return close() }
    stage = .lingering
    exchanges.removeAll()
    pending = []
    abandonBody(.disconnected)
    lingerEndMilliseconds =
      loop.nowMilliseconds + UInt64(configuration.lingerTimeoutMilliseconds)
    lingerBytesLeft = configuration.lingerBytes
    do throws(SystemError) {
      try socket.finishSending()
    } catch {
      close()
    }
  }

  /// Whoever reads the body that is on its way hears that no more of it will come.
  func abandonBody(_ error: BodyStreamError) {
    guard var abandoned = receiving.take() else { return }
    abandoned.passBodyOn()
    abandoned.stream?.fail(error)
  }

  /// Closes at once and forgets everything; answers that come later go nowhere.
  func close() {
    guard stage != .closed else { return }
    stage = .closed
    loop.deregister(registration)
    socket.close()
    noteLosses()
    exchanges.removeAll()
    output = OutputQueue()
    pending = []
    abandonBody(.disconnected)
    account()
    worker.connectionClosed(isRefused: isRefused)
  }
}
