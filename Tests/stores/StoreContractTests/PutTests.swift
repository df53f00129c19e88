import Catalog
import Feed
import TestSupport
import Testing

/// What a put makes of an item.
@Suite struct PutTests {
  /// In `featured` c, a, b by rank; in `newest` b, a by time.
  private static func make(_ kind: StoreKind) throws -> TestStore {
    let test = try TestStore(kind)
    let store = test.store
    let both = [Placement(feed: "featured", rank: 2), Placement(feed: "newest")]
    try store.load([
      .post(Self.post("a", 10), placements: both), .ranked("b", 3), .ranked("c", 1),
    ])
    try store.load([.post(Self.post("b", 20), placements: [Placement(feed: "newest")])])
    return test
  }

  private static func post(_ id: String, _ seconds: Int64?, title: String? = nil) -> Post {
    Post(
      id: id, type: .image, title: title,
      publishedAt: seconds.map { Timestamp(microseconds: $0 * 1_000_000) })
  }

  private struct Case {
    let name: String
    let post: Post
    let placements: [Placement]?
    /// `featured` and `newest` afterwards, and whether each was ranked anew.
    let featured: [String]
    let newest: [String]
    var rankedAnew: Set<String> = []
  }

  private static let cases = [
    Case(
      name: "a new one without places", post: post("x", 30), placements: nil,
      featured: ["c", "a", "b"], newest: ["b", "a"]),
    Case(
      name: "a new one", post: post("x", 15),
      placements: [Placement(feed: "newest"), Placement(feed: "featured", rank: 0)],
      featured: ["x", "c", "a", "b"], newest: ["b", "x", "a"]),
    Case(
      name: "another text", post: post("a", 10, title: "new"), placements: nil,
      featured: ["c", "a", "b"], newest: ["b", "a"]),
    Case(
      name: "the same places", post: post("a", 10, title: "new"),
      placements: [Placement(feed: "featured", rank: 2), Placement(feed: "newest")],
      featured: ["c", "a", "b"], newest: ["b", "a"]),
    Case(
      name: "into another feed", post: post("c", 5),
      placements: [Placement(feed: "featured", rank: 1), Placement(feed: "newest")],
      featured: ["c", "a", "b"], newest: ["b", "a", "c"]),
    Case(
      name: "out of one feed", post: post("a", 10), placements: [Placement(feed: "newest")],
      featured: ["c", "b"], newest: ["b", "a"]),
    Case(
      name: "out of all feeds", post: post("a", 10), placements: [],
      featured: ["c", "b"], newest: ["b"]),
    Case(
      name: "another rank", post: post("a", 10),
      placements: [Placement(feed: "featured", rank: 9), Placement(feed: "newest")],
      featured: ["c", "b", "a"], newest: ["b", "a"], rankedAnew: ["featured"]),
    Case(
      name: "another time", post: post("a", 40), placements: nil,
      featured: ["c", "a", "b"], newest: ["a", "b"], rankedAnew: ["newest"]),
    Case(
      name: "another time, and out of the feed by time", post: post("a", 40),
      placements: [Placement(feed: "featured", rank: 2)],
      featured: ["c", "a", "b"], newest: ["b"]),
  ]

  @Test(arguments: StoreKind.allCases, cases.indices)
  func `a put makes the item what it says, in the feeds that it says`(
    _ kind: StoreKind, _ index: Int
  ) throws {
    let test = try Self.make(kind)
    let store = test.store
    let put = Self.cases[index]
    let isNew = try store.post(withID: put.post.id) == nil
    let oldPlaces = try store.placements(ofItem: put.post.id)
    let old = try store.feeds()
    let outcome = try store.put(put.post, put.placements)
    #expect(outcome == (isNew ? .created(put.post) : .replaced(put.post)))
    for reader in [store, try test.again()] {
      #expect(try reader.post(withID: put.post.id) == put.post)
      #expect(try reader.walk("featured") == put.featured)
      #expect(try reader.walk("newest") == put.newest)
      let places = (put.placements ?? oldPlaces).sorted { $0.feed < $1.feed }
      #expect(try reader.placements(ofItem: put.post.id) == places)
      for feed in try reader.feeds() {
        let before = try #require(old.first { $0.name == feed.name }).ranking
        #expect(feed.ranking - before == (put.rankedAnew.contains(feed.name) ? 1 : 0), "\(feed)")
      }
    }
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases)
  func `a put into a feed that is not there makes it`(_ kind: StoreKind) throws {
    let test = try Self.make(kind)
    let store = test.store
    try store.put(Self.post("x", 1), [Placement(feed: "other", rank: 3)])
    #expect(try store.walk("other") == ["x"])
    #expect(try store.placements(ofItem: "x") == [Placement(feed: "other", rank: 3)])
    #expect(try store.placements(ofItem: "nobody") == [])
  }

  @Test(arguments: StoreKind.allCases)
  func `a walk goes on in its ranking when a put moves an item`(_ kind: StoreKind) throws {
    let test = try Self.make(kind)
    let store = test.store
    let first = try store.page(PageQuery(feed: "featured", limit: 1))
    try store.put(Self.post("a", 10), [Placement(feed: "featured", rank: 0)])
    #expect(try store.walk("featured") == ["a", "c", "b"])
    let next = try #require(first.slice.next)
    let rest = try store.page(PageQuery(feed: "featured", start: .after(next), limit: 9))
    #expect(rest.posts.map(\.id) == ["a", "b"])
    #expect(rest.slice.ranking == 1)
  }

