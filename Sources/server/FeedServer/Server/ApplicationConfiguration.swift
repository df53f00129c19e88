import HTTPServer
import MediaFiles
import MediaProbe
import Observability
import Seeding
import Sockets
import System

/// Every setting of the application and of its server.
package struct ApplicationConfiguration: Sendable {
  /// The folder of the files under `/media/`, or the address of a bucket; nil if the server has no media files.
  package var mediaRoot: String?
  /// The limits of requests to that bucket.
  package var mediaStore = MediaStoreSettings()
  /// The way in which clients get the files of the bucket.
  package var mediaDelivery = MediaDelivery.through
  /// The folder of incomplete uploads to the bucket; without it, uploads are off.
  package var mediaSpoolFolder: String?
  /// The HTTP server's addresses, limits and deadlines.
  package var server = ServerConfiguration()

  /// The tokens that writers present (RFC 6750 section 2.1); without any, writes are off.
  package var writeTokens: [WriteToken] = []
  /// Whether the server has the page for browsers.
  package var hasPage = true
  /// The file of the lab's last report, which the page shows; the file may be created or replaced at any
  /// time.
  package var labReport: String?
  /// The URL at which clients reach the server, without a slash at the end: the prefix of absolute URLs in
  /// documents for feed readers. `nil`: `http` and the host of the request.
  package var publicURL: String?
  /// The hosts for which such documents are answered, in addition to that of the public URL. If there are
  /// none, those of this machine: the address that the client reached and loopback names.
  package var allowedHosts: [HostAndPort] = []
  /// The maximum size of an import.
  package var importBytes = 1 << 40
  /// The maximum number of imports at once; one more gets 503.
  package var maximumImports = 2
  /// Settings for dividing an import into transactions.
  package var seeder = Seeder()

  /// The maximum requests of a client in a second, in the long run; 0 for no limit.
  package var requestsPerSecond = 0
  /// The maximum requests of a client at once.
  package var requestBurst = 100
  /// The number of clients that are counted separately; the others share one count.
  package var rateLimitClients = 65_536
  /// The proxies whose `X-Forwarded-For` is trusted.
  package var trustedProxies: [IPAddressBlock] = []

  /// The time for which a cache may keep a page without revalidation.
  package var cacheMaxAgeSeconds = 10
  /// The time after that in which a cache may serve the page while it revalidates.
  package var cacheStaleWhileRevalidateSeconds = 60
  /// The field with the keys for purges from caches in front; `nil` to leave it out.
  package var cacheKeyField: CacheKeyField? = .surrogateKey
  /// The caches in front that are purged; this requires `cacheKeyField`.
  package var purgeTargets: [HTTPTarget] = []
  /// The minimum interval between two purges of a cache.
  package var purgeIntervalMilliseconds = 250
  /// The time after which a purge is repeated, for answers that were on their way at the first; 0: never.
  package var purgeAgainMilliseconds = 1_000
  /// The maximum time to connect to a cache, and to answer.
  package var purgeTimeoutMilliseconds = 2_000
  /// The maximum number of keys that wait for a cache; with more, everything is purged.
  package var purgeKeys = 10_000
  /// The time for which a cache may keep a media file without revalidation.
  package var mediaMaxAgeSeconds = 30 * 86_400
  /// The maximum size of a media file that is read for each answer to a URL that names its content.
  package var mediaComparedBytes = 16 << 20
  /// The keys of signed URLs, none of them empty: the first key signs, all keys verify. Without keys, URLs of
  /// media files are not signed.
  package var mediaSigningKeys: [[UInt8]] = []
  /// The minimum time from handing out a signed URL to its expiry; not less than the time for which caches
  /// keep pages.
  package var mediaURLSeconds = 6 * 3600
  /// The time for which handed out URLs stay the same.
  package var mediaURLStepSeconds = 3600
  /// The clock for their expiry: seconds since 1970.
  var mediaURLClock: @Sendable () -> Int = { WallClock.secondsSince1970 }
  /// The maximum number of open media files; a request for one more gets 503. `serve` sets it to the
  /// process's descriptors minus those of connections, so that files starve no new client.
  package var openMediaFiles = Int.max
  /// The maximum size of an uploaded media file.
  package var mediaUploadBytes = 4 << 30
  /// The maximum bytes of all files in the media folder, for uploads.
  package var mediaQuotaBytes = 1 << 40
  /// The number of media files that are received at once.
  package var maximumMediaUploads = 64
  /// The maximum number of uploads that run or wait; one more gets 503.
  package var mediaUploadQueue = 4096
  /// The maximum number of incomplete resumable uploads; one more gets 503.
  package var maximumPartialUploads = 1_000
  /// The maximum bytes that they may come to have together; one that would exceed it gets 507.
  package var partialUploadBytes = 64 << 30
  /// The time for which a resumable upload is kept.
  package var partialUploadSeconds = 86_400
  /// The maximum number of media files that wait for smaller versions; one more gets 503.
  package var waitingRenditions = 100
  /// The limits for making a smaller version.
  package var renditions = {
    var limits = RenditionMaker.Limits()
    // Clients of this machine go first; even on a busy machine, the work continues.
    limits.nice = 15
    return limits
  }()
  /// Analyzes uploaded media files.
  package var mediaProbe = MediaProbe()
  /// The maximum memory for encoded pages: three quarters for whole pages with their heads, a quarter for
  /// compressed bodies.
  package var encodedMemoryBytes = 64 << 20
  /// The maximum size of the unnamed file that holds encoded items, which does not count as memory of the
  /// process; 0 disables the file.
  package var itemFileBytes = 1 << 30
  /// The minimum size of a compressed body.
  package var compressionMinimumBytes = 1024

  /// Settings of clients' reports.
  package var reports = ReportSettings()
  /// The clock for the expiry of report tokens: seconds since 1970.
  var reportTokenClock: @Sendable () -> Int = { WallClock.secondsSince1970 }
  /// The tokens that pages hand out; `nil` without a key.
  var reportTokens: ReportTokens? {
    reports.taken == .off || reports.keys.isEmpty
      ? nil
      : ReportTokens(
        keys: reports.keys, seconds: reports.tokenSeconds, now: reportTokenClock)
  }
  /// The interval between checks of experiments; 0 leaves them to other servers of the database.
  package var experimentSeconds = 60
  /// The clock for counting reports: hours since 1970.
  var reportClock: @Sendable () -> Int = { WallClock.secondsSince1970 / 3600 }
  /// The rate limit of addresses that report; `nil` for no limit.
  var reportRate: RequestRate? {
    reports.perMinute == 0
      ? nil
      : RequestRate(
        perMinute: reports.perMinute, burst: reports.perMinute, maximumClients: rateLimitClients)
  }

  /// Settings of webhooks.
  package var webhooks = WebhookSettings()
  /// The number of changes that the database keeps for readers with a cursor.
  package var keptChanges = 200_000
  /// The maximum number of clients that listen for events; one more gets 503.
  package var eventListeners = 5000
  /// The interval between looks for news for them.
  package var eventLookMilliseconds = 100
  /// The number of slow requests that run at once.
  package var workerThreads = 2
  /// The maximum number of such requests that run or wait; one more gets 503.
  package var workerQueue = 256
  /// The time for which the server accepts requests after `SIGTERM`, while it is not ready.
  package var drainGraceMilliseconds = 0

  /// The number of feeds, the largest, whose number of items `/metrics` has.
  package var feedFigures = 100
  /// The registry of figures.
  package var figures = PrometheusRegistry()
  /// The target of the request log; `nil` for no log.
  package var requestLog: LogSink?

  /// The folder of scratch files: the unnamed file with encoded items, and messages of webhooks while they
  /// are sent.
  package var scratchFolder: String

  /// Creates the defaults, with this folder for scratch files.
  package init(scratchFolder: String) {
    self.scratchFolder = scratchFolder
  }
}

