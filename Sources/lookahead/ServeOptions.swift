import ArgumentParser

/// Where to listen, and with how many threads.
struct ListeningOptions: ParsableArguments {
  static let defaultHost = "127.0.0.1"

  @Option("host", default: defaultHost, "The address to listen on.") var host: String
  @Option("port") var port: Int
  @Option("event-loops") var eventLoops: Int

  /// As it stands in a URL: an IPv6 address in brackets, RFC 3986 section 3.2.2.
  var urlHost: String { host.contains(":") ? "[\(host)]" : host }
}

/// How large a message may be.
struct MessageOptions: ParsableArguments {
  @Option("request-line-bytes") var requestLineBytes: Int
  @Option("header-block-bytes") var headerBlockBytes: Int
  @Option("header-fields") var headerFields: Int
  @Option("discarded-body-bytes") var discardedBodyBytes: Int
  @Option("pipelining-depth") var pipeliningDepth: Int
}

/// How many connections there may be, and how long each may take.
struct ConnectionOptions: ParsableArguments {
  @Option("maximum-connections") var maximumConnections: Int
  @Option("header-read-timeout-milliseconds") var headerReadTimeoutMilliseconds: Int
  @Option("minimum-body-bytes-per-second") var minimumBodyBytesPerSecond: Int
  @Option("body-read-timeout-milliseconds") var bodyReadTimeoutMilliseconds: Int
  @Option("idle-timeout-milliseconds") var idleTimeoutMilliseconds: Int
  @Option("write-stall-timeout-milliseconds") var writeStallTimeoutMilliseconds: Int
  @Option("minimum-answer-bytes-per-second") var minimumAnswerBytesPerSecond: Int
  @Option("held-answer-bytes") var heldAnswerBytes: Int
  @Option("answer-timeout-milliseconds") var answerTimeoutMilliseconds: Int
  @Option("drain-timeout-milliseconds") var drainTimeoutMilliseconds: Int
}

/// How pages are kept and refreshed.
struct PageOptions: ParsableArguments {
  @Option("cache-max-age-seconds") var cacheMaxAgeSeconds: Int
  @Option("cache-stale-while-revalidate-seconds") var cacheStaleWhileRevalidateSeconds: Int
  @Option("encoded-memory-bytes") var encodedMemoryBytes: Int
  @Option("item-file-bytes") var itemFileBytes: Int
  @Option("compression-minimum-bytes") var compressionMinimumBytes: Int
  @Option("refresh-interval-milliseconds") var refreshIntervalMilliseconds: Int
  @Option("worker-threads") var workerThreads: Int
  @Option("worker-queue") var workerQueue: Int
  @Option("drain-grace-milliseconds") var drainGraceMilliseconds: Int
}

/// Where the media files are, and how long they are kept.
struct MediaOptions: ParsableArguments {
  @Option(help: "The folder of the files under /media/; without one there are none.")
  var mediaRoot: String?

  @Option("media-max-age-seconds") var mediaMaxAgeSeconds: Int

  mutating func validate() throws { mediaRoot = mediaRoot ?? Environment.text("media-root") }
}

/// What is loaded at once, and kept of what was.
struct LoadingOptions: ParsableArguments {
  @Option("batch-records") var batchRecords: Int
  @Option("record-limit-bytes") var recordLimitBytes: Int
  @Option("document-limit-bytes") var documentLimitBytes: Int
  @Option("decompressed-bytes") var decompressedBytes: Int
  @Option("kept-rankings") var keptRankings: Int
  @Option("kept-rankings-seconds") var keptRankingsSeconds: Int
  @Option("maximum-kept-moves") var maximumKeptMoves: Int
}
