import HTTP
import System

/// The settings of a server, including all limits and time-outs.
public struct ServerConfiguration: Sendable {
  /// The address to listen on: an IPv4 or IPv6 address, or a name that resolves to one.
  public var host = "127.0.0.1"
  /// The port to listen on; 0 picks a free one.
  public var port: UInt16 = 8080
  /// The number of threads that serve connections, each with its own listening socket.
  public var eventLoops = 1
  /// Whether another server of the same user may listen on the port as well: the one that replaces this
  /// server.
  public var sharesPort = false
  /// The maximum number of connections that the kernel holds before they are accepted, for each event loop.
  public var listenBacklog = 1024
  /// Size limits of a request.
  public var limits = MessageLimits()

  /// The maximum time for a request's head from its first byte, while it is read; then 408.
  public var headerReadTimeoutMilliseconds = 10_000
  /// The maximum time without a byte of a request's body; then 408.
  public var bodyReadTimeoutMilliseconds = 20_000
  /// The minimum average rate of a body after `bodyReadTimeoutMilliseconds`; below it 408.
  public var minimumBodyBytesPerSecond = 500
  /// The maximum time of a connection without a request; then it is closed without an answer.
  public var idleTimeoutMilliseconds = 60_000
  /// The time over which `minimumAnswerBytesPerSecond` is averaged for an answer that waits; a client that
  /// reads less is cut off.
  public var writeStallTimeoutMilliseconds = 30_000
  /// The minimum average rate at which a client reads an answer, over each `writeStallTimeoutMilliseconds`.
  public var minimumAnswerBytesPerSecond = 500
  /// The maximum time of the application for the oldest request of a connection; then 503.
  public var answerTimeoutMilliseconds = 60_000
  /// The maximum time without a byte of a streamed answer; then the stream is asked for some, to find out
  /// whether the client is still there.
  public var streamIdleMilliseconds = 15_000
  /// The maximum time of a drain for requests in flight; then they are cut.
  public var drainTimeoutMilliseconds = 30_000
  /// The time that a connection must have been silent for a drain to close it at once. A connection that is
  /// new or was just served has this time to send a request, whose answer then says that the connection ends.
  public var drainSilenceMilliseconds = 250
  /// The pause of accepting when descriptors run out, unless a connection closes earlier.
  public var acceptPauseMilliseconds = 500

  /// The maximum number of connections; one more is answered with 503 and closed.
  public var maximumConnections = 10_000
  /// The maximum number of refused connections, for each event loop, that are held until their clients have
  /// read the 503; one more is closed without it.
  public var maximumRefusedConnections = 64
  /// The maximum number of requests of a connection that wait for their answers; then reading pauses.
  public var pipeliningDepth = 64
  /// The maximum memory of the answers that wait for their turn on a connection; then reading pauses. An open
  /// file counts as 32 KB.
  public var pipelinedAnswerBytes = 65_536
  /// The maximum number of files held open by the answers that wait for their turn on a connection; then
  /// reading pauses. With the file that is being sent, this gives the number of a connection's descriptors.
  public var pipelinedFiles = 1
  /// The maximum memory of the answers that clients have not read, for each event loop; then a further
  /// request is answered with 503 and its connection closed.
  public var heldAnswerBytes = 256 << 20
  /// The number of requests of a connection that are begun before other connections get their turn.
  public var requestsPerTurn = 8
  /// The number of bytes that are read at once; all connections of an event loop share one such buffer.
  public var readBufferBytes = 16_384
  /// The maximum number of bytes of a body that are read only to be discarded, so that the connection can be
  /// kept.
  public var discardedBodyBytes = 65_536
  /// The maximum time that an answer waits for a body that is discarded; then it is sent without the rest,
  /// and the connection ends.
  public var discardedBodyTimeoutMilliseconds = 500
  /// The maximum number of bytes of a body that wait in memory, for each request whose body the application
  /// reads as it arrives; then the client has to wait.
  public var streamBufferBytes = 262_144
  /// The maximum time that a ready answer waits for those of other connections that came with it, so that
  /// they leave together. With 100, a client was woken every few pages, which cost the server 3 to 6 % of its
  /// time for uncached pages; with 1000, all waited for all.
  public var answerGatheringMicroseconds = 400
  /// The number of unsent bytes of an answer that the kernel holds; the rest waits here.
  public var unsentBytes = 131_072
  /// The number of bytes of a connection's answers that are written before other connections get their turn.
  public var bytesPerTurn = 1 << 20
  /// The maximum time that a connection that ends waits for its client to close, so that the client reads the
  /// last answer.
  public var lingerTimeoutMilliseconds = 2_000
  /// The maximum number of bytes that such a connection reads and discards meanwhile.
  public var lingerBytes = 1 << 20

  /// The documented defaults.
  public init() {}
}

extension ServerConfiguration {
  /// The port as an `Int`, like the other numbers.
  private var portNumber: Int {
    get { Int(port) }
    set { port = UInt16(clamping: newValue) }
  }

  /// The numbers that an operator can set: for listening.
  package static let listeningNumbers: [SettableNumber<Self>] = [
    .init("port", 0...65_535, \.portNumber, "Port to listen on; 0 lets the system choose."),
    .init("event-loops", 1...128, \.eventLoops, "Number of threads that serve connections."),
  ]

  /// The numbers that an operator can set: for the size of messages.
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

  /// The numbers that an operator can set: for connections and their time-outs.
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

  /// The numbers that an operator can set: for writes.
  package static let writeNumbers: [SettableNumber<Self>] = [
    .init(
      "body-bytes", 1...Most.gibibyte, \.limits.bodyBytes,
      "Maximum length of the body of a single write; a longer one gets 413.")
  ]
}
