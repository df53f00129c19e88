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

  @Test func `a new post joins the ranking that is there`() throws {
    try store.load(ranked(0..<10))
    let summary = try store.load([.ranked("first", 0), .ranked("last", 11)])
    #expect(summary.rankedAnew == [])
    #expect(try store.feed(named: "featured")?.ranking == 1)
    #expect(try store.walk("featured") == ["first"] + ids(0..<10) + ["last"])
  }

  @Test(arguments: [1, 4, 100])
  func `a walk goes on in the ranking in which it began`(_ batch: Int) throws {
    try store.load(ranked(0..<10))
    let page = try store.page(PageQuery(feed: "featured", limit: 3))
    let summary = try store.load(ranked((0..<10).reversed()) + [.ranked("new", 0)], batch: batch)
    #expect(summary.rankedAnew == ["featured"])
    #expect(try store.feed(named: "featured")?.ranking == 2)
    #expect(try store.walk("featured") == ["new"] + ids((0..<10).reversed()))

    var rest: [String] = []
    var next = page.slice.next
    while let cursor = next {
      let page = try store.page(PageQuery(feed: "featured", start: .after(cursor), limit: 3))
      #expect(page.slice.ranking == 1)
      rest += page.posts.map(\.id).filter { $0 != "new" }
      next = page.slice.next
    }
    #expect(rest == ids(3..<10))
    #expect(try store.check().isEmpty)
  }

  @Test func `a deleted post is gone from old rankings, and the anchor may be it`() throws {
    try store.load(ranked(0..<10))
    let cursor = try #require(try store.page(PageQuery(feed: "featured", limit: 3)).slice.next)
    try store.load(ranked((0..<10).reversed()))
    _ = try store.deletePost(withID: "p2")
    _ = try store.deletePost(withID: "p5")
    let page = try store.page(PageQuery(feed: "featured", start: .after(cursor), limit: 100))
    #expect(page.posts.map(\.id) == ids([3, 4, 6, 7, 8, 9]))
  }

  @Test func `old rankings are kept as long as documented and no longer`() throws {
    try store.load(ranked(0..<5))
    let first = try #require(try store.page(PageQuery(feed: "featured", limit: 2)).slice.next)
    let query = PageQuery(feed: "featured", start: .after(first), limit: 9)
    for round in 1...2 {
      try store.load(ranked(round % 2 == 1 ? [4, 3, 2, 1, 0] : [0, 1, 2, 3, 4]))
      #expect(try store.page(query).posts.map(\.id) == ids(2..<5))
    }
    try store.load(ranked([4, 3, 2, 1, 0]))
    #expect(throws: FeedError.expiredRanking(.after, 1, feed: "featured")) {
      try store.page(query)
    }
    // A store that starts anew has the old rankings from the file.
    let fresh = try SQLiteStore(path: store.path)
    #expect(throws: FeedError.expiredRanking(.after, 1, feed: "featured")) {
      try fresh.page(query)
    }
    let rows = try store.pool.read {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM feed_entry WHERE until <= 2")
    }
    #expect(rows == 0)
    #expect(try store.check().isEmpty)
  }

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

  @Test func `a run that ends in the middle shows nothing of its ranking, and is completed`() throws
  {
    try store.load(ranked(0..<10))
    let records = ranked((0..<10).reversed()) + [.ranked("new", 0)]
    try store.beginImport().write(Array(records[..<4]))
    for reader in [store, try SQLiteStore(path: store.path)] {
      #expect(try reader.walk("featured") == ids(0..<10))
    }
    #expect(try store.check().map(\.severity) == [.note])

    let other = try SQLiteStore(path: store.path)
    #expect(try other.load(records).rankedAnew == ["featured"])
    try store.refresh()
    #expect(try store.walk("featured") == ["new"] + ids((0..<10).reversed()))
    #expect(try store.check().isEmpty)
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

  @Test func `a post's new time moves it in timed feeds only`() throws {
    let both = [Placement(feed: "newest"), Placement(feed: "featured", rank: 1)]
    func post(_ id: String, _ second: Int64) -> Post {
      Post(id: id, type: .image, publishedAt: Timestamp(microseconds: second * 1_000_000))
    }
    try store.load([
      .post(post("a", 30), placements: both), .timed("b", 20), .timed("c", 10), .ranked("d", 2),
    ])
    // The later line does not name the feeds.
    let summary = try store.load([.post(post("a", 15), placements: [])])
    #expect(summary.rankedAnew == ["newest"])
    #expect(try store.walk("newest") == ["b", "a", "c"])
    #expect(try store.walk("featured") == ["a", "d"])
    #expect(
      try store.feed(named: "featured")?.newestPublishedAt == Timestamp(microseconds: 15_000_000))
    #expect(try store.check().isEmpty)
  }
}
