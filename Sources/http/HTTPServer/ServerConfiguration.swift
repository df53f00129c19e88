import HTTP
import System

/// Every setting of a server; each limit and each wait has one.
public struct ServerConfiguration: Sendable {
  /// The address to listen on: an IPv4 or IPv6 address, or a name that resolves to one.
  public var host = "127.0.0.1"
  /// The port to listen on; 0 picks a free one.
  public var port: UInt16 = 8080
  /// How many threads serve connections, each with a listening socket of its own.
  public var eventLoops = 1
  /// Whether another server of the same user may listen on the port, too: the one that takes its place.
  public var sharesPort = false
  /// How many connections the kernel holds that were not accepted yet, for each event loop.
  public var listenBacklog = 1024
  /// How large a request may be.
  public var limits = MessageLimits()

  /// How long a request's head may take from its first byte, as long as it is read; then 408.
  public var headerReadTimeoutMilliseconds = 10_000
  /// How long nothing of a request's body may come; then 408.
  public var bodyReadTimeoutMilliseconds = 20_000
  /// How fast a body must come on average once `bodyReadTimeoutMilliseconds` is over; else 408.
  public var minimumBodyBytesPerSecond = 500
  /// How long a connection may stay without a request; then it is closed without a word.
  public var idleTimeoutMilliseconds = 60_000
  /// In how long a client must have taken `minimumAnswerBytesPerSecond` of an answer that waits;
  /// else the connection is cut.
  public var writeStallTimeoutMilliseconds = 30_000
  /// How fast an answer must be taken on average over each `writeStallTimeoutMilliseconds`.
  public var minimumAnswerBytesPerSecond = 500
  /// How long the application may take over the oldest request of a connection; then 503.
  public var answerTimeoutMilliseconds = 60_000
  /// How long nothing may be sent of an answer that has no end; then it is asked for something, by which
  /// it is seen whether the client is there still.
  public var streamIdleMilliseconds = 15_000
  /// How long a drain lets requests in flight finish; then they are cut.
  public var drainTimeoutMilliseconds = 30_000
  /// How long a connection must have been silent for a drain to close it at once; one that is new
  /// or was just served has so long to send a request, whose answer then says that the connection
  /// ends.
  public var drainSilenceMilliseconds = 250
  /// How long accepting pauses when descriptors run out, unless a connection closes earlier.
  public var acceptPauseMilliseconds = 500

  /// How many connections are served at once; one more is answered with 503 and closed.
  public var maximumConnections = 10_000
  /// How many refused connections may be held, for each event loop, until their clients have read
  /// the 503; one more is closed without it.
  public var maximumRefusedConnections = 64
  /// How many requests of one connection may wait for their answers; then its reading pauses.
  public var pipeliningDepth = 64
  /// How much memory the answers may hold that wait for their turn on one connection; then its reading
  /// pauses. An open file counts as 32 KB.
  public var pipelinedAnswerBytes = 65_536
  /// How many files the answers may hold open that wait for their turn on one connection; then its
  /// reading pauses. With the one that is being sent, that makes the descriptors of a connection.
  public var pipelinedFiles = 1
  /// How much memory the answers may hold that clients have not taken, for each event loop; then a
  /// further request is answered with 503 and its connection closed.
  public var heldAnswerBytes = 256 << 20
  /// How many requests of one connection are begun before the others get their turn.
  public var requestsPerTurn = 8
  /// How much is read at once; one such buffer is shared by all connections of an event loop.
  public var readBufferBytes = 16_384
  /// How much of a body is read only to be thrown away, so that the connection can be kept.
  public var discardedBodyBytes = 65_536
  /// How long the answer to a request waits for a body that is only thrown away; then it goes out
  /// without, and the connection ends.
  public var discardedBodyTimeoutMilliseconds = 500
  /// How much of a body waits in memory to be read by the application, for each request whose body
  /// it reads as it comes; then the client has to wait.
  public var streamBufferBytes = 262_144
  /// How long an answer that is ready may wait for those of other connections that came with it, so
  /// that they leave together. With 100, a client was woken for a few pages at a time, and that took this
  /// side 3 to 6 % of its time for pages that were not asked for; with 1000, all waited for all.
  public var answerGatheringMicroseconds = 400
  /// How much of an answer the kernel holds that it has not sent yet; the rest waits here.
  public var unsentBytes = 131_072
  /// How much of a connection's answers is written before the others get their turn.
  public var bytesPerTurn = 1 << 20
  /// How long a connection that ends waits for its client to close, so that the last answer is
  /// read.
  public var lingerTimeoutMilliseconds = 2_000
  /// How much a connection that ends reads and throws away meanwhile.
  public var lingerBytes = 1 << 20

