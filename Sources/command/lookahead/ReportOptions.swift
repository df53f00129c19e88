import ArgumentParser
import FeedServer

/// What clients may report, how much of it, and for how long it is kept.
struct ReportOptions: ParsableArguments {
  @Option(
    help: """
      Whose reports are taken: on, all clients'; signed, those of clients that were given a page of the feed; off, none.
      """)
  var reports = Environment.option("reports") ?? ReportSettings.Taken.on

  @Option(
    help: """
      File of keys, one a line, that sign what pages hand out for reports; without it, they hand out nothing.
      """)
  var reportKeyFile: String?

  @Option("record-share") var recordShare: Int

  @Option(
    help: "Folder of the sessions that clients share, of --record-share of a thousand.")
  var recordFolder: String?

  @Option("record-bytes") var recordBytes: Int
  @Option("report-token-seconds") var reportTokenSeconds: Int
  @Option("report-bytes") var reportBytes: Int
  @Option("reports-per-minute") var reportsPerMinute: Int
  @Option("report-session-items") var reportSessionItems: Int
  @Option("report-queue") var reportQueue: Int
  @Option("report-flush-milliseconds") var reportFlushMilliseconds: Int
  @Option("remembered-reports") var rememberedReports: Int
  @Option("report-cells") var reportCells: Int
  @Option("report-days") var reportDays: Int
  @Option("report-least-sessions") var reportLeastSessions: Int
  @Option("gigabyte-cents") var gigabyteCents: Int
  @Option("month-sessions") var monthSessions: Int
  @Option("report-queue-items") var reportQueueItems: Int
  @Option("report-lookups") var reportLookups: Int
  @Option("report-address-views") var reportAddressViews: Int
  @Option("report-items") var reportItems: Int
  @Option("report-promises") var reportPromises: Int
  @Option("report-halving-hours") var reportHalvingHours: Int
  @Option("report-publish-seconds") var reportPublishSeconds: Int
  @Option("report-least-views") var reportLeastViews: Int
  @Option("decoder-milliseconds") var decoderMilliseconds: Int
  @Option("experiment-seconds") var experimentSeconds: Int

  mutating func validate() throws {
    reportKeyFile = reportKeyFile ?? Environment.text("report-key-file")
    if reports == .signed, reportKeyFile == nil {
      throw ValidationError("--reports signed needs --report-key-file")
    }
    recordFolder = recordFolder ?? Environment.text("record-folder")
  }

  /// The keys; none without a file.
  ///
  /// - Throws: `ValidationError`.
  func keys() throws -> [[UInt8]] {
    try reportKeyFile.map { try KeyFile.keys(in: $0, option: "--report-key-file") } ?? []
  }
}

extension ReportSettings.Taken: ExpressibleByArgument {}
