import Backups
import Foundation
import MediaProbe
import Observability
import SQLiteStore
import Service

/// The facts about an option whose value is a number: its row of the table `NumberSetting.all`.
///
/// Its option (`NumberOptions`), its variable, its default, its check, `config` and the service's configuration follow
/// from it; tests compare docs/settings.md and the manual with it.
struct NumberSetting: Sendable {
  /// Where the service's configuration has it.
  typealias Place = WritableKeyPath<FeedServiceConfiguration, Int> & Sendable

  /// The option's name without its dashes.
  let name: String
  /// What it may be.
  let range: ClosedRange<Int>
  /// The default; nil if there is none.
  let fallback: Int?
  /// Nil if the owner of the option applies the value itself.
  let place: Place?
  /// What `--help` says of it.
  let help: String

  /// A setting of the service, whose default is the configuration's own.
  init(_ name: String, _ range: ClosedRange<Int>, _ place: Place, _ help: String) {
    self.init(name, range, default: Self.defaults[keyPath: place], help, place: place)
  }

  /// Another number.
  init(
    _ name: String, _ range: ClosedRange<Int>, default fallback: Int?, _ help: String,
    place: Place? = nil
  ) {
    self.name = name
    self.range = range
    self.fallback = fallback
    self.place = place
    self.help = help
  }

  private static let defaults = FeedServiceConfiguration(databasePath: "")
  private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

  /// The row of this name, if it has one.
  static func named(_ name: String) -> NumberSetting? { byName[name] }

  /// What is wrong with a number; nil where it is within the range.
  func problem(with number: Int) -> String? {
    if number < range.lowerBound { return "\(number) is less than \(range.lowerBound)" }
    if number > range.upperBound { return "\(number) is more than \(range.upperBound)" }
    return nil
  }
}

extension FeedServiceConfiguration {
  /// The port as the other numbers are.
  var portNumber: Int {
    get { Int(application.server.port) }
    set { application.server.port = UInt16(clamping: newValue) }
  }
}

private let day = 86_400
private let tenYears = 3_650 * day
private let dayMilliseconds = day * 1_000
private let gibibyte = 1 << 30
private let tebibyte = 1 << 40
private let backups = BackupSettings(folder: "")
private let probing = ProbeSettings()

extension NumberSetting {
  /// Every number that an option takes.
  ///
  /// The upper ends keep every sum and product that the program makes of them within 64 bits, and what it
  /// takes of threads and files within what a machine has.
  static let all: [NumberSetting] =
    others
    + [
      ListeningOptions.numbers,
      MessageOptions.numbers,
      ConnectionOptions.numbers,
      ClientOptions.numbers,
      PageOptions.numbers,
      CacheOptions.numbers,
      MediaOptions.numbers,
      WriteOptions.numbers,
      LoadingOptions.numbers,
      WebhookOptions.numbers,
      CareOptions.numbers,
      ReportOptions.numbers,
      TuneOptions.numbers,
      LogOptions.numbers,
    ].joined()

