import ArgumentParser
import Catalog
import FeedServer
import Feed
import JSON
import PostJSON
import Reports
import System

/// Shows recent reports of clients.
struct LiveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "live",
    abstract: "Show what clients reported recently: loaders, waits, bytes.",
    discussion: """
      Groups with few sessions are merged, so that no single session can be identified (see \
      docs/reports.md). A running server writes reports every second.
      """)

  /// The formats of the figures.
  enum Format: String, CaseIterable, ExpressibleByArgument {
    case table, csv, json
  }

  @Option(help: "Feed; default: all feeds.")
  var feed: String?

  @Option("hours") var hours: Int
  @Option("report-least-sessions") var reportLeastSessions: Int
  @Option("gigabyte-cents") var gigabyteCents: Int
  @Option("month-sessions") var monthSessions: Int

  @Option(help: "Output format: table, csv or json.")
  var format = Format.table

  @OptionGroup var options: DatabaseOptions

  mutating func validate() throws { try Setting.validate(self) }

  func run() throws {
    let store = try options.openExisting()
    defer { try? store.close() }
    if let feed, try store.feed(named: feed) == nil { throw FeedError.unknownFeed(feed) }
    let since = WallClock.secondsSince1970 / 3600 + 1 - hours
    let predicted = PolicyOutcome.predictions(of: try store.snapshot().policyBook)
    let outcomes = try PolicyOutcome.met(predicted, leastSessions: reportLeastSessions) {
      try store.readReportCells(since: $0, $1)
    }
    let report = try LiveReport(
      sinceHour: since, leastSessions: reportLeastSessions,
      rates: Bill.Rates(gigabyteCents: gigabyteCents, monthSessions: monthSessions),
      outcomes: outcomes, feed: feed
    ) { try store.readReportCells(since: since, $0) }
    switch format {
    case .table: printTable(report)
    case .csv: printCSV(report)
    case .json:
      var writer = JSONWriter()
      try writer.live(report, feed: feed, of: store)
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

  private static let billColumns =
    Bill.reasons.map { "\($0.title) MB" }
    + ["never seen MB a month", "cents a month", "cents in all"]

  /// The cost of the group: for one person and month, and in total.
  private static func bill(_ cell: ReportCell, _ rates: Bill.Rates) -> [String] {
    func hundredths(_ value: Double?) -> String {
      value.map { "\(($0 * 100).rounded() / 100)" } ?? ""
    }
    let month = cell.monthUnseenBytes(rates)
    return Bill.reasons.map { fate in hundredths(cell.monthBytes(fate, rates).map { $0 / 1e6 }) }
      + [
        hundredths(month.map { $0 / 1e6 }), hundredths(month.map(rates.cents)),
        hundredths(rates.cents(ofBytes: Double(cell.unseenBytes))),
      ]
  }

  /// A sentence for each policy about what it avoided.
  static func sentences(_ report: LiveReport) -> [String] {
    zip(report.policies.groups, report.avoided).compactMap { group, avoided in
      guard let avoided, let values = group.values else { return nil }
      func tenth(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
      func name(_ values: [String]) -> String {
        values.dropFirst().filter { !$0.isEmpty }.joined(separator: " ")
      }
      let other = avoided.isComputed ? "nothing loaded ahead (computed)" : name(avoided.baseline)
      let head = "\(values[0]): \(name(values)) compared with \(other)"
      guard let interval = avoided.interval, let bytes = avoided.bytesPerLoader else {
        return "\(head): no avoided loader is certain"
      }
      return
        "\(head): avoids \(avoided.isComputed ? "up to " : "")\(tenth(avoided.perThousand)) loaders of 1000 items "
        + "(\(tenth(interval.lowerBound)) to \(tenth(interval.upperBound))), each for "
        + "\(tenth(bytes / 1000)) KB; a thousand of them cost "
        + "\(tenth(report.rates.cents(ofBytes: bytes * 1000))) cents"
    }
  }

  /// The name of each list, and the names of its groups with their values.
  private static func lists(
    _ report: LiveReport, _ values: (ReportCell) -> [String]
  ) -> [(name: String, rows: [(name: String, values: [String])])] {
    func name(_ group: LiveReport.Group, _ list: LiveReport.List) -> String {
      guard let values = group.values else { return "too small to show separately" }
      if list.names == [.hour] { return LiveReport.time(ofHour: Int(values[0]) ?? 0) }
      let named = values.filter { !$0.isEmpty }
      return named.isEmpty ? "not reported" : named.joined(separator: " ")
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
    guard let total = report.total else {
      print(
        "fewer than \(report.leastSessions) sessions have reported since "
          + "\(LiveReport.time(ofHour: report.sinceHour)): nothing to show")
      return
    }
    Self.printTables(Self.lists(report, Self.values), Self.columns)
    let rates = report.rates
    print(
      "The bill: bytes never seen, per person and month of \(rates.monthSessions) sessions, at "
        + "\(rates.gigabyteCents) cents per gigabyte")
    print("")
    Self.printTables(
      Self.lists(report) { Self.bill($0, rates) }.filter { $0.name != "hour" }, Self.billColumns)
    for sentence in Self.sentences(report) { print(sentence) }
    if !report.isOfOneFeed, total.sessions > 0 {
      print(
        "Use --feed to see what an avoided loader costs compared with another policy: feeds "
          + "cannot be compared."
      )
    }
    if !report.outcomes.isEmpty { print("Policies that the lab found:") }
    for outcome in report.outcomes {
      print(
        "\(outcome.network): \(outcome.policy) of \(outcome.feed ?? "all other feeds"): \(outcome.words)"
          .escapedForTerminal())
    }
  }

  private static func printTables(
    _ lists: [(name: String, rows: [(name: String, values: [String])])], _ columns: [String]
  ) {
    for (name, rows) in lists where !rows.isEmpty {
      let lines = [[name] + columns] + rows.map { [$0.name] + $0.values }
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
      // Quotes formulas as text, so that a spreadsheet does not compute them.
      let safe = text.first.map { "=+-@".contains($0) } == true ? "'\(text)" : text
      return "\"\(safe.replacing("\"", with: "\"\""))\""
    }
    print((["list", "name"] + Self.columns + Self.billColumns).joined(separator: ","))
    let lists = Self.lists(report) { Self.values($0) + Self.bill($0, report.rates) }
    for (list, rows) in lists {
      for (name, values) in rows {
        print(([quoted(list), quoted(name)] + values).joined(separator: ","))
      }
    }
  }
}
