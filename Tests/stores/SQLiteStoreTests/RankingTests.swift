import Catalog
import Feed
import Synchronization
import TestSupport
import Testing

@testable import SQLiteStore

@Suite struct RankingTests {
  let folder = TemporaryFolder()
  let store: SQLiteStore

  init() throws {
    store = try SQLiteStore(
      path: folder.file("feed.sqlite"), options: .init(keptRankings: 3, keptRankingsSeconds: 0))
  }

  /// `p0` first.
  private func ranked(_ order: some Sequence<Int>) -> [SeedRecord] {
    order.enumerated().map { .ranked("p\($0.element)", $0.offset + 1) }
  }

  private func ids(_ numbers: some Sequence<Int>) -> [String] { numbers.map { "p\($0)" } }

  @Test func `a ranking is kept for its time beyond the number, and no more than the maximum`()
    throws
  {
    let clock = Mutex(Int64(1_000_000_000_000))
    let store = try SQLiteStore(
      path: folder.file("timed.sqlite"),
      options: .init(
        keptRankings: 2, keptRankingsSeconds: 60, maximumKeptMoves: 30,
        now: { Timestamp(microseconds: clock.withLock { $0 }) }))
    try store.load(ranked(0..<5))
    func rank(_ times: Int) throws {
      for _ in 0..<times {
        let last = try #require(try store.walk("featured").last)
        let rank = (try store.feed(named: "featured")?.ranking ?? 0) * -1 + 1_000
        try store.outcome(
          of: ItemWrite(
            id: last,
            change: .put(
              Post(id: last, type: .image),
              placements: [Placement(feed: "featured", rank: rank)])))
      }
    }
    func oldest() throws -> Int {
      try #require(try store.follower.whole().feeds["featured"]).order.oldestRanking
    }
    try store.load((0..<5).map { .ranked("p\($0)", 2_000 + $0) })
    try rank(20)
    // Within the minute nothing goes.
    #expect(try oldest() == 1)
    #expect(try store.feed(named: "featured")?.ranking == 22)
    // What is in memory of them is bounded.
    #expect(
      try #require(try store.follower.whole().feeds["featured"]).order.orders.count
        <= FeedOrder.olderAtHand + 1)
    for ranking in 1...22 {
      let cursor = Cursor(feed: "featured", view: .ranking(ranking), anchor: .start, seen: .start)
      #expect(try store.page(PageQuery(feed: "featured", start: .after(cursor))).posts.count == 5)
    }
    try rank(20)
    #expect(try oldest() == 12)
    // The one that was current a minute ago goes with the next.
    clock.withLock { $0 += 60_000_000 }
    try rank(1)
    #expect(try oldest() == 42)
    #expect(try store.check().isEmpty)
    let rows = try store.pool.read {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM replaced_ranking")
    }
    #expect(rows == 1)
  }

  @Test func `an old ranking is read from the file by a store that was not there`() throws {
    try store.load(ranked(0..<10))
    let page = try store.page(PageQuery(feed: "featured", limit: 3))
    try store.load(ranked((0..<10).reversed()))
    let fresh = try SQLiteStore(path: store.path)
    let query = PageQuery(
      feed: "featured", start: .after(try #require(page.slice.next)), limit: 100)
    #expect(!fresh.isAtHand(query))
    #expect(try fresh.page(query).posts.map(\.id) == ids(3..<10))
    #expect(fresh.isAtHand(query))
    // Kept at hand, it still hears of deletions.
    _ = try store.deletePost(withID: "p6")
    try fresh.refresh()
    #expect(try fresh.page(query).posts.map(\.id) == ids([3, 4, 5, 7, 8, 9]))
  }

}