  /// Of other commands, or of options with a property.
  private static let others: [NumberSetting] = [
    NumberSetting(
      "busy-timeout-milliseconds", 0...dayMilliseconds, \.opening.file.busyTimeoutMilliseconds,
      "Time to wait for another process that writes."),
    NumberSetting(
      "backup-interval-seconds", 1...tenYears, default: backups.intervalSeconds,
      "Interval between two backups."),
    NumberSetting(
      "backups-kept", 1...1_000_000, default: backups.kept,
      "Number of backups that are kept; the oldest are deleted."),
    NumberSetting(
      "backup-command-seconds", 1...day, default: backups.commandSeconds,
      "Time that --backup-command may take; then it is ended."),
    NumberSetting(
      "again-days", 0...3_650, default: 30,
      "Days for which a policy that was tried and lost is not tried again."),
    NumberSetting(
      "share", 1...50, default: 50, "Sessions that have the policy at the most, in percent."),
    NumberSetting(
      "margin-percent", 0...100, default: 5,
      "What is no difference that matters, in percent of loaders."),
    NumberSetting("days", 1...3_650, default: 14, "Days after which it ends undecided."),
    NumberSetting(
      "hours", 1...87_600, default: 24, "Number of hours to show, up to now."),
    NumberSetting(
      "log-buffer-bytes", 4_096...gibibyte, default: LogSink.defaultMaximumBytes,
      "Memory for log lines that wait to be written; more are dropped and counted."),
    NumberSetting(
      "generate", 1...1_000_000_000, default: nil,
      "Number of posts to generate instead of reading files."),
    // Times before the year 0 cannot be told.
    NumberSetting(
      "older-than", 0...700_000, default: nil,
      "Delete what is this many days old: posts by their time, media files by their last change."),
    NumberSetting(
      "keep-posts", 0...1_000_000_000, default: nil,
      "Number of posts to keep at the top of each feed, whatever their age."),
    NumberSetting(
      "timeout-milliseconds", 1...dayMilliseconds, default: 2_000,
      "Time for connecting and the answer together."),
    // Of looking into media files.
    NumberSetting(
      "probe-timeout-milliseconds", 1...dayMilliseconds, default: probing.timeMilliseconds,
      "Time to decode a file's first frame, and to fetch what is read of a URL."),
    NumberSetting(
      "probe-file-bytes", 1...tebibyte, default: probing.fileBytes,
      "Maximum length of a file that is probed."),
    NumberSetting(
      "probe-read-timeout-milliseconds", 1...dayMilliseconds,
      default: probing.readMilliseconds, "Time to read all of a file."),
    NumberSetting(
      "probe-memory-bytes", (1 << 20)...tebibyte, default: probing.memoryBytes,
      "Address space of each program that decodes or fetches."),
    NumberSetting(
      "probe-url-bytes", 65_536...tebibyte, default: probing.remoteBytes,
      "Maximum number of bytes that are read of one URL."),
    NumberSetting(
      "jobs", 1...256, default: ProcessInfo.processInfo.activeProcessorCount,
      "Number of files that are probed, or simulations that run, at once."),
    // Of the lab.
    NumberSetting(
      "items", 1...100_000, default: 1_000, "Number of items that a simulated viewer looks at."),
    NumberSetting(
      "repeats", 1...10_000, default: 10, "Number of runs of each strategy on each network."),
    NumberSetting(
      "precision", 1...1_000, default: nil,
      "Repeat until the confidence interval of loaders per 1000 is this narrow, at most 1000 times."
    ),
    NumberSetting(
      "budget-kilobytes", 0...1_000_000_000, default: nil,
      "Maximum kilobytes an item of the best setting; without it, those of the current setting."),
    NumberSetting(
      "megabyte-loaders", 0...1_000_000, default: nil,
      "Rate settings by a sum: a megabyte an item counts as this many loaders per 1000."),
    NumberSetting("seed", 0...1_000_000_000, default: 1, "Seed of all random numbers."),
    NumberSetting(
      "margin", 0...1_000, default: 2,
      "Difference in loaders per 1000 items, or in milliseconds of delay an item, that does not count."
    ),
  ]
}

extension ListeningOptions: NumberGroup {
  static let numbers: [NumberSetting] = [
    NumberSetting("port", 0...65_535, \.portNumber, "Port to listen on; 0 lets the system choose."),
    NumberSetting(
      "event-loops", 1...128, \.application.server.eventLoops,
      "Number of threads that serve connections."),
  ]
}

/// How large a message may be.
enum MessageOptions: NumberGroup {
  static let numbers: [NumberSetting] = [
    NumberSetting(
      "request-line-bytes", 1...(1 << 20), \.application.server.limits.requestLineBytes,
      "Maximum length of the request line; a longer one gets 414."),
    NumberSetting(
      "header-block-bytes", 1...(1 << 20), \.application.server.limits.headerBlockBytes,
      "Maximum length of all header fields together; more gets 431."),
    NumberSetting(
      "header-fields", 1...10_000, \.application.server.limits.headerFields,
      "Maximum number of header fields; more gets 431."),
    NumberSetting(
      "discarded-body-bytes", 0...gibibyte, \.application.server.discardedBodyBytes,
      "Maximum length of a body that the route does not read; a longer one closes the connection."),
    NumberSetting(
      "pipelining-depth", 1...10_000, \.application.server.pipeliningDepth,
      "Maximum number of unanswered requests on a connection; reading pauses until one is answered."
    ),
  ]
}

