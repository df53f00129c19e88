import Feed
import JSON
import Postgres
import PostgresTestSupport
import TestSupport
import Testing

@testable import PostgresStore

/// How the server goes about what a page of a feed takes that is not in memory, far down, with the settings of this
/// program's connections: https://www.postgresql.org/docs/15/using-explain.html.
@Suite(.enabled(if: PostgresCluster.isPresent, "skipped: there is no PostgreSQL"))
struct DeepPlanTests {
  private static let limit = 30
  private static let depth = Int64(TestRandom.often(20_000, nightly: 100_000))
  private static let count = Int(depth) + 200

  /// A statement with values for it.
  private struct Case {
    let name: String
    let sql: String
    let values: [String]
    /// How many rows each index may hand over.
    var rows = DeepPlanTests.limit + 1
    /// It changes rows, which is taken back.
    var isUndone = false
  }

  private static func cases() -> [Case] {
    let windows = DeepDatabase.feeds.enumerated().flatMap { index, feed -> [Case] in
      let shown = ["\(index + 1)", "1"]
      let position = DeepDatabase.position(depth, in: feed)
      let place = shown + ["\(position.key.rawValue)", "'\(position.id)'"]
      return [
        Case(
          name: "\(feed), top", sql: PostgresCatalogReader.windowAtOffset,
          values: shown + ["\(limit)", "0"]),
        Case(
          name: "\(feed), below", sql: PostgresCatalogReader.windowBelow,
          values: place + ["\(limit)"]),
        Case(
          name: "\(feed), from", sql: PostgresCatalogReader.windowFrom,
          values: place + ["\(limit)"]),
        Case(
          name: "\(feed), above", sql: PostgresCatalogReader.windowAbove,
          values: place + ["\(limit)"]),
        // What is counted, and what is stepped over, is so in the index.
        Case(
          name: "\(feed), at an offset", sql: PostgresCatalogReader.windowAtOffset,
          values: shown + ["\(limit)", "\(depth)"], rows: Int(depth) + limit),
        Case(
          name: "\(feed), counted through", sql: PostgresCatalogReader.countThrough, values: place,
          rows: Int(depth)),
        Case(
          name: "\(feed), counted above", sql: PostgresCatalogReader.countAbove, values: place,
          rows: Int(depth)),
        Case(
          name: "\(feed), counted", sql: PostgresCatalogReader.entryCount, values: shown,
          rows: count),
        Case(
          name: "\(feed), pruned", sql: PostgresPruning.entries,
          values: [
            "\(position.key.rawValue)", "\(limit)", "\(index + 1)", "'\(position.id)'",
          ]),
        Case(
          name: "\(feed), place", sql: PostgresCatalogReader.placeOfPost,
          values: ["'\(position.id)'", "\(index + 1)", "1"]),
      ]
    }
    let page = depth..<depth + Int64(limit)
    let numbers = "'{\(page.map { "\(DeepDatabase.firstNumber + $0)" }.joined(separator: ","))}'"
    let ones = "'{\(page.map { _ in "1" }.joined(separator: ","))}'"
    let ids = "'{\(page.map(DeepDatabase.id).joined(separator: ","))}'"
    let nulls = "'{\(page.map { _ in "NULL" }.joined(separator: ","))}'"
    let keys = "'{\(page.map { "k\($0 % 5_000)" }.joined(separator: ","))}'"
    let urls = "'{\(page.map { "/\($0 % 5_000)" }.joined(separator: ","))}'"
    let authors = "'{\(page.map { "a\($0 % 5_000)" }.joined(separator: ","))}'"
    let empty = "'{\(page.map { _ in "\"\"" }.joined(separator: ","))}'"
    let types = "'{\(page.map { _ in "text" }.joined(separator: ","))}'"
    return windows + [
      Case(
        name: "pruned", sql: PostgresPruning.posts,
        values: ["\(DeepDatabase.firstNumber + depth)", "\(limit)"]),
      Case(
        name: "positions in feeds", sql: PostgresPruning.positions, values: [numbers, "NULL"],
        rows: 3 * limit),
      Case(
        name: "about to move", sql: PostgresPruning.aboutToMove, values: [numbers, "NULL"]),
      Case(
        name: "ends of tops", sql: PostgresPruning.ends, values: ["'{1,2,3}'", "\(limit)"],
        rows: 3 * limit),
      Case(name: "posts", sql: PostRows.byNumber, values: [numbers]),
      Case(name: "media", sql: PostRows.mediaByNumber, values: [numbers]),
      Case(name: "posts by id", sql: PostRows.byID, values: [ids]),
      Case(name: "media by id", sql: PostRows.mediaByID, values: [ids]),
      Case(name: "media with truth", sql: PostRows.mediaWithTruthByID, values: [ids]),
      Case(
        name: "entries by id", sql: PostgresRows.entriesByID, values: [ids], rows: 3 * limit),
      Case(
        name: "places by id", sql: PostgresRows.placesByID, values: [ids, "1"], rows: 3 * limit),
      Case(
        name: "every feed of posts", sql: PostgresRows.everyFeedOfPosts, values: [ids],
        rows: 3 * limit),
      Case(
        name: "feeds of posts", sql: PostgresRows.feedsOfPosts, values: [ids], rows: 3 * limit),
      Case(name: "keys", sql: PostgresRows.keysByName, values: [keys]),
      Case(name: "keys anew", sql: PostgresRows.deleteKeys, values: [keys], isUndone: true),
      Case(name: "known files", sql: MediaRows.atURLs, values: [urls]),
      Case(
        name: "authors", sql: PostgresRows.authorsByKey, values: [authors, empty, empty, empty]),
      Case(
        name: "placements", sql: PostgresStore.placementsOfPosts, values: [ids], rows: 3 * limit),
      Case(name: "files", sql: PostgresRows.deleteMedia, values: [numbers], isUndone: true),
      Case(
        name: "counters", sql: PostgresRows.updateCounters, values: [numbers, nulls],
        isUndone: true),
      Case(
        name: "posts changed", sql: PostgresRows.updatePosts,
        values: [numbers, nulls, types] + Array(repeating: nulls, count: 11), isUndone: true),
      Case(
        name: "entries deleted", sql: PostgresRows.deleteEntries, values: [numbers, ones, ones],
        isUndone: true),
      Case(
        name: "entries that end", sql: PostgresRows.setEnds, values: [numbers, ones, ones, nulls],
        isUndone: true),
      Case(
        name: "entries' times", sql: PostgresRows.setTimes, values: [numbers, ones, nulls],
        isUndone: true),
      Case(
        name: "posts that leave feeds", sql: PostgresRows.leaveFeeds, values: [numbers, ones],
        isUndone: true),
      Case(
        name: "posts that leave runs", sql: PostgresRows.leaveRuns, values: [numbers, ones],
        isUndone: true),
    ]
  }

  @Test func `at depth each step goes by an index, whatever is known of the tables`() throws {
    let deep = try DeepDatabase()
    let cases = Self.cases()
    func connect(_ planning: Connection.Planning) throws -> Connection {
      let connection = try Connection(deep.database.address, .init(planning: planning))
      try prepare(cases, on: connection)
      return connection
    }
    // Planned, and run, when the tables are empty.
    let early = try connect(.byIndexesKept)
    let bulk = try connect(.byIndexes)
    for each in cases {
      try steps(of: each, named: name(each, in: cases), on: early)
      try steps(of: each, named: name(each, in: cases), on: bulk)
    }
    try deep.fill(posts: Self.count)
    // As the connection does after some seconds: `PlanningTests`.
    try early.run(script: "DISCARD PLANS")
    try check(cases, on: early, "planned again after the seed")
    try check(cases, on: bulk, "planned anew")
    try deep.forgetCounts()
    try check(cases, on: bulk, "planned anew, counted when empty")
    try check(cases, on: connect(.byIndexesKept), "planned after the seed, counted when empty")
    try early.run(script: "ANALYZE")
    try check(cases, on: early, "kept, analyzed")
    try check(cases, on: bulk, "planned anew, analyzed")
  }

  private func prepare(_ cases: [Case], on connection: Connection) throws {
    for (index, each) in cases.enumerated() {
      try connection.run(script: "PREPARE looked\(index) AS \(each.sql)")
    }
  }

  private func name(_ one: Case, in cases: [Case]) -> String {
    "looked\(cases.firstIndex { $0.name == one.name }!)"
  }

  private func check(_ cases: [Case], on connection: Connection, _ state: String) throws {
    for each in cases {
      let steps = try steps(of: each, named: name(each, in: cases), on: connection)
      #expect(steps.contains { $0.isScan }, "\(each.name), \(state)")
      for step in steps where step.isScan {
        // A table without rows is looked through as a whole.
        #expect(
          step.kind.hasPrefix("Index") && (step.hasCondition || step.rows == 0),
          "\(each.name), \(state): \(step)")
        #expect(step.rows <= each.rows, "\(each.name), \(state): \(step)")
      }
      for step in steps where step.kind == "Sort" {
        #expect(step.rows <= each.rows, "\(each.name), \(state): \(step)")
      }
    }
  }

  /// A step of a plan, as it went.
  private struct Step {
    let kind: String
    let index: String?
    let hasCondition: Bool
    /// What it read, in all its turns.
    let rows: Int

    /// It reads a table, or an index.
    var isScan: Bool {
      kind.hasSuffix("Scan") && !["Function Scan", "CTE Scan", "Subquery Scan"].contains(kind)
    }
  }

  @discardableResult
  private func steps(
    of one: Case, named name: String, on connection: Connection
  ) throws -> [Step] {
    if one.isUndone { try connection.run(script: "BEGIN") }
    let rows = try connection.runOnce(
      "EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE \(name) (\(one.values.joined(separator: ", ")))")
    if one.isUndone { try connection.run(script: "ROLLBACK") }
    let text = try #require(rows.text(0, 0))
    var found: [Step] = []
    for plan in try JSONDocument(Array(text.utf8)).root.elements {
      collect(plan.member("Plan"), &found)
    }
    return found
  }

  private func collect(_ plan: JSONValue?, _ found: inout [Step]) {
    guard let plan, let kind = plan.member("Node Type")?.text else { return }
    func number(_ name: String) -> Double { plan.member(name)?.number ?? 0 }
    let read = number("Actual Rows") + number("Rows Removed by Filter")
    found.append(
      Step(
        kind: kind, index: plan.member("Index Name")?.text,
        hasCondition: plan.member("Index Cond") != nil,
        // Of several turns the server tells the mean.
        rows: Int((read * max(1, number("Actual Loops"))).rounded())))
    if let parts = plan.member("Plans") { for part in parts.elements { collect(part, &found) } }
  }
}
