import ArgumentParser
import Service
import HTTPServer
import SQLiteStore

/// Where to listen, and with how many threads.
struct ListeningOptions: ParsableArguments {
  static let defaultHost = "127.0.0.1"
  static let defaultPort: UInt16 = 8080

  @Option(help: "The address to listen on.")
  var host = Environment.text("HOST", default: defaultHost)

  @Option(help: "The port; 0 lets the system pick one.")
  var port = Environment.number("PORT", default: defaultPort)

  @Option(help: "Threads that serve connections.")
  var eventLoops = Environment.number("EVENT_LOOPS", default: 1)

  /// As it stands in a URL: an IPv6 address in brackets, RFC 3986 section 3.2.2.
  var urlHost: String { host.contains(":") ? "[\(host)]" : host }

  mutating func validate() throws {
    try Environment.validate()
  }

  func apply(to server: inout ServerConfiguration) {
    server.host = host
    server.port = port
    server.eventLoops = eventLoops
  }
}

/// How large a message may be.
struct MessageOptions: ParsableArguments {
  private static let defaults = ServerConfiguration()

  @Option(help: "The request line; then 414.")
  var requestLineBytes = Environment.number(
    "REQUEST_LINE_BYTES", default: defaults.limits.requestLineBytes)

  @Option(help: "The header fields together; then 431.")
  var headerBlockBytes = Environment.number(
    "HEADER_BLOCK_BYTES", default: defaults.limits.headerBlockBytes)

  @Option(help: "Header fields; then 431.")
  var headerFields = Environment.number("HEADER_FIELDS", default: defaults.limits.headerFields)

  @Option(help: "A body for which the route has no use; then the connection ends.")
  var discardedBodyBytes = Environment.number(
    "DISCARDED_BODY_BYTES", default: defaults.discardedBodyBytes)

  @Option(help: "Requests of one connection that wait for their answers; then reading pauses.")
  var pipeliningDepth = Environment.number("PIPELINING_DEPTH", default: defaults.pipeliningDepth)

  mutating func validate() throws {
    try Environment.validate()
  }

  func apply(to server: inout ServerConfiguration) {
    server.limits.requestLineBytes = requestLineBytes
    server.limits.headerBlockBytes = headerBlockBytes
    server.limits.headerFields = headerFields
    server.discardedBodyBytes = discardedBodyBytes
    server.pipeliningDepth = pipeliningDepth
  }
}

/// How many connections there may be, and how long each may take.
struct ConnectionOptions: ParsableArguments {
  private static let defaults = ServerConfiguration()

  @Option(help: "Connections at once; then 503.")
  var maximumConnections = Environment.number(
    "MAXIMUM_CONNECTIONS", default: defaults.maximumConnections)

  @Option(help: "A request's head from its first byte on; then 408.")
  var headerReadTimeoutMilliseconds = Environment.number(
    "HEADER_READ_TIMEOUT_MILLISECONDS", default: defaults.headerReadTimeoutMilliseconds)

  @Option(help: "How fast a body must come on average; else 408.")
  var minimumBodyBytesPerSecond = Environment.number(
    "MINIMUM_BODY_BYTES_PER_SECOND", default: defaults.minimumBodyBytesPerSecond)

  @Option(help: "Silence within a body; then 408.")
  var bodyReadTimeoutMilliseconds = Environment.number(
    "BODY_READ_TIMEOUT_MILLISECONDS", default: defaults.bodyReadTimeoutMilliseconds)

  @Option(help: "A connection without a request; then it is closed.")
  var idleTimeoutMilliseconds = Environment.number(
    "IDLE_TIMEOUT_MILLISECONDS", default: defaults.idleTimeoutMilliseconds)

  @Option(help: "In how long a client must take --minimum-answer-bytes-per-second.")
  var writeStallTimeoutMilliseconds = Environment.number(
    "WRITE_STALL_TIMEOUT_MILLISECONDS", default: defaults.writeStallTimeoutMilliseconds)

  @Option(help: "How fast an answer must be taken on average; else the client is cut off.")
  var minimumAnswerBytesPerSecond = Environment.number(
    "MINIMUM_ANSWER_BYTES_PER_SECOND", default: defaults.minimumAnswerBytesPerSecond)

  @Option(help: "Memory, of each event loop, for answers that clients do not take; then 503.")
  var heldAnswerBytes = Environment.number(
    "HELD_ANSWER_BYTES", default: defaults.heldAnswerBytes)

  @Option(help: "How long an answer may take to be made; then 503.")
  var answerTimeoutMilliseconds = Environment.number(
    "ANSWER_TIMEOUT_MILLISECONDS", default: defaults.answerTimeoutMilliseconds)