/// How many connections there may be, and how long each may take.
enum ConnectionOptions: NumberGroup {
  static let numbers: [NumberSetting] = [
    NumberSetting(
      "maximum-connections", 1...1_000_000, \.application.server.maximumConnections,
      "Maximum number of connections; one more gets 503."),
    NumberSetting(
      "header-read-timeout-milliseconds", 1...dayMilliseconds,
      \.application.server.headerReadTimeoutMilliseconds,
      "Time for a request's head, from its first byte; then 408."),
    NumberSetting(
      "minimum-body-bytes-per-second", 0...gibibyte, \.application.server.minimumBodyBytesPerSecond,
      "Minimum average rate of a body; a slower one gets 408."),
    NumberSetting(
      "body-read-timeout-milliseconds", 1...dayMilliseconds,
      \.application.server.bodyReadTimeoutMilliseconds,
      "Time without a byte within a body; then 408."),
    NumberSetting(
      "idle-timeout-milliseconds", 1...dayMilliseconds,
      \.application.server.idleTimeoutMilliseconds,
      "Time until a connection without a request is closed."),
    NumberSetting(
      "write-stall-timeout-milliseconds", 1...dayMilliseconds,
      \.application.server.writeStallTimeoutMilliseconds,
      "Time over which --minimum-answer-bytes-per-second is averaged."),
    NumberSetting(
      "minimum-answer-bytes-per-second", 0...gibibyte,
      \.application.server.minimumAnswerBytesPerSecond,
      "Minimum average rate at which a client reads an answer; a slower one is disconnected."),
    NumberSetting(
      "held-answer-bytes", 1...tebibyte, \.application.server.heldAnswerBytes,
      "Memory of each event loop for answers that clients have not read yet; beyond it, 503."),
    NumberSetting(
      "answer-timeout-milliseconds", 1...dayMilliseconds,
      \.application.server.answerTimeoutMilliseconds,
      "Time to make an answer; then 503."),
    NumberSetting(
      "drain-timeout-milliseconds", 0...dayMilliseconds,
      \.application.server.drainTimeoutMilliseconds,
      "Time for requests in flight after SIGTERM; then their connections are closed."),
    NumberSetting(
      "stream-idle-milliseconds", 1...dayMilliseconds, \.application.server.streamIdleMilliseconds,
      "Time without an event after which a listener is sent a comment."),
  ]
}

extension ClientOptions: NumberGroup {
  static let numbers: [NumberSetting] = [
    // At most one a nanosecond can be counted.
    NumberSetting(
      "requests-per-second", 0...1_000_000_000, \.application.requestsPerSecond,
      "Maximum requests a second for each client address; more get 429. 0 sets no limit."),
    NumberSetting(
      "request-burst", 1...1_000_000_000, \.application.requestBurst,
      "Requests that a client may make at once within --requests-per-second."),
    NumberSetting(
      "rate-limit-clients", 1...100_000_000, \.application.rateLimitClients,
      "Number of client addresses with a count of their own; all others share one."),
  ]
}

