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
  /// Within which limits that bucket is asked.
  package var mediaStore = MediaStoreSettings()
  /// How clients get what is in the bucket.
  package var mediaDelivery = MediaDelivery.through
  /// Where uploads to the bucket are kept until they are whole; without it there are none.
  package var mediaSpoolFolder: String?
  /// Of the HTTP server: addresses, limits and deadlines.
  package var server = ServerConfiguration()

  /// The tokens of which writers present one (RFC 6750 section 2.1); without any, writes are off.
  package var writeTokens: [WriteToken] = []
  /// Whether browsers get a page to look at.
  package var hasPage = true
  /// The file of the lab's last report, which the page shows; it may appear, and be replaced, at any time.
  package var labReport: String?
  /// How clients reach the server, without a slash at the end: what documents for readers of feeds name with
  /// a host begins so. Nil: `http` and the host that a request names.
  package var publicURL: String?
  /// For which hosts, beside that of the public URL, such documents are answered; without any, for those of this
  /// machine: the address that the client reached and loopback names.
  package var allowedHosts: [HostAndPort] = []
  /// How large the stream of an import may be.
  package var importBytes = 1 << 40
  /// How many imports run at once; one more is answered with 503.
  package var maximumImports = 2
  /// How an import cuts its stream into transactions.
  package var seeder = Seeder()

  /// How many requests a second each client may make in the long run; 0 does not count them.
  package var requestsPerSecond = 0
  /// How many it may make at once.
  package var requestBurst = 100
  /// How many clients are counted separately; the others share one count.
  package var rateLimitClients = 65_536
  /// Proxies whose `X-Forwarded-For` is believed.
  package var trustedProxies: [IPAddressBlock] = []

  /// How long a client may keep a page without asking again.
  package var cacheMaxAgeSeconds = 10
  /// How long after that a cache may show it while it asks again.
  package var cacheStaleWhileRevalidateSeconds = 60
  /// In which field answers have the keys by which caches in front are told to forget them; nil leaves it out.
  package var cacheKeyField: CacheKeyField? = .surrogateKey
  /// The caches in front that are told what changed; without `cacheKeyField` none can be.
  package var purgeTargets: [HTTPTarget] = []
  /// How often each is told at the most.
  package var purgeIntervalMilliseconds = 250
  /// When it is told the same for the second time, because of answers that were on their way at the first; 0: never.
  package var purgeAgainMilliseconds = 1_000
  /// How long it may take to connect to it, and to answer.
  package var purgeTimeoutMilliseconds = 2_000
  /// How many keys are kept for one that does not answer; for more, it is told to forget everything.
  package var purgeKeys = 10_000
  /// How long a client may keep a media file without asking again.
  package var mediaMaxAgeSeconds = 30 * 86_400
  /// A media file of at most this many bytes is read for each answer to a URL that names its content.
  package var mediaComparedBytes = 16 << 20
  /// The keys of signed URLs, none of them empty: the first one signs, and all are accepted. Without keys, URLs of
  /// media files are not signed.
  package var mediaSigningKeys: [[UInt8]] = []
  /// How long a signed URL holds at the least from when it is handed out; no less than pages are kept.
  package var mediaURLSeconds = 6 * 3600
  /// For how long the URLs that are handed out stay the same.
  package var mediaURLStepSeconds = 3600
  /// By which they expire: seconds since 1970.
  var mediaURLClock: @Sendable () -> Int = { WallClock.secondsSince1970 }
  /// How many media files may be open at once; a request for one more is answered with 503. `serve` sets
  /// what the process's descriptors leave beside connections, so that files starve no new client.
  package var openMediaFiles = Int.max
  /// How large a media file may be that is put here.
  package var mediaUploadBytes = 4 << 30
  /// How many bytes the files of the media folder may have together for one more to be put there.
  package var mediaQuotaBytes = 1 << 40
  /// How many media files are received at once.
  package var maximumMediaUploads = 64
  /// How many are received or wait for that; one more is answered with 503.
  package var mediaUploadQueue = 4096
  /// How many uploads that may be continued are kept as long as they are not complete; one more is answered with 503.
  package var maximumPartialUploads = 1_000
  /// How many bytes they may come to have together; one that would exceed it is answered with 507.
  package var partialUploadBytes = 64 << 30
  /// How long an upload that may be continued is kept.
  package var partialUploadSeconds = 86_400
  /// How many media files may wait for smaller versions; one more is answered with 503.
  package var waitingRenditions = 100
  /// What making one of these may cost.
  package var renditions = {
    var limits = RenditionMaker.Limits()
    // Clients of this machine go first; on one that is always busy it gets on all the same.
    limits.nice = 15
    return limits
  }()
  /// Looks into media files that are put here.
  package var mediaProbe = MediaProbe()
  /// How much memory encoded pages take at the most: three quarters of it for whole pages with their
  /// heads, a quarter for compressed bodies.
  package var encodedMemoryBytes = 64 << 20
  /// The maximum size of the unnamed file that holds encoded items; it does not count as memory of the
  /// process. 0 disables the file.
  package var itemFileBytes = 1 << 30
  /// From how many bytes on a body is compressed.
  package var compressionMinimumBytes = 1024

  /// What clients may report.
  package var reports = ReportSettings()
  /// By which the tokens of reports expire: seconds since 1970.
  var reportTokenClock: @Sendable () -> Int = { WallClock.secondsSince1970 }
  /// Which pages hand out; nil where there is no key.
  var reportTokens: ReportTokens? {
    reports.taken == .off || reports.keys.isEmpty
      ? nil
      : ReportTokens(
        keys: reports.keys, seconds: reports.tokenSeconds, now: reportTokenClock)
  }
  /// How often experiments are looked at, and decided; 0 leaves that to other servers of the database.
  package var experimentSeconds = 60
  /// By which reports are counted: hours since 1970.
  var reportClock: @Sendable () -> Int = { WallClock.secondsSince1970 / 3600 }
  /// Of the addresses that report; nil where that is not counted.
  var reportRate: RequestRate? {
    reports.perMinute == 0
      ? nil
      : RequestRate(
        perMinute: reports.perMinute, burst: reports.perMinute, maximumClients: rateLimitClients)
  }

  /// Who is told what changed.
  package var webhooks = WebhookSettings()
  /// How many changes the database keeps for those who read them from a place on.
  package var keptChanges = 200_000
  /// How many clients may listen for events; one more is answered with 503.
  package var eventListeners = 5000
  /// How often it is looked whether there is news for them.
  package var eventLookMilliseconds = 100
  /// How many requests that take long run at once.
  package var workerThreads = 2
  /// How many such requests run or wait at the most; one more is answered with 503.
  package var workerQueue = 256
  /// How long requests are still accepted after `SIGTERM`, while the server says that it is not ready.
  package var drainGraceMilliseconds = 0

  /// Of how many feeds, the largest, `/metrics` tells how many items they have.
  package var feedFigures = 100
  /// Where figures are kept.
  package var figures = PrometheusRegistry()
  /// Where the lines of requests go; nil writes none.
  package var requestLog: LogSink?

  /// Where the files without names are that hold encoded items and pages.
  package var scratchFolder: String

  /// The defaults, with this folder for scratch files.
  package init(scratchFolder: String) {
    self.scratchFolder = scratchFolder
  }
}

extension ApplicationConfiguration {
  /// What an operator can set: what a client may ask for.
  package static let clientNumbers: [SettableNumber<Self>] = [
    // At most one a nanosecond can be counted.
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

  /// What an operator can set: how pages are kept.
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

  /// What an operator can set: how caches in front are told what changed.
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

  /// What an operator can set: media files.
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

  /// What an operator can set: writes.
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

  /// What an operator can set: reports.
  package static let reportNumbers: [SettableNumber<Self>] = [
    .init(
      "experiment-seconds", 0...3_600, \.experimentSeconds,
      "Interval at which experiments are checked and decided; 0 leaves that to other servers.")
  ]

  /// What an operator can set: figures.
  package static let logNumbers: [SettableNumber<Self>] = [
    .init(
      "feed-figures", 0...10_000, \.feedFigures,
      "Number of feeds in /metrics: the largest by items and the busiest by requests.")
  ]
}