  @Option(help: "Requests in flight after SIGTERM; then they are cut.")
  var drainTimeoutMilliseconds = Environment.number(
    "DRAIN_TIMEOUT_MILLISECONDS", default: defaults.drainTimeoutMilliseconds)

  mutating func validate() throws {
    try Environment.validate()
  }

  func apply(to server: inout ServerConfiguration) {
    server.maximumConnections = maximumConnections
    server.headerReadTimeoutMilliseconds = headerReadTimeoutMilliseconds
    server.bodyReadTimeoutMilliseconds = bodyReadTimeoutMilliseconds
    server.idleTimeoutMilliseconds = idleTimeoutMilliseconds
    server.minimumBodyBytesPerSecond = minimumBodyBytesPerSecond
    server.minimumAnswerBytesPerSecond = minimumAnswerBytesPerSecond
    server.heldAnswerBytes = heldAnswerBytes
    server.answerTimeoutMilliseconds = answerTimeoutMilliseconds
    server.writeStallTimeoutMilliseconds = writeStallTimeoutMilliseconds
    server.drainTimeoutMilliseconds = drainTimeoutMilliseconds
  }
}

/// Where the media files are, and how long they are kept.
struct MediaOptions: ParsableArguments {
  private static let defaults = FeedServiceConfiguration(databasePath: "")

  @Option(help: "The folder of the files under /media/; without one there are none.")
  var mediaRoot: String?

  @Option(help: "How long a cache may keep a media file.")
  var mediaMaxAgeSeconds = Environment.number(
    "MEDIA_MAX_AGE_SECONDS", default: defaults.application.mediaMaxAgeSeconds)

  mutating func validate() throws {
    mediaRoot = mediaRoot ?? Environment.text("MEDIA_ROOT")
    try Environment.validate()
  }

  func apply(to configuration: inout FeedServiceConfiguration) {
    configuration.application.mediaRoot = mediaRoot
    configuration.application.mediaMaxAgeSeconds = mediaMaxAgeSeconds
  }
}

/// How pages are kept and refreshed.
struct PageOptions: ParsableArguments {
  private static let defaults = FeedServiceConfiguration(databasePath: "")

  @Option(help: "How long a cache may keep an answer.")
  var cacheMaxAgeSeconds = Environment.number(
    "CACHE_MAX_AGE_SECONDS", default: defaults.application.cacheMaxAgeSeconds)

  @Option(help: "How long after that it may show it while it asks again.")
  var cacheStaleWhileRevalidateSeconds = Environment.number(
    "CACHE_STALE_WHILE_REVALIDATE_SECONDS",
    default: defaults.application.cacheStaleWhileRevalidateSeconds)

  @Option(help: "Memory for encoded pages; with 0 none is kept there.")
  var encodedMemoryBytes = Environment.number(
    "ENCODED_MEMORY_BYTES", default: defaults.application.encodedMemoryBytes)

  @Option(help: "Length of the file of encoded items beside the database; with 0 there is none.")
  var itemFileBytes = Environment.number(
    "ITEM_FILE_BYTES", default: defaults.application.itemFileBytes)

  @Option(help: "From how many bytes on an answer is compressed.")
  var compressionMinimumBytes = Environment.number(
    "COMPRESSION_MINIMUM_BYTES", default: defaults.application.compressionMinimumBytes)

  @Option(help: "How often the database is looked at for what other processes wrote.")
  var refreshIntervalMilliseconds = Environment.number(
    "REFRESH_INTERVAL_MILLISECONDS", default: defaults.refreshIntervalMilliseconds)

  @Option(help: "How many requests that take long run at once.")
  var workerThreads = Environment.number(
    "WORKER_THREADS", default: defaults.application.workerThreads)

  @Option(help: "How many such requests run or wait; then 503.")
  var workerQueue = Environment.number("WORKER_QUEUE", default: defaults.application.workerQueue)

  @Option(help: "How long requests are still accepted after SIGTERM, with /readyz at 503.")
  var drainGraceMilliseconds = Environment.number(
    "DRAIN_GRACE_MILLISECONDS", default: defaults.application.drainGraceMilliseconds)

  mutating func validate() throws {
    try Environment.validate()
  }

  func apply(to configuration: inout FeedServiceConfiguration) {
    configuration.application.cacheMaxAgeSeconds = cacheMaxAgeSeconds
    configuration.application.cacheStaleWhileRevalidateSeconds = cacheStaleWhileRevalidateSeconds
    configuration.application.encodedMemoryBytes = encodedMemoryBytes
    configuration.application.itemFileBytes = itemFileBytes
    configuration.application.compressionMinimumBytes = compressionMinimumBytes
    configuration.refreshIntervalMilliseconds = refreshIntervalMilliseconds
    configuration.application.workerThreads = workerThreads
    configuration.application.workerQueue = workerQueue
    configuration.application.drainGraceMilliseconds = drainGraceMilliseconds
  }
}