extension PageOptions: NumberGroup {
  static let numbers: [NumberSetting] = [
    NumberSetting(
      "cache-max-age-seconds", 0...tenYears, \.application.cacheMaxAgeSeconds,
      "Time for which a cache may keep an answer."),
    NumberSetting(
      "cache-stale-while-revalidate-seconds", 0...tenYears,
      \.application.cacheStaleWhileRevalidateSeconds,
      "Time after that in which a cache may serve the answer while it revalidates."),
    NumberSetting(
      "encoded-memory-bytes", 0...tebibyte, \.application.encodedMemoryBytes,
      "Memory for encoded pages; 0 keeps none."),
    NumberSetting(
      "item-file-bytes", 0...tebibyte, \.application.itemFileBytes,
      "Maximum length of the file of encoded items beside the database; 0 makes no file."),
    NumberSetting(
      "order-memory-bytes", 1 << 20...tebibyte, \.opening.options.orderMemoryBytes,
      "Approximate memory for the orders of feeds; the least recently used are evicted."),
    NumberSetting(
      "compression-minimum-bytes", 0...gibibyte, \.application.compressionMinimumBytes,
      "Minimum length of an answer to compress."),
    NumberSetting(
      "refresh-interval-milliseconds", 1...dayMilliseconds, \.refreshIntervalMilliseconds,
      "Interval at which the server looks for writes of other processes."),
    NumberSetting(
      "event-listeners", 0...1_000_000, \.application.eventListeners,
      "Maximum number of clients that listen for events; one more gets 503."),
    NumberSetting(
      "event-look-milliseconds", 1...dayMilliseconds, \.application.eventLookMilliseconds,
      "Interval at which the server looks for news for them."),
    NumberSetting(
      "worker-threads", 1...128, \.application.workerThreads,
      "Number of long requests that run at once, beside one of each other kind."),
    NumberSetting(
      "worker-queue", 1...1_000_000, \.application.workerQueue,
      "Maximum number of long requests that run or wait, half of them from one client; then 503."
    ),
    NumberSetting(
      "drain-grace-milliseconds", 0...dayMilliseconds, \.application.drainGraceMilliseconds,
      "Time after SIGTERM in which requests are still accepted while /readyz says 503."),
  ]
}

extension CacheOptions: NumberGroup {
  static let numbers: [NumberSetting] = [
    NumberSetting(
      "purge-interval-milliseconds", 0...dayMilliseconds,
      \.application.purgeIntervalMilliseconds,
      "Minimum interval between two purges of a cache."),
    NumberSetting(
      "purge-again-milliseconds", 0...dayMilliseconds, \.application.purgeAgainMilliseconds,
      "Time after which a purge is repeated, for answers that were in flight; 0 repeats none."),
    NumberSetting(
      "purge-timeout-milliseconds", 1...dayMilliseconds, \.application.purgeTimeoutMilliseconds,
      "Time to connect to a cache, and for its answer; then the purge is tried again."),
    NumberSetting(
      "purge-keys", 1...1_000_000, \.application.purgeKeys,
      "Maximum number of keys that wait for a cache; beyond it, everything is purged."),
  ]
}

