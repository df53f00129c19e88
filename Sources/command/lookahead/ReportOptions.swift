import ArgumentParser

/// What clients may report, how much of it, and for how long it is kept.
struct ReportOptions: ParsableArguments {
  @Flag("reports", default: true, "Clients may report what they met.")
  var reports: Bool

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
}
