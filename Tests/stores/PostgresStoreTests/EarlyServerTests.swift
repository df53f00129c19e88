import Catalog
import Feed
import Postgres
import PostgresTestSupport
import RowStore
import TestSupport
import Testing

@testable import PostgresStore

/// A server that was there before the first seed: all that it does was planned for tables without rows.
@Suite(.enabled(if: PostgresCluster.isPresent, "skipped: there is no PostgreSQL"))
struct EarlyServerTests {
  private static let count = 20_000
  private static let tables = [
    "post", "media", "author", "feed_entry", "media_truth", "media_file", "change_log",
    "idempotency_key",
  ]
  private static let name = "early-server"

  /// How many rows were read of each table by going over all of it
  /// (https://www.postgresql.org/docs/15/monitoring-stats.html#MONITORING-PG-STAT-ALL-TABLES-VIEW).
  private func rowsReadInSequence(_ database: TestDatabase) throws -> [String: Int64] {
    let connection = try database.connect()
    let rows = try connection.run(
      "SELECT relname::text, seq_tup_read FROM pg_stat_user_tables WHERE schemaname = $1::text",
      [.text(database.schema)])
    return Dictionary(
      uniqueKeysWithValues: (0..<rows.count).map {
        (rows.text($0, 0) ?? "", rows.integer($0, 1) ?? 0)
      }
    ).filter { Self.tables.contains($0.key) }
  }

  /// Whoever ends a connection has counted what it read.
  private func waitForEnd(of name: String, _ database: TestDatabase) throws {
    let connection = try database.connect()
    var isThere = true
    while isThere {
      isThere = try connection.run(
        "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE application_name = $1::text)",
        [.text(name)]
      ).boolean(0, 0)
    }
  }

  /// Asks for one of everything.
  private func use(_ store: PostgresStore, at number: Int64) throws {
    try store.refresh()
    _ = try store.posts((number..<number + 30).map { DeepDatabase.firstNumber + $0 })
    _ = try store.item(withID: DeepDatabase.id(number))
    for feed in try store.feeds() where DeepDatabase.feeds.contains(feed.name) {
      let position = DeepDatabase.position(number, in: feed.name)
      let cursor = Cursor(
        feed: feed.name, view: .ranking(feed.ranking), anchor: .position(position), seen: .start)
      let page = try store.page(PageQuery(feed: feed.name, start: .after(cursor), limit: 30))
      #expect(page.posts.first?.id == DeepDatabase.id(number + 1))
      _ = try store.page(PageQuery(feed: feed.name, start: .before(cursor), limit: 30))
      _ = try store.page(PageQuery(feed: feed.name, offset: Int(number), limit: 30))
    }
    let rank = Int(number)
    try store.load([.ranked("new", rank, feed: "own"), .timed("timed", rank, feed: "own")])
    try store.put(Post(id: "put", type: .text, title: "\(number)"))
    try store.increment("new", key: "key \(number)")
  }

  @Test func `a server that was there before the first seed reads no table from end to end`() throws
  {
    let deep = try DeepDatabase()
    let address = try deep.database.address(named: Self.name)
    // In memory there is no order: pages come from windows.
    var options = StoreOptions()
    options.orderMemoryBytes = 1
    let store = try PostgresStore(
      address: address, connections: PostgresStore.Connections(readers: 1), options: options)
    // Six times: what is run more than five times may be planned for all values at once.
    for number in 1...6 { try use(store, at: Int64(number)) }
    try deep.fill(posts: Self.count)
    try waitForEnd(of: DeepDatabase.filling, deep.database)
    let before = try rowsReadInSequence(deep.database)
    #expect(before.count == Self.tables.count)
    for number in 1...6 { try use(store, at: Int64(10_000 + number)) }
    try store.close()
    try waitForEnd(of: Self.name, deep.database)
    let after = try rowsReadInSequence(deep.database)
    for table in Self.tables { #expect(after[table] == before[table], "\(table)") }
  }
}