extension MediaOptions: NumberGroup {
  static let numbers: [NumberSetting] = [
    NumberSetting(
      "media-max-age-seconds", 0...tenYears, \.application.mediaMaxAgeSeconds,
      "Time for which a cache may keep a media file."),
    NumberSetting(
      "media-compared-bytes", 0...gibibyte, \.application.mediaComparedBytes,
      "Maximum length of a file that is read for each answer to a URL that names its content."),
    NumberSetting(
      "media-store-reads", 1...1024, \.application.mediaStore.reads,
      "Maximum number of requests to a bucket for clients at once; others wait."),
    NumberSetting(
      "media-store-read-queue", 1...1_000_000, \.application.mediaStore.readQueue,
      "Maximum number of clients' requests that read a bucket or wait; one more gets 503."),
    NumberSetting(
      "media-store-writes", 1...1024, \.application.mediaStore.writes,
      "Maximum number of requests to a bucket at once for uploads, lists and probing."),
    NumberSetting(
      "media-store-timeout-milliseconds", 100...dayMilliseconds,
      \.application.mediaStore.timeoutMilliseconds,
      "Time for a request to a bucket; of a file on its way, in which nothing comes or goes."),
    NumberSetting(
      "media-piece-bytes", 4096...(64 << 20), \.application.mediaStore.pieceBytes,
      "Length of the pieces in which a bucket is read; a connection holds at most two."),
    NumberSetting(
      "media-head-memory-bytes", 0...tebibyte, \.application.mediaStore.headMemoryBytes,
      "Memory for the first 64 KiB of objects."),
    NumberSetting(
      "media-look-milliseconds", 0...dayMilliseconds, \.application.mediaStore.lookMilliseconds,
      "Time for which the version of an object in memory counts; then the bucket is asked."),
    NumberSetting(
      "media-probe-cpu-percent", 0...100, \.mediaProbing.cpuPercent,
      "Share of one processor for probing new media files; 0 probes none."),
    NumberSetting(
      "media-probe-interval-seconds", 1...day, \.mediaProbing.intervalSeconds,
      "Interval at which the media root is scanned for new and changed files."),
    NumberSetting(
      "media-upload-bytes", 1...(1 << 50), \.application.mediaUploadBytes,
      "Maximum length of a media file that is uploaded; a longer one gets 413."),
    NumberSetting(
      "media-quota-bytes", 1...(1 << 53), \.application.mediaQuotaBytes,
      "Maximum size of all media files; an upload that exceeds it gets 507."),
    NumberSetting(
      "maximum-media-uploads", 1...1024, \.application.maximumMediaUploads,
      "Maximum number of media files that are received at once; others wait."),
    NumberSetting(
      "media-upload-queue", 1...1_000_000, \.application.mediaUploadQueue,
      "Maximum number of uploads that run or wait; one more gets 503."),
    NumberSetting(
      "maximum-partial-uploads", 1...100_000, \.application.maximumPartialUploads,
      "Maximum number of resumable uploads that are not complete; one more gets 503."),
    NumberSetting(
      "partial-upload-bytes", 1...(1 << 53), \.application.partialUploadBytes,
      "Maximum size of all resumable uploads that are not complete; one that could exceed it gets 507."
    ),
    NumberSetting(
      "partial-upload-seconds", 1...tenYears, \.application.partialUploadSeconds,
      "Time for which a resumable upload is kept; then it is removed."),
    NumberSetting(
      "waiting-renditions", 1...100_000, \.application.waitingRenditions,
      "Maximum number of media files that wait for smaller versions; one more gets 503."),
    NumberSetting(
      "media-url-seconds", 1...tenYears, \.application.mediaURLSeconds,
      "Minimum time for which a signed URL is valid."),
    NumberSetting(
      "media-url-step-seconds", 1...day, \.application.mediaURLStepSeconds,
      "Time for which the server hands out the same signed URLs."),
    NumberSetting(
      "rendition-timeout-milliseconds", 1...dayMilliseconds,
      \.application.renditions.timeMilliseconds,
      "Time to make one rendition, without the time in which no processor is free."),
    NumberSetting(
      "rendition-memory-bytes", (1 << 20)...tebibyte, \.application.renditions.memoryBytes,
      "Address space of each program that makes a rendition."),
    NumberSetting(
      "rendition-nice", 0...19, \.application.renditions.nice,
      "How nice programs that make renditions are; at 19 they have a processor only while no other process wants it."
    ),
  ]
}

extension WriteOptions: NumberGroup {
  static let numbers: [NumberSetting] = [
    NumberSetting(
      "body-bytes", 1...gibibyte, \.application.server.limits.bodyBytes,
      "Maximum length of the body of a single write; a longer one gets 413."
    ),
    NumberSetting(
      "import-bytes", 1...(1 << 50), \.application.importBytes,
      "Maximum length of the body of an import; a longer one gets 413."),
    NumberSetting(
      "maximum-imports", 1...64, \.application.maximumImports,
      "Maximum number of imports at once; one more gets 503."),
    NumberSetting(
      "maximum-waiting-writes", 1...1_000_000, \.opening.options.maximumWaitingWrites,
      "Maximum number of single writes that wait for the database; one more gets 503."),
    NumberSetting(
      "idempotency-keep-seconds", 1...tenYears, \.opening.options.idempotencyKeepSeconds,
      "Time for which an Idempotency-Key is kept."),
    NumberSetting(
      "maximum-idempotency-keys", 1...1_000_000_000, \.opening.options.maximumIdempotencyKeys,
      "Maximum number of Idempotency-Keys that are kept; the oldest are deleted."),
    NumberSetting(
      "kept-changes", 1_000...1_000_000_000, \.application.keptChanges,
      "Number of changes that are kept for clients that read what changed."),
  ]
}

