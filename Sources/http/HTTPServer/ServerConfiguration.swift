import HTTP

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
