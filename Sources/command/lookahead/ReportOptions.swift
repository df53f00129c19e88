import ArgumentParser
import FeedServer

/// Settings of clients' reports: whose, how many, and for how long they are kept.
struct ReportOptions: ParsableArguments {
  @Option(
    help: """
      Clients whose reports are accepted: on, all clients; signed, clients that were given a page \
      of the feed; off, none.
      """)
  var reports = Environment.option("reports") ?? ReportSettings.Taken.on

  @Option(
    help: """
      File of keys, one per line, that sign the report tokens in pages; without it, pages have no \
      tokens.
      """)
  var reportKeyFile: String?

  @Option(
    help: "Folder for sessions that clients share; --record-share sets how many are asked.")
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
