import ArgumentParser
import Catalog
import FeedServer
import Feed
import JSON
import PostJSON
import Reports
import System

/// Shows what clients reported of late.
struct LiveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "live",
    abstract: "Show what clients met of late, as they reported it: loaders, waits, bytes.",
    discussion: """
      Groups of few sessions are added to others, so that no session can be told (see docs/reports.md). A running \
      server writes what is reported every second.
      """)

  /// How figures are shown.
  enum Format: String, CaseIterable, ExpressibleByArgument {
    case table, csv, json
  }

  @Option(help: "Feed; without it, all feeds.")
  var feed: String?

  @Option("hours") var hours: Int
  @Option("report-least-sessions") var reportLeastSessions: Int

  @Option(help: "How to show it: table, csv or json.")
  var format = Format.table

  @OptionGroup var options: DatabaseOptions

  mutating func validate() throws { try Setting.validate(self) }

  func run() throws {
    let store = try options.openExisting()
    defer { try? store.close() }
    if let feed, try store.feed(named: feed) == nil { throw FeedError.unknownFeed(feed) }
    let since = WallClock.secondsSince1970 / 3600 + 1 - hours
    let report = try LiveReport(
      sinceHour: since, leastSessions: reportLeastSessions, feed: feed
    ) { try store.readReportCells(since: since, $0) }
    switch format {
    case .table: printTable(report)
    case .csv: printCSV(report)
    case .json:
      var writer = JSONWriter()
      writer.live(report)
      try printBytes(writer.bytes + [UInt8(ascii: "\n")])
    }
  }

  private static let columns = [
    "sessions", "items", "loaders per 1000", "from", "to", "wait p50 ms", "wait p90 ms",
    "frame p50 ms", "frame p90 ms", "stalls", "bytes an item", "unseen %",
  ]

  private static func values(_ cell: ReportCell) -> [String] {
    let (figures, interval) = (cell.figures, cell.intervalPerThousand)
    func tenth(_ value: Double?) -> String {
      value.map { "\(($0 * 10).rounded() / 10)" } ?? ""
    }
    func quantile(_ bins: DurationBins, _ quantile: Double) -> String {
      bins.milliseconds(atQuantile: quantile).map { "\(Int($0.rounded()))" } ?? ""
    }
    let bytes = figures.bytes.total
    return [
      "\(cell.sessions)", "\(figures.items)", tenth(cell.loadersPerThousand),
      tenth(interval?.lowerBound), tenth(interval?.upperBound), quantile(figures.waits, 0.5),
      quantile(figures.waits, 0.9), quantile(figures.frames, 0.5), quantile(figures.frames, 0.9),
      "\(figures.stalls)", figures.items == 0 ? "" : "\(bytes / figures.items)",
      bytes == 0
        ? "" : tenth(100 * Double(bytes - figures.bytes[.seen]) / Double(bytes)),
    ]
  }

  /// Each list's name, and what its groups are called with their values.
  private static func lists(
    _ report: LiveReport
  ) -> [(name: String, rows: [(name: String, values: [String])])] {
    func name(_ group: LiveReport.Group, _ list: LiveReport.List) -> String {
      guard let values = group.values else { return "too small to be shown apart" }
      if list.names == [.hour] { return LiveReport.time(ofHour: Int(values[0]) ?? 0) }
      let named = values.filter { !$0.isEmpty }
      return named.isEmpty ? "not said" : named.joined(separator: " ")
    }
    func rows(_ list: LiveReport.List) -> [(String, [String])] {
      list.groups.map { (name($0, list), values($0.cell)) }
    }
    return [
      ("all", report.total.map { [("all", values($0))] } ?? []),
      ("network and policy", rows(report.policies)), ("feed", rows(report.feeds)),
      ("hour", rows(report.hours)),
    ]
  }

  private func printTable(_ report: LiveReport) {
    guard report.total != nil else {
      print(
        "fewer than \(report.leastSessions) sessions have reported since "
          + "\(LiveReport.time(ofHour: report.sinceHour)): nothing is shown")
      return
    }
    for (name, rows) in Self.lists(report) where !rows.isEmpty {
      let lines = [[name] + Self.columns] + rows.map { [$0.name] + $0.values }
      let widths = lines[0].indices.map { column in
        lines.map { $0[column].unicodeScalars.count }.max() ?? 0
      }
      for line in lines {
        let cells = zip(line, widths).enumerated().map { index, cell in
          let padding = String(repeating: " ", count: cell.1 - cell.0.unicodeScalars.count)
          return index == 0 ? cell.0 + padding : padding + cell.0
        }
        print(cells.joined(separator: "  "))
      }
      print("")
    }
  }

  private func printCSV(_ report: LiveReport) {
    func quoted(_ text: String) -> String {
      // What a spreadsheet would compute is text, too.
      let safe = text.first.map { "=+-@".contains($0) } == true ? "'\(text)" : text
      return "\"\(safe.replacing("\"", with: "\"\""))\""
    }
    print((["list", "name"] + Self.columns).joined(separator: ","))
    for (list, rows) in Self.lists(report) {
      for (name, values) in rows {
        print(([quoted(list), quoted(name)] + values).joined(separator: ","))
      }
    }
  }
}