/// What is loaded at once, and kept of what was.
enum LoadingOptions: NumberGroup {
  static let numbers: [NumberSetting] = [
    NumberSetting(
      "batch-records", 1...1_000_000, \.application.seeder.batchRecords,
      "Number of records of a seed or an import in one transaction."),
    NumberSetting(
      "record-limit-bytes", 1...gibibyte, \.application.seeder.recordLimitBytes,
      "Maximum length of a record; a longer one is refused."),
    NumberSetting(
      "document-limit-bytes", 1...gibibyte, \.application.seeder.documentLimitBytes,
      "Maximum length of a JSON document of another format that is read as a whole."),
    NumberSetting(
      "decompressed-bytes", 1...(1 << 50), \.application.seeder.decompressedLimitBytes,
      "Maximum length of a compressed input after decompression."),
    NumberSetting(
      "kept-rankings", 1...1_000_000, \.opening.options.keptRankings,
      "Number of rankings of a feed that are kept for the cursors that name them."),
    NumberSetting(
      "kept-rankings-seconds", 0...tenYears, \.opening.options.keptRankingsSeconds,
      "Time for which further rankings are kept after they were current."),
    NumberSetting(
      "maximum-kept-moves", 1...1_000_000_000, \.opening.options.maximumKeptMoves,
      "Maximum number of moved entries that are kept for old rankings."),
  ]
}

extension WebhookOptions: NumberGroup {
  static let numbers: [NumberSetting] = [
    NumberSetting(
      "webhook-timeout-milliseconds", 1...600_000,
      \.application.webhooks.timeoutMilliseconds, "Time for a webhook's target to answer."),
    NumberSetting(
      "webhook-retry-seconds", 1...day, \.application.webhooks.retrySeconds,
      "Maximum time for which a webhook's target that fails is left alone."),
  ]
}

extension CareOptions: NumberGroup {
  static let numbers: [NumberSetting] = [
    NumberSetting(
      "wal-limit-bytes", (1 << 20)...tebibyte, \.opening.file.logLimitBytes,
      "Length of the write-ahead log beyond which it is checkpointed and truncated."),
    NumberSetting(
      "checkpoint-interval-seconds", 1...day, \.checkpointIntervalSeconds,
      "Interval at which the length of the write-ahead log is checked."),
  ]
}