  @Test(arguments: StoreKind.allCases)
  func `a walk does not meet an item in a feed that it left`(_ kind: StoreKind) throws {
    let test = try Self.make(kind)
    let store = test.store
    let first = try store.page(PageQuery(feed: "featured", limit: 1))
    try store.put(Self.post("b", 20), [Placement(feed: "featured", rank: 0)])
    try store.put(Self.post("b", 20), [Placement(feed: "newest")])
    let next = try #require(first.slice.next)
    let rest = try store.page(PageQuery(feed: "featured", start: .after(next), limit: 9))
    #expect(rest.posts.map(\.id) == ["a"])
  }

  @Test(arguments: StoreKind.allCases)
  func `puts of one group that move make one ranking`(_ kind: StoreKind) throws {
    let test = try Self.make(kind)
    let store = test.store
    let moves = [("a", 9), ("b", 8), ("c", 7), ("a", 6)].map { id, rank in
      ItemWrite(
        id: id,
        change: .put(
          Self.post(id, nil), placements: [Placement(feed: "featured", rank: rank)]))
    }
    let results = store.outcomes(ofGroup: moves)
    #expect(results.allSatisfy { if case .success(.replaced) = $0 { true } else { false } })
    #expect(try store.walk("featured") == ["a", "c", "b"])
    #expect(try store.feed(named: "featured")?.ranking == 2)
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases)
  func `a new item is seen at once while a run ranks the feed anew, and its ranking is not`(
    _ kind: StoreKind
  ) throws {
    let test = try Self.make(kind)
    let store = test.store
    let run = try store.beginImport()
    try run.write([.ranked("c", 10), .ranked("later", 11)])
    try store.put(Self.post("x", 1), [Placement(feed: "featured", rank: 0)])
    #expect(try store.walk("featured") == ["x", "c", "a", "b"])
    // An item on its own has the places that everybody sees: what a condition compares.
    #expect(try store.placements(ofItem: "c") == [Placement(feed: "featured", rank: 1)])
    #expect(try store.placements(ofItem: "later") == [])
    // What the run holds back is seen where a put says the same of it.
    try store.put(
      Post(id: "later", type: .image), [Placement(feed: "featured", rank: 11)])
    #expect(try store.walk("featured") == ["x", "c", "a", "b", "later"])
    // A put that moves makes a ranking of its own.
    try store.put(Self.post("b", 20), [Placement(feed: "featured", rank: 1)])
    #expect(try store.walk("featured") == ["x", "b", "c", "a", "later"])
    _ = try run.finish()
    #expect(try store.walk("featured") == ["x", "b", "a", "c", "later"])
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases)
  func `a deleted item's id that is put again is a new item`(_ kind: StoreKind) throws {
    let test = try Self.make(kind)
    let store = test.store
    let changes: [ItemWrite.Change] = [
      .delete, .put(Self.post("a", 10), placements: [Placement(feed: "featured", rank: 2)]),
      .delete, .put(Self.post("a", 10), placements: nil),
    ]
    let page = try store.page(PageQuery(feed: "featured", limit: 1))
    for change in changes.prefix(2) {
      _ = try store.outcome(of: ItemWrite(id: "a", change: change))
    }
    #expect(try store.walk("featured") == ["c", "a", "b"])
    #expect(try store.walk("newest") == ["b"])
    let next = try #require(page.slice.next)
    let rest = try store.page(PageQuery(feed: "featured", start: .after(next), limit: 9))
    #expect(rest.posts.map(\.id) == ["a", "b"])
    let outcomes = store.outcomes(ofGroup: changes.map { ItemWrite(id: "a", change: $0) })
    #expect(
      try outcomes.map { try $0.get() } == [
        .deleted, .created(Self.post("a", 10)), .deleted, .created(Self.post("a", 10)),
      ])
    #expect(try store.walk("featured") == ["c", "b"])
    try test.expectSound()
  }

  /// Pages leave out what no row of the database has: each field alone is enough for it to be there.
  private static let details: [Post] = {
    let extra = Extra(checkedJSON: #"{"a":1}"#)
    let hash = MediaPlaceholder(
      thumbHash: [1, 2, 3, 4, 5, 6], color: .init(red: 1, green: 2, blue: 3))
    let media = [
      Media(kind: .image, url: "/a.jpg", alt: "x"), Media(kind: .image, url: "/a.jpg", poster: "x"),
      Media(kind: .image, url: "/a.jpg", placeholder: hash),
      Media(kind: .image, url: "/a.jpg", extra: extra),
    ]
    return [
      Post(id: "a", type: .text, language: "de"), Post(id: "a", type: .text, extra: extra),
      Post(id: "a", type: .text, visibleFrom: Timestamp(microseconds: 1)),
      Post(
        id: "a", type: .text, visibleUntil: Timestamp(microseconds: 253_402_300_799_999_999)),
      Post(id: "a", type: .text, author: Author(id: "x", avatar: "x")),
      Post(id: "a", type: .text, author: Author(id: "x", extra: extra)),
    ] + media.map { Post(id: "a", type: .image, media: [$0]) }
  }()

  @Test(arguments: StoreKind.databases)
  func `a field that a single post of the database has is on its page`(_ kind: StoreKind) throws {
    for post in Self.details {
      let test = try TestStore(kind)
      try test.store.load([.post(post, placements: [Placement(feed: "f", rank: 1)])])
      let cut = try test.store.cut(PageQuery(feed: "f", offset: 0, limit: 9))
      #expect(try test.store.posts(cut.posts).post(at: 0) == post)
    }
  }
}