extension ApplicationConfiguration {
  /// Numbers that an operator can set for clients' requests.
  package static let clientNumbers: [SettableNumber<Self>] = [
    // The rate limiter counts at most one request a nanosecond.
    .init(
      "requests-per-second", 0...1_000_000_000, \.requestsPerSecond,
      "Maximum requests a second for each client address; more get 429. 0 sets no limit."),
    .init(
      "request-burst", 1...1_000_000_000, \.requestBurst,
      "Requests that a client may make at once within --requests-per-second."),
    .init(
      "rate-limit-clients", 1...100_000_000, \.rateLimitClients,
      "Number of client addresses with a count of their own; all others share one."),
  ]

  /// Numbers that an operator can set for the caching of pages.
  package static let pageNumbers: [SettableNumber<Self>] = [
    .init(
      "cache-max-age-seconds", 0...Most.tenYearsSeconds, \.cacheMaxAgeSeconds,
      "Time for which a cache may keep an answer."),
    .init(
      "cache-stale-while-revalidate-seconds", 0...Most.tenYearsSeconds,
      \.cacheStaleWhileRevalidateSeconds,
      "Time after that in which a cache may serve the answer while it revalidates."),
    .init(
      "encoded-memory-bytes", 0...Most.tebibyte, \.encodedMemoryBytes,
      "Memory for encoded pages; 0 keeps none."),
    .init(
      "item-file-bytes", 0...Most.tebibyte, \.itemFileBytes,
      "Maximum length of the file of encoded items beside the database; 0 makes no file."),
    .init(
      "compression-minimum-bytes", 0...Most.gibibyte, \.compressionMinimumBytes,
      "Minimum length of an answer to compress."),
    .init(
      "event-listeners", 0...1_000_000, \.eventListeners,
      "Maximum number of clients that listen for events; one more gets 503."),
    .init(
      "event-look-milliseconds", 1...Most.dayMilliseconds, \.eventLookMilliseconds,
      "Interval at which the server checks for new events."),
    .init(
      "worker-threads", 1...128, \.workerThreads,
      "Number of long requests that run at once, beside one of each other kind."),
    .init(
      "worker-queue", 1...1_000_000, \.workerQueue,
      "Maximum number of long requests that run or wait, half of them from one client; then 503."),
    .init(
      "drain-grace-milliseconds", 0...Most.dayMilliseconds, \.drainGraceMilliseconds,
      "Time after SIGTERM in which requests are still accepted while /readyz says 503."),
  ]