extension ReportOptions: NumberGroup {
  static let numbers: [NumberSetting] = [
    NumberSetting(
      "report-token-seconds", 1...tenYears, \.application.reports.tokenSeconds,
      "Time for which what a page hands out for reports holds."),
    NumberSetting(
      "report-bytes", 256...(1 << 20), \.application.reports.bytes,
      "Maximum length of a request with reports; a longer one gets 413."),
    NumberSetting(
      "reports-per-minute", 0...1_000_000, \.application.reports.perMinute,
      "Maximum requests with reports a minute for each client address; 0 sets no limit."),
    NumberSetting(
      "report-session-items", 1...1_000_000, \.application.reports.sessionItems,
      "Maximum weight, in items, of what a session reports in an hour; more gets 429."),
    NumberSetting(
      "report-queue", 1...1_000_000, \.application.reports.queue,
      "Maximum number of reports that wait to be written; one more gets 503."),
    NumberSetting(
      "report-flush-milliseconds", 1...dayMilliseconds, \.application.reports.flushMilliseconds,
      "Interval at which reports are written."),
    NumberSetting(
      "remembered-reports", 0...100_000_000, \.application.reports.remembered,
      "Number of reports that are known as counted, should they come again."),
    NumberSetting(
      "report-cells", 1...100_000, \.application.reports.cells,
      "Maximum number of kinds of sessions that are told apart in an hour."),
    NumberSetting(
      "report-days", 1...3_650, \.application.reports.days,
      "Number of days for which what was reported is kept."),
    NumberSetting(
      "report-least-sessions", 1...1_000_000, \.application.reports.leastSessions,
      "Number of sessions below which nothing is shown of a group."),
    NumberSetting(
      "gigabyte-cents", 0...1_000_000, \.application.reports.rates.gigabyteCents,
      "Price of a gigabyte in cents, for the bill."),
    NumberSetting(
      "month-sessions", 1...100_000, \.application.reports.rates.monthSessions,
      "Sessions that a person has in a month, for the bill."),
    NumberSetting(
      "report-queue-items", 0...10_000_000, \.application.reports.queuedItems,
      "Maximum number of items of reports that wait to be written; more are passed over."),
    NumberSetting(
      "report-lookups", 0...100_000, \.application.reports.lookups,
      "Maximum number of items that are looked up each time reports are written."),
    NumberSetting(
      "report-address-views", 0...1_000_000, \.application.reports.addressViews,
      "Maximum views of an item an hour from each client address; 0 sets no limit."),
    NumberSetting(
      "report-items", 0...10_000_000, \.application.reports.watching.items,
      "Maximum number of items of which is learned how long they are watched."),
    NumberSetting(
      "report-promises", 0...10_000_000, \.application.reports.watching.promises,
      "Maximum number of promises in the ledger: a file's version on a network each."),
    NumberSetting(
      "report-halving-hours", 1...87_600, \.application.reports.watching.halvingHours,
      "Number of hours after which a view counts half."),
    NumberSetting(
      "report-publish-seconds", 1...day, \.application.reports.publishSeconds,
      "Interval at which pages may change for what was learned of watching."),
    NumberSetting(
      "report-least-views", 1...1_000_000, \.application.reports.leastViews,
      "Number of views from which on an item's own curve is used alone."),
    NumberSetting(
      "decoder-milliseconds", 1...60_000, \.application.reports.decoderMilliseconds,
      "Time in which a decoder shows a first frame; a later one is a promise not kept."),
    NumberSetting(
      "record-share", 0...1_000, \.application.reports.recordPermille,
      "Of a thousand sessions, how many are asked to share what they were; 0 asks none."),
    NumberSetting(
      "record-bytes", (1 << 20)...tebibyte, \.application.reports.recordBytes,
      "Maximum size of --record-folder; the oldest sessions are deleted."),
    NumberSetting(
      "experiment-seconds", 0...3_600, \.application.experimentSeconds,
      "Seconds between looks at experiments, to decide them; 0 leaves that to other servers."),
  ]
}

extension TuneOptions: NumberGroup {
  static let numbers: [NumberSetting] = [
    NumberSetting(
      "tune-hour", 0...23, \.tuning.hour,
      "Hour of the day, UTC, from which on better policies are looked for: six hours long."),
    NumberSetting(
      "tune-jobs", 1...256, \.tuning.jobs,
      "Processors that the lab takes at the most."),
    NumberSetting(
      "tune-nice", 0...19, \.tuning.nice,
      "How nice the lab is at the least; at 19 it has a processor only while no other process wants it."
    ),
    NumberSetting(
      "tune-seconds", 1...day, \.tuning.seconds,
      "Time to look for a better policy of a feed, by the clock and of processors together."),
    NumberSetting(
      "tune-memory-bytes", (256 << 20)...tebibyte, \.tuning.memoryBytes,
      "Address space of the lab."),
    NumberSetting(
      "tune-sessions", 1...1_000_000_000, \.tuning.sessions,
      "Reported sessions a day from which on a feed is tuned."),
    NumberSetting(
      "tune-parts", 1...10_000, \.tuning.parts,
      "Maximum number of feeds, or networks of feeds, that are tuned: those with the most sessions."
    ),
  ]
}

extension LogOptions: NumberGroup {
  static let numbers: [NumberSetting] = [
    NumberSetting(
      "feed-figures", 0...10_000, \.application.feedFigures,
      "Number of feeds in /metrics: the largest by items and the busiest by requests.")
  ]
}
