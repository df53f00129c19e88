import Backups
import Foundation
import MediaProbe
import Observability
import SQLiteStore
import Service

/// What is known of an option whose value is a number: its row of the table `NumberSetting.all`.
///
/// Its option, its variable, its default, its check, `config` and the service's configuration follow from
/// it; docs/settings.md and the manual are held against it.
struct NumberSetting: Sendable {
  /// Where the service's configuration has it.
  typealias Place = WritableKeyPath<FeedServiceConfiguration, Int> & Sendable

  /// The option's name without its dashes.
  let name: String
  /// What it may be.
  let range: ClosedRange<Int>
  /// What it is where nobody says; nil where nothing is then.
  let fallback: Int?
  /// Nil where whoever has the option puts it in its place.
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

extension NumberSetting {
  private static let day = 86_400
  private static let tenYears = 3_650 * day
  private static let dayMilliseconds = day * 1_000
  private static let gibibyte = 1 << 30
  private static let tebibyte = 1 << 40
  private static let backups = BackupSettings(folder: "")
  private static let probing = ProbeSettings()
  private static let renditions = RenditionMaker.Limits()

  /// Every number that an option takes.
  ///
  /// The upper ends keep every sum and product that the program makes of them within 64 bits, and what it
  /// takes of threads and files within what a machine has.
  static let all: [NumberSetting] = [
    NumberSetting(
      "busy-timeout-milliseconds", 0...dayMilliseconds, \.opening.file.busyTimeoutMilliseconds,
      "How long to wait for another process that writes."),

    // Listening.
    NumberSetting("port", 0...65_535, \.portNumber, "The port; 0 lets the system pick one."),
    NumberSetting(
      "event-loops", 1...128, \.application.server.eventLoops, "Threads that serve connections."),

    // Limits of messages.
    NumberSetting(
      "request-line-bytes", 1...(1 << 20), \.application.server.limits.requestLineBytes,
      "The request line; then 414."),
    NumberSetting(
      "header-block-bytes", 1...(1 << 20), \.application.server.limits.headerBlockBytes,
      "The header fields together; then 431."),
    NumberSetting(
      "header-fields", 1...10_000, \.application.server.limits.headerFields,
      "Header fields; then 431."),
    NumberSetting(
      "discarded-body-bytes", 0...gibibyte, \.application.server.discardedBodyBytes,
      "A body for which the route has no use; then the connection ends."),
    NumberSetting(
      "pipelining-depth", 1...10_000, \.application.server.pipeliningDepth,
      "Requests of one connection that wait for their answers; then reading pauses."),

    // Limits of connections.
    NumberSetting(
      "maximum-connections", 1...1_000_000, \.application.server.maximumConnections,
      "Connections at once; then 503."),
    NumberSetting(
      "header-read-timeout-milliseconds", 1...dayMilliseconds,
      \.application.server.headerReadTimeoutMilliseconds,
      "A request's head from its first byte on; then 408."),
    NumberSetting(
      "minimum-body-bytes-per-second", 0...gibibyte, \.application.server.minimumBodyBytesPerSecond,
      "How fast a body must come on average; else 408."),
    NumberSetting(
      "body-read-timeout-milliseconds", 1...dayMilliseconds,
      \.application.server.bodyReadTimeoutMilliseconds,
      "Silence within a body; then 408."),
    NumberSetting(
      "idle-timeout-milliseconds", 1...dayMilliseconds,
      \.application.server.idleTimeoutMilliseconds,
      "A connection without a request; then it is closed."),
    NumberSetting(
      "write-stall-timeout-milliseconds", 1...dayMilliseconds,
      \.application.server.writeStallTimeoutMilliseconds,
      "In how long a client must take --minimum-answer-bytes-per-second."),
    NumberSetting(
      "minimum-answer-bytes-per-second", 0...gibibyte,
      \.application.server.minimumAnswerBytesPerSecond,
      "How fast an answer must be taken on average; else the client is cut off."),
    NumberSetting(
      "held-answer-bytes", 1...tebibyte, \.application.server.heldAnswerBytes,
      "Memory, of each event loop, for answers that clients do not take; then 503."),
    NumberSetting(
      "answer-timeout-milliseconds", 1...dayMilliseconds,
      \.application.server.answerTimeoutMilliseconds,
      "How long an answer may take to be made; then 503."),
    NumberSetting(
      "drain-timeout-milliseconds", 0...dayMilliseconds,
      \.application.server.drainTimeoutMilliseconds,
      "Requests in flight after SIGTERM; then they are cut."),

    NumberSetting(
      "stream-idle-milliseconds", 1...dayMilliseconds, \.application.server.streamIdleMilliseconds,
      "How long nothing may be sent to a client that listens for events; then a comment is."),

    // Clients.
    // At most one a nanosecond can be counted.
    NumberSetting(
      "requests-per-second", 0...1_000_000_000, \.application.requestsPerSecond,
      "Requests a second for each client address; then 429. 0 does not count."),
    NumberSetting(
      "request-burst", 1...1_000_000_000, \.application.requestBurst,
      "Requests that a client may make at once, where they are counted."),
    NumberSetting(
      "rate-limit-clients", 1...100_000_000, \.application.rateLimitClients,
      "Clients that are told apart; the others share one count."),

    // Pages.
    NumberSetting(
      "cache-max-age-seconds", 0...tenYears, \.application.cacheMaxAgeSeconds,
      "How long a cache may keep an answer."),
    NumberSetting(
      "cache-stale-while-revalidate-seconds", 0...tenYears,
      \.application.cacheStaleWhileRevalidateSeconds,
      "How long after that it may show it while it asks again."),
    NumberSetting(
      "encoded-memory-bytes", 0...tebibyte, \.application.encodedMemoryBytes,
      "Memory for encoded pages; with 0 none is kept there."),
    NumberSetting(
      "item-file-bytes", 0...tebibyte, \.application.itemFileBytes,
      "Length of the file of encoded items beside the database; with 0 there is none."),
    NumberSetting(
      "order-memory-bytes", 1 << 20...tebibyte, \.opening.options.orderMemoryBytes,
      "Memory for the orders of feeds, about; those of others are read when they are asked for."),
    NumberSetting(
      "compression-minimum-bytes", 0...gibibyte, \.application.compressionMinimumBytes,
      "From how many bytes on an answer is compressed."),
    NumberSetting(
      "refresh-interval-milliseconds", 1...dayMilliseconds, \.refreshIntervalMilliseconds,
      "How often the database is looked at for what other processes wrote."),
    NumberSetting(
      "event-listeners", 0...1_000_000, \.application.eventListeners,
      "Clients that listen for events; then 503."),
    NumberSetting(
      "event-look-milliseconds", 1...dayMilliseconds, \.application.eventLookMilliseconds,
      "How often it is looked whether there is news for them."),
    NumberSetting(
      "worker-threads", 1...128, \.application.workerThreads,
      "How many requests that take long run at once, beside one of each other kind."),
    NumberSetting(
      "worker-queue", 1...1_000_000, \.application.workerQueue,
      "How many such requests run or wait, half of them of one client; then 503."
    ),
    NumberSetting(
      "drain-grace-milliseconds", 0...dayMilliseconds, \.application.drainGraceMilliseconds,
      "How long requests are still accepted after SIGTERM, with /readyz at 503."),

    // Caches in front.
    NumberSetting(
      "purge-interval-milliseconds", 0...dayMilliseconds,
      \.application.purgeIntervalMilliseconds,
      "How often at the most a cache is told what changed."),
    NumberSetting(
      "purge-again-milliseconds", 0...dayMilliseconds, \.application.purgeAgainMilliseconds,
      "When it is told the same again, because of answers that were on their way; 0: never."),
    NumberSetting(
      "purge-timeout-milliseconds", 1...dayMilliseconds, \.application.purgeTimeoutMilliseconds,
      "How long it may take to connect to a cache, and to answer; then it is tried again."),
    NumberSetting(
      "purge-keys", 1...1_000_000, \.application.purgeKeys,
      "Keys that wait for a cache; if more do, it is told to forget everything."),

    // Media.
    NumberSetting(
      "media-max-age-seconds", 0...tenYears, \.application.mediaMaxAgeSeconds,
      "How long a cache may keep a media file."),
    NumberSetting(
      "media-compared-bytes", 0...gibibyte, \.application.mediaComparedBytes,
      "A file of at most so many bytes is read for each answer to a URL that names its content."),
    NumberSetting(
      "media-probe-cpu-percent", 0...100, \.mediaProbing.cpuPercent,
      "How much of one processor looking into new media files takes; 0 does not look."),
    NumberSetting(
      "media-probe-interval-seconds", 1...day, \.mediaProbing.intervalSeconds,
      "How often the media root is gone through for what is new or changed."),
    NumberSetting(
      "media-url-seconds", 1...tenYears, \.application.mediaURLSeconds,
      "How long a signed URL holds at the least."),
    NumberSetting(
      "media-url-step-seconds", 1...day, \.application.mediaURLStepSeconds,
      "For how long the signed URLs that are handed out stay the same."),

    // Writes.
    NumberSetting(
      "body-bytes", 1...gibibyte, \.application.server.limits.bodyBytes,
      "The body of a single write; then 413."
    ),
    NumberSetting(
      "import-bytes", 1...(1 << 50), \.application.importBytes, "The body of an import; then 413."),
    NumberSetting(
      "maximum-imports", 1...64, \.application.maximumImports, "Imports at once; then 503."),
    NumberSetting(
      "maximum-waiting-writes", 1...1_000_000, \.opening.options.maximumWaitingWrites,
      "Single writes that wait for the database; then 503."),
    NumberSetting(
      "idempotency-keep-seconds", 1...tenYears, \.opening.options.idempotencyKeepSeconds,
      "How long an Idempotency-Key is remembered."),
    NumberSetting(
      "maximum-idempotency-keys", 1...1_000_000_000, \.opening.options.maximumIdempotencyKeys,
      "How many of them are remembered."),

    // Loading.
    NumberSetting(
      "batch-records", 1...1_000_000, \.application.seeder.batchRecords,
      "So many records of a seed or an import make a transaction."),
    NumberSetting(
      "record-limit-bytes", 1...gibibyte, \.application.seeder.recordLimitBytes,
      "A record may have so many bytes; then it is refused."),
    NumberSetting(
      "document-limit-bytes", 1...gibibyte, \.application.seeder.documentLimitBytes,
      "A JSON document of another format that is read as a whole may have so many bytes."),
    NumberSetting(
      "decompressed-bytes", 1...(1 << 50), \.application.seeder.decompressedLimitBytes,
      "A compressed input may stand for so many bytes."),
    NumberSetting(
      "kept-rankings", 1...1_000_000, \.opening.options.keptRankings,
      "So many rankings of a feed are kept for the cursors that name them."),
    NumberSetting(
      "kept-rankings-seconds", 0...tenYears, \.opening.options.keptRankingsSeconds,
      "How long a ranking is kept after it was the current one, beyond that number."),
    NumberSetting(
      "maximum-kept-moves", 1...1_000_000_000, \.opening.options.maximumKeptMoves,
      "Moves of entries that are kept for that, at the most."),

    // Care of the database.
    NumberSetting(
      "backup-interval-seconds", 1...tenYears, default: backups.intervalSeconds,
      "The time from one backup to the next."),
    NumberSetting(
      "backups-kept", 1...1_000_000, default: backups.kept,
      "So many backups are kept; the oldest go."),
    NumberSetting(
      "wal-limit-bytes", (1 << 20)...tebibyte, \.opening.file.logLimitBytes,
      "A larger write-ahead log is brought into the database and cut."),
    NumberSetting(
      "checkpoint-interval-seconds", 1...day, \.checkpointIntervalSeconds,
      "How often the write-ahead log is looked at."),

    // Log and figures.
    NumberSetting(
      "feed-figures", 0...10_000, \.application.feedFigures,
      "Of how many feeds /metrics tells items (the largest) and requests (the busiest)."),
    NumberSetting(
      "log-buffer-bytes", 4_096...gibibyte, default: LogSink.defaultMaximumBytes,
      "Lines that wait to be written; then they are dropped and counted."),

    // Of other commands.
    NumberSetting(
      "generate", 1...1_000_000_000, default: nil,
      "Make up so many posts instead of reading files."),
    // Times before the year 0 cannot be told.
    NumberSetting(
      "older-than", 0...700_000, default: nil, "Posts published so many days ago or earlier go."),
    NumberSetting(
      "keep-posts", 0...1_000_000_000, default: nil,
      "So many posts stay at the top of each feed, however old they are."),
    NumberSetting(
      "timeout-milliseconds", 1...dayMilliseconds, default: 2_000,
      "How long connecting and answering may take together."),

    // Of looking into media files.
    NumberSetting(
      "probe-timeout-milliseconds", 1...dayMilliseconds, default: probing.timeMilliseconds,
      "How long decoding a file's first frame may take, and fetching what is read of a URL."),
    NumberSetting(
      "probe-file-bytes", 1...tebibyte, default: probing.fileBytes,
      "A larger file is not looked into."),
    NumberSetting(
      "probe-read-timeout-milliseconds", 1...dayMilliseconds,
      default: probing.readMilliseconds, "How long reading all of a file may take."),
    NumberSetting(
      "probe-memory-bytes", (1 << 20)...tebibyte, default: probing.memoryBytes,
      "The address space of each program that decodes or fetches."),
    NumberSetting(
      "probe-url-bytes", 65_536...tebibyte, default: probing.remoteBytes,
      "How much of one URL is read."),
    NumberSetting(
      "rendition-timeout-milliseconds", 1...dayMilliseconds, default: renditions.timeMilliseconds,
      "How long making one rendition may take."),
    NumberSetting(
      "rendition-memory-bytes", (1 << 20)...tebibyte, default: renditions.memoryBytes,
      "The address space of each program that makes a rendition."),
    NumberSetting(
      "jobs", 1...256, default: ProcessInfo.processInfo.activeProcessorCount,
      "How many files are looked into, or simulations run, at once."),

    // Of the lab.
    NumberSetting(
      "items", 1...100_000, default: 1_000, "How many items a simulated viewer looks at."),
    NumberSetting(
      "repeats", 1...10_000, default: 10, "How many runs each strategy has on each network."),
    NumberSetting(
      "precision", 1...1_000, default: nil,
      "Repeats go on until loaders per 1000 are known so closely, at most to 1000."),
    NumberSetting(
      "budget-kilobytes", 0...1_000_000_000, default: nil,
      "The best setting has no more kilobytes an item; else no more than the current one."),
    NumberSetting(
      "megabyte-loaders", 0...1_000_000, default: nil,
      "The best setting has the least sum: a megabyte an item counts as so many loaders per 1000."),
    NumberSetting(
      "gigabyte-cents", 0...1_000_000, default: 500,
      "What a gigabyte costs whoever loads it, in hundredths of money, for the report."),
    NumberSetting("seed", 0...1_000_000_000, default: 1, "What all random numbers come from."),
    NumberSetting(
      "margin", 0...1_000, default: 2, "How many loaders per 1000 items are no difference."),
  ]
}