  /// The documented defaults.
  public init() {}
}

extension ServerConfiguration {
  /// The port as the other numbers are.
  private var portNumber: Int {
    get { Int(port) }
    set { port = UInt16(clamping: newValue) }
  }

  /// What an operator can set: where the server listens.
  package static let listeningNumbers: [SettableNumber<Self>] = [
    .init("port", 0...65_535, \.portNumber, "Port to listen on; 0 lets the system choose."),
    .init("event-loops", 1...128, \.eventLoops, "Number of threads that serve connections."),
  ]

  /// What an operator can set: how large a message may be.
  package static let messageNumbers: [SettableNumber<Self>] = [
    .init(
      "request-line-bytes", 1...(1 << 20), \.limits.requestLineBytes,
      "Maximum length of the request line; a longer one gets 414."),
    .init(
      "header-block-bytes", 1...(1 << 20), \.limits.headerBlockBytes,
      "Maximum length of all header fields together; more gets 431."),
    .init(
      "header-fields", 1...10_000, \.limits.headerFields,
      "Maximum number of header fields; more gets 431."),
    .init(
      "discarded-body-bytes", 0...Most.gibibyte, \.discardedBodyBytes,
      "Maximum length of a body that the route does not read; a longer one closes the connection."),
    .init(
      "pipelining-depth", 1...10_000, \.pipeliningDepth,
      "Maximum number of unanswered requests on a connection; reading pauses until one is answered."
    ),
  ]

  /// What an operator can set: how many connections there may be, and how long each may take.
  package static let connectionNumbers: [SettableNumber<Self>] = [
    .init(
      "maximum-connections", 1...1_000_000, \.maximumConnections,
      "Maximum number of connections; one more gets 503."),
    .init(
      "header-read-timeout-milliseconds", 1...Most.dayMilliseconds, \.headerReadTimeoutMilliseconds,
      "Time for a request's head, from its first byte; then 408."),
    .init(
      "minimum-body-bytes-per-second", 0...Most.gibibyte, \.minimumBodyBytesPerSecond,
      "Minimum average rate of a body; a slower one gets 408."),
    .init(
      "body-read-timeout-milliseconds", 1...Most.dayMilliseconds, \.bodyReadTimeoutMilliseconds,
      "Time without a byte within a body; then 408."),
    .init(
      "idle-timeout-milliseconds", 1...Most.dayMilliseconds, \.idleTimeoutMilliseconds,
      "Time until a connection without a request is closed."),
    .init(
      "write-stall-timeout-milliseconds", 1...Most.dayMilliseconds, \.writeStallTimeoutMilliseconds,
      "Time over which --minimum-answer-bytes-per-second is averaged."),
    .init(
      "minimum-answer-bytes-per-second", 0...Most.gibibyte, \.minimumAnswerBytesPerSecond,
      "Minimum average rate at which a client reads an answer; a slower one is disconnected."),
    .init(
      "held-answer-bytes", 1...Most.tebibyte, \.heldAnswerBytes,
      "Memory of each event loop for answers that clients have not read yet; beyond it, 503."),
    .init(
      "answer-timeout-milliseconds", 1...Most.dayMilliseconds, \.answerTimeoutMilliseconds,
      "Time to make an answer; then 503."),
    .init(
      "drain-timeout-milliseconds", 0...Most.dayMilliseconds, \.drainTimeoutMilliseconds,
      "Time for requests in flight after SIGTERM; then their connections are closed."),
    .init(
      "stream-idle-milliseconds", 1...Most.dayMilliseconds, \.streamIdleMilliseconds,
      "Time without an event after which a listener is sent a comment."),
  ]

  /// What an operator can set: writes.
  package static let writeNumbers: [SettableNumber<Self>] = [
    .init(
      "body-bytes", 1...Most.gibibyte, \.limits.bodyBytes,
      "Maximum length of the body of a single write; a longer one gets 413.")
  ]
}
