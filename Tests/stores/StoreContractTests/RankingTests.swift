import Catalog
import Feed
import TestSupport
import Testing

/// What moves makes a ranking; walks go on in theirs.
@Suite struct RankingTests {
  private static func make(_ kind: StoreKind) throws -> TestStore {
    var options = StoreOptions()
    options.keptRankings = 3
    return try TestStore(kind, options)
  }

  /// `p0` first.
  private func ranked(_ order: some Sequence<Int>) -> [SeedRecord] {
    order.enumerated().map { .ranked("p\($0.element)", $0.offset + 1) }
  }

  private func ids(_ numbers: some Sequence<Int>) -> [String] { numbers.map { "p\($0)" } }

  @Test(arguments: StoreKind.allCases)
  func `a new post joins the ranking that is there`(_ kind: StoreKind) throws {
    let test = try Self.make(kind)
    let store = test.store
    try store.load(ranked(0..<10))
    let summary = try store.load([.ranked("first", 0), .ranked("last", 11)])
    #expect(summary.rankedAnew == [])
    #expect(try store.feed(named: "featured")?.ranking == 1)
    #expect(try store.walk("featured") == ["first"] + ids(0..<10) + ["last"])
  }

  @Test(arguments: StoreKind.allCases, [1, 4, 100])
  func `a walk goes on in the ranking in which it began`(_ kind: StoreKind, _ batch: Int) throws {
    let test = try Self.make(kind)
    let store = test.store
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
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases)
  func `a deleted post is gone from old rankings, and the anchor may be it`(_ kind: StoreKind)
    throws
  {
    let test = try Self.make(kind)
    let store = test.store
    try store.load(ranked(0..<10))
    let cursor = try #require(try store.page(PageQuery(feed: "featured", limit: 3)).slice.next)
    try store.load(ranked((0..<10).reversed()))
    _ = try store.deletePost(withID: "p2")
    _ = try store.deletePost(withID: "p5")
    let page = try store.page(PageQuery(feed: "featured", start: .after(cursor), limit: 100))
    #expect(page.posts.map(\.id) == ids([3, 4, 6, 7, 8, 9]))
  }

  @Test(arguments: StoreKind.allCases)
  func `old rankings are kept as long as documented and no longer`(_ kind: StoreKind) throws {
    let test = try Self.make(kind)
    let store = test.store
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
    let fresh = try test.again()
    #expect(throws: FeedError.expiredRanking(.after, 1, feed: "featured")) {
      try fresh.page(query)
    }
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases)
  func `a run that ends in the middle shows nothing of its ranking, and is completed`(
    _ kind: StoreKind
  ) throws {
    let test = try Self.make(kind)
    let store = test.store
    try store.load(ranked(0..<10))
    let records = ranked((0..<10).reversed()) + [.ranked("new", 0)]
    try store.beginImport().write(Array(records[..<4]))
    for reader in [store, try test.again()] {
      #expect(try reader.walk("featured") == ids(0..<10))
    }
    try test.expectSound(notes: 1)

    let other = try test.again()
    #expect(try other.load(records).rankedAnew == ["featured"])
    try store.refresh()
    #expect(try store.walk("featured") == ["new"] + ids((0..<10).reversed()))
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases)
  func `a post's new time moves it in timed feeds only`(_ kind: StoreKind) throws {
    let test = try Self.make(kind)
    let store = test.store
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
    try test.expectSound()
  }
}
