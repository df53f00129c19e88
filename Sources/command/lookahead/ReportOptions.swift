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

  @Option(
    help: "Folder of the sessions that clients share, of --record-share of a thousand.")
  var recordFolder: String?

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
