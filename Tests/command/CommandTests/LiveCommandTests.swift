import Catalog
import Feed
import Foundation
import Prefetch
import Reports
import SQLiteStore
import Testing

/// `lookahead live`.
@Suite struct LiveCommandTests {
  let program = Program()

  /// A database in which this many sessions have reported, a quarter of them on the feed `=evil`.
  private func report(sessions: Int) throws {
    #expect(try program.run("seed", "--generate", "10").status == 0)
    let store = try SQLiteStore(path: program.database)
    let hour = Int(Date().timeIntervalSince1970) / 3600
    let parts = (0..<sessions).map { session in
      var part = ReportPart(session: "\(session)", part: 0)
      part.figures.items = 100
      part.figures.loaders[.video] = 2
      part.figures.waits.add(1, inBin: 64)
      part.figures.waits.add(1, inBin: 70)
      part.figures.bytes[.seen] = 900
      part.figures.bytes[.left] = 100
      return CountedPart(
        fingerprint: UInt64(session),
        key: ReportCellKey(
          hour: hour, feed: session % 4 == 0 ? "=evil" : "featured", policy: "p", arm: "",
          network: "3g"), cell: ReportCell(part))
    }
    _ = try store.add(
      parts, at: hour, after: 0, forgettingBefore: 0, cellsPerHour: 100, of: WatchLimits())
    try store.close()
  }

  @Test func `what clients met is a table, lines for a spreadsheet, or JSON`() throws {
    try report(sessions: 400)
    let table = try program.run("live")
    #expect(table.status == 0, "\(table.errors)")
    #expect(table.output.contains(/network and policy +sessions/))
    #expect(table.output.contains(/3g p +400 +40000 +20\.0/), "\(table.output)")
    let csv = try program.run("live", "--format", "csv")
    let lines = csv.output.split(separator: "\n")
    #expect(lines.count == 1 + 1 + 1 + 2 + 1)
    #expect(Set(lines.map { $0.count { $0 == "," } }).count == 1)
    // A spreadsheet computes nothing that a stranger wrote.
    #expect(csv.output.contains("\"feed\",\"'=evil\",100,"))
    let json = try program.run("live", "--format", "json", "--hours", "1")
    let live = try #require(
      try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
    let total = try #require(live["total"] as? [String: Any])
    #expect(total["sessions"] as? Int == 400 && total["loadersPer1000"] as? Double == 20)
  }

  @Test func `the bill and what was predicted stand beside what was met`() throws {
    try report(sessions: 400)
    let store = try SQLiteStore(path: program.database)
    let policy = Policy(name: "p", strategy: .weighted(leading: 20, maxCost: 2))
    try store.apply(
      policy, feed: nil, network: "3g",
      evidence: Array(
        #"{"judged":[{"setting":"old","loaders":40},{"setting":"p","loaders":12.5}]}"#.utf8),
      at: Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)))
    try store.close()
    let table = try program.run("live", "--month-sessions", "1000", "--gigabyte-cents", "1000")
    #expect(table.status == 0, "\(table.errors)")
    // 100 bytes a session, a thousand sessions: a tenth of a megabyte, and of a cent.
    #expect(
      table.output.contains(/3g p +0\.1 +0\.0 +0\.0 +0\.0 +0\.1 +0\.1 +0\.04/), "\(table.output)")
    #expect(table.output.contains("Use --feed to see") && !table.output.contains(#"\n"#))
    #expect(
      table.output.contains("3g: p of all other feeds: predicted 13 per 1000, met 20 (20 to 20)"),
      "\(table.output)")
    let json = try program.run("live", "--format", "json")
    #expect(json.output.contains("\"verdict\":\"more\""))
  }

  @Test func `of few sessions nothing is shown, and of one feed alone its own`() throws {
    try report(sessions: 190)
    let all = try program.run("live", "--report-least-sessions", "191")
    #expect(all.status == 0 && all.output.contains("fewer than 191 sessions"))
    let missing = try program.run("live", "--feed", "none")
    #expect(missing.status == 1 && missing.errors.contains("none"))
    #expect(try program.run("live", "--hours", "0").status == 64)
    #expect(try program.run("check").status == 0)
  }
}