  /// Numbers that an operator can set for purges from caches in front.
  package static let cacheNumbers: [SettableNumber<Self>] = [
    .init(
      "purge-interval-milliseconds", 0...Most.dayMilliseconds, \.purgeIntervalMilliseconds,
      "Minimum interval between two purges of a cache."),
    .init(
      "purge-again-milliseconds", 0...Most.dayMilliseconds, \.purgeAgainMilliseconds,
      "Time after which a purge is repeated, for answers that were in flight; 0 repeats none."),
    .init(
      "purge-timeout-milliseconds", 1...Most.dayMilliseconds, \.purgeTimeoutMilliseconds,
      "Time to connect to a cache, and for its answer; then the purge is tried again."),
    .init(
      "purge-keys", 1...1_000_000, \.purgeKeys,
      "Maximum number of keys that wait for a cache; beyond it, everything is purged."),
  ]

  /// Numbers that an operator can set for media files.
  package static let mediaNumbers: [SettableNumber<Self>] = [
    .init(
      "media-max-age-seconds", 0...Most.tenYearsSeconds, \.mediaMaxAgeSeconds,
      "Time for which a cache may keep a media file."),
    .init(
      "media-compared-bytes", 0...Most.gibibyte, \.mediaComparedBytes,
      "Maximum length of a file that is read for each answer to a URL that names its content."),
    .init(
      "media-upload-bytes", 1...(1 << 50), \.mediaUploadBytes,
      "Maximum length of a media file that is uploaded; a longer one gets 413."),
    .init(
      "media-quota-bytes", 1...(1 << 53), \.mediaQuotaBytes,
      "Maximum size of all media files; an upload that exceeds it gets 507."),
    .init(
      "maximum-media-uploads", 1...1024, \.maximumMediaUploads,
      "Maximum number of media files that are received at once; others wait."),
    .init(
      "media-upload-queue", 1...1_000_000, \.mediaUploadQueue,
      "Maximum number of uploads that run or wait; one more gets 503."),
    .init(
      "maximum-partial-uploads", 1...100_000, \.maximumPartialUploads,
      "Maximum number of resumable uploads that are not complete; one more gets 503."),
    .init(
      "partial-upload-bytes", 1...(1 << 53), \.partialUploadBytes,
      "Maximum size of all resumable uploads that are not complete; one that could exceed it gets 507."
    ),
    .init(
      "partial-upload-seconds", 1...Most.tenYearsSeconds, \.partialUploadSeconds,
      "Time for which a resumable upload is kept; then it is removed."),
    .init(
      "waiting-renditions", 1...100_000, \.waitingRenditions,
      "Maximum number of media files that wait for smaller versions; one more gets 503."),
    .init(
      "media-url-seconds", 1...Most.tenYearsSeconds, \.mediaURLSeconds,
      "Minimum time for which a signed URL is valid."),
    .init(
      "media-url-step-seconds", 1...Most.daySeconds, \.mediaURLStepSeconds,
      "Time for which the server hands out the same signed URLs."),
  ]

  /// Numbers that an operator can set for writes.
  package static let writeNumbers: [SettableNumber<Self>] = [
    .init(
      "import-bytes", 1...(1 << 50), \.importBytes,
      "Maximum length of the body of an import; a longer one gets 413."),
    .init(
      "maximum-imports", 1...64, \.maximumImports,
      "Maximum number of imports at once; one more gets 503."),
    .init(
      "kept-changes", 1_000...1_000_000_000, \.keptChanges,
      "Number of changes that are kept for clients that read what changed."),
  ]

  /// Numbers that an operator can set for reports.
  package static let reportNumbers: [SettableNumber<Self>] = [
    .init(
      "experiment-seconds", 0...3_600, \.experimentSeconds,
      "Interval at which experiments are checked and decided; 0 leaves that to other servers.")
  ]

  /// Numbers that an operator can set for figures.
  package static let logNumbers: [SettableNumber<Self>] = [
    .init(
      "feed-figures", 0...10_000, \.feedFigures,
      "Number of feeds in /metrics: the largest by items and the busiest by requests.")
  ]
}
