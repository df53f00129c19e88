import Catalog
import Feed
import Postgres
import PostgresTestSupport
import TestSupport
import Testing

@testable import PostgresStore

/// What is read of an order that is not in memory.
@Suite(.enabled(if: PostgresCluster.isPresent, "skipped: there is no PostgreSQL"))
struct OrderWindowTests {
  @Test func `a window is what the whole order has there`() throws {
    let database = try TestDatabase()
    let store = try database.store()
    // Of equal keys, and of texts that bytes and people order otherwise.
    let ids = ["a", "B", "\u{e9}", "e\u{301}", "z", "Z", "_", "10", "9"]
    try store.load(ids.enumerated().map { .ranked($0.element, $0.offset / 3) })
    try store.load([.ranked("a", 7), .ranked("9", 0)])
    let connection = try database.connect()
    try connection.transaction(.reading) {
      let reader = PostgresCatalogReader(connection: connection)
      let feed = try #require(try reader.feeds().first)
      let order = try reader.order(ofFeed: feed.id, ranking: feed.ranking)
      #expect(order.count == ids.count && feed.ranking == 2)
      let positions =
        order.allEntries.map(\.position)
        + [Position(key: SortKey(rank: 1, publishedAt: nil), id: "C")]
      let places: [OrderWindow.Place] =
        (0...order.count + 1).map { .offset($0) } + positions.map { .below($0) }
        + positions.map { .above($0) }
      for place in places {
        for rows in [1, 3, 100] {
          #expect(
            try reader.window(of: feed, at: place, rows: rows)
              == OrderWindow(place, rows: rows, of: order), "\(place), \(rows)")
        }
      }
    }
  }
}
