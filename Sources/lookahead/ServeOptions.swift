import ArgumentParser
import FeedServer
import HTTPServer
import Logging
import SQLiteStore

/// Where to listen, and with how many threads.
struct ListeningOptions: ParsableArguments {
  @Option(help: "The address to listen on.")
  var host = Environment.text("HOST", default: "127.0.0.1")

  @Option(help: "The port; 0 lets the system pick one.")
  var port = Environment.number("PORT", default: UInt16(8080))

  @Option(help: "Threads that serve connections.")
  var eventLoops = Environment.number("EVENT_LOOPS", default: 1)

  @Option(help: "trace, debug, info, notice, warning, error or critical.")
  var logLevel = Environment.logLevel("LOG_LEVEL", default: .info)

  /// As it stands in a URL: an IPv6 address in brackets, RFC 3986 section 3.2.2.
  var urlHost: String { host.contains(":") ? "[\(host)]" : host }

  mutating func validate() throws {
    try Environment.validate()
    try atLeast(1, ("--event-loops", eventLoops))
  }

  func apply(to server: inout ServerConfiguration) {
    server.host = host
    server.port = port
    server.eventLoops = eventLoops
  }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}

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
    try atLeast(
      1, ("--request-line-bytes", requestLineBytes), ("--header-block-bytes", headerBlockBytes),
      ("--header-fields", headerFields), ("--pipelining-depth", pipeliningDepth))
    try atLeast(0, ("--discarded-body-bytes", discardedBodyBytes))
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

  @Option(help: "Silence within a body; then 408.")
  var bodyReadTimeoutMilliseconds = Environment.number(
    "BODY_READ_TIMEOUT_MILLISECONDS", default: defaults.bodyReadTimeoutMilliseconds)

  @Option(help: "A connection without a request; then it is closed.")
  var idleTimeoutMilliseconds = Environment.number(
    "IDLE_TIMEOUT_MILLISECONDS", default: defaults.idleTimeoutMilliseconds)

  @Option(help: "A client that takes nothing of its answer; then it is cut off.")
  var writeStallTimeoutMilliseconds = Environment.number(
    "WRITE_STALL_TIMEOUT_MILLISECONDS", default: defaults.writeStallTimeoutMilliseconds)

  @Option(help: "Requests in flight after SIGTERM; then they are cut.")
  var drainTimeoutMilliseconds = Environment.number(
    "DRAIN_TIMEOUT_MILLISECONDS", default: defaults.drainTimeoutMilliseconds)

  mutating func validate() throws {
    try Environment.validate()
    try atLeast(
      1, ("--maximum-connections", maximumConnections),
      ("--header-read-timeout-milliseconds", headerReadTimeoutMilliseconds),
      ("--body-read-timeout-milliseconds", bodyReadTimeoutMilliseconds),
      ("--idle-timeout-milliseconds", idleTimeoutMilliseconds),
      ("--write-stall-timeout-milliseconds", writeStallTimeoutMilliseconds))
    try atLeast(0, ("--drain-timeout-milliseconds", drainTimeoutMilliseconds))
  }

  func apply(to server: inout ServerConfiguration) {
    server.maximumConnections = maximumConnections
    server.headerReadTimeoutMilliseconds = headerReadTimeoutMilliseconds
    server.bodyReadTimeoutMilliseconds = bodyReadTimeoutMilliseconds
    server.idleTimeoutMilliseconds = idleTimeoutMilliseconds
    server.writeStallTimeoutMilliseconds = writeStallTimeoutMilliseconds
    server.drainTimeoutMilliseconds = drainTimeoutMilliseconds
  }
}

/// How pages are kept and refreshed.
struct PageOptions: ParsableArguments {
  private static let defaults = FeedServiceConfiguration(databasePath: "")

  @Option(help: "How long a cache may keep an answer.")
  var cacheMaxAgeSeconds = Environment.number(
    "CACHE_MAX_AGE_SECONDS", default: defaults.cacheMaxAgeSeconds)

  @Option(help: "How long after that it may show it while it asks again.")
  var cacheStaleWhileRevalidateSeconds = Environment.number(
    "CACHE_STALE_WHILE_REVALIDATE_SECONDS", default: defaults.cacheStaleWhileRevalidateSeconds)

  @Option(help: "How often the database is looked at for what other processes wrote.")
  var refreshIntervalMilliseconds = Environment.number(
    "REFRESH_INTERVAL_MILLISECONDS", default: defaults.refreshIntervalMilliseconds)

  @Option(help: "How many requests that take long run at once.")
  var workerThreads = Environment.number("WORKER_THREADS", default: defaults.workerThreads)

  @Option(help: "How many such requests run or wait; then 503.")
  var workerQueue = Environment.number("WORKER_QUEUE", default: defaults.workerQueue)

  @Option(help: "How long requests are still accepted after SIGTERM, with /readyz at 503.")
  var drainGraceMilliseconds = Environment.number(
    "DRAIN_GRACE_MILLISECONDS", default: defaults.drainGraceMilliseconds)

  mutating func validate() throws {
    try Environment.validate()
    try atLeast(
      0, ("--cache-max-age-seconds", cacheMaxAgeSeconds),
      ("--cache-stale-while-revalidate-seconds", cacheStaleWhileRevalidateSeconds),
      ("--drain-grace-milliseconds", drainGraceMilliseconds))
    try atLeast(
      1, ("--refresh-interval-milliseconds", refreshIntervalMilliseconds),
      ("--worker-threads", workerThreads), ("--worker-queue", workerQueue))
  }

  func apply(to configuration: inout FeedServiceConfiguration) {
    configuration.cacheMaxAgeSeconds = cacheMaxAgeSeconds
    configuration.cacheStaleWhileRevalidateSeconds = cacheStaleWhileRevalidateSeconds
    configuration.refreshIntervalMilliseconds = refreshIntervalMilliseconds
    configuration.workerThreads = workerThreads
    configuration.workerQueue = workerQueue
    configuration.drainGraceMilliseconds = drainGraceMilliseconds
  }
}

/// Throws for the first option below the least value that it may have.
func atLeast(_ least: Int, _ options: (name: String, value: Int)...) throws {
  for (name, value) in options where value < least {
    throw ValidationError("\(name): \(value) is less than \(least)")
  }
}
