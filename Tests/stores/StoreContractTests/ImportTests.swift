import Catalog
import Feed
import PostJSON
import Seeding
import TestSupport
import Testing

/// What a run of records makes of a store, and what comes out of it again.
@Suite struct ImportTests {
  private func counts(_ summary: ImportSummary) -> [Int] {
    [summary.added, summary.changed, summary.unchanged]
  }

  private func export(_ store: any FeedStore) throws -> [[UInt8]] {
    var lines: [[UInt8]] = []
    try store.exportRecords { lines.append($0.json) }
    return lines
  }

  @Test(arguments: StoreKind.allCases, TestRandom.some(1, of: [1, 3, 1000]))
  func `the same input twice changes nothing`(_ kind: StoreKind, _ batch: Int) throws {
    let test = try TestStore(kind)
    let store = test.store
    let records = Array(PostGenerator(count: 300, seed: 5))
    #expect(try counts(store.load(records, batch: batch)) == [300, 0, 0])
    let exported = try export(store)
    let feeds = try store.feeds()
    #expect(try counts(store.load(records, batch: batch)) == [0, 0, 300])
    #expect(try export(store) == exported)
    #expect(try store.feeds() == feeds)
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases, [1, 2, 100])
  func `an input that contradicts itself changes nothing the second time`(
    _ kind: StoreKind, _ batch: Int
  ) throws {
    let test = try TestStore(kind)
    let store = test.store
    var later = Post(id: "a", type: .video, title: "later", counters: [Counter("likes", 2)])
    later.publishedAt = Timestamp(microseconds: 5)
    let records: [SeedRecord] = [
      .post(
        Post(id: "a", type: .image, title: "first"), placements: [Placement(feed: "f", rank: 1)]),
      .ranked("a", 5, feed: "f"),
      .ranked("b", 2, feed: "f"),
      .post(later, placements: [Placement(feed: "f", rank: 9), Placement(feed: "g")]),
      .feed(name: "f", title: "One"), .feed(name: "f", title: "Two"),
    ]
    try store.load(records, batch: batch)
    #expect(try store.walk("f") == ["b", "a"])
    let ranking = try store.feed(named: "f")?.ranking
    let exported = try export(store)
    let summary = try store.load(records, batch: batch)
    #expect(summary.added == 0 && summary.changed == 0)
    #expect(summary.rankedAnew == [])
    #expect(try store.feed(named: "f")?.ranking == ranking)
    #expect(try export(store) == exported)
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases)
  func `a later line adds its feeds and replaces the rest`(_ kind: StoreKind) throws {
    let test = try TestStore(kind)
    let store = test.store
    let first = Post(
      id: "a", type: .image, title: "old", author: Author(id: "x", name: "X"), tags: ["t"],
      media: [Media(kind: .image, url: "/u"), Media(kind: .video, url: "/v")])
    let second = Post(id: "a", type: .video, text: "new", media: [Media(kind: .video, url: "/w")])
    try store.load([
      .post(first, placements: [Placement(feed: "one", rank: 3)]),
      .post(second, placements: [Placement(feed: "two")]),
    ])
    #expect(try store.post(withID: "a") == second)
    #expect(try store.walk("one") == ["a"])
    #expect(try store.walk("two") == ["a"])
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases)
  func `an author who changed name has both names where they were used`(_ kind: StoreKind) throws {
    let test = try TestStore(kind)
    let store = test.store
    let posts = [("a", "Ann"), ("b", "Anna"), ("c", "Ann")].map { id, name in
      SeedRecord.post(
        Post(id: id, type: .text, author: Author(id: "1", name: name)), placements: [])
    }
    try store.load(posts)
    #expect(
      try ["a", "b", "c"].map { try store.post(withID: $0)?.author?.name } == [
        "Ann", "Anna", "Ann",
      ])
    #expect(try counts(store.load(posts)) == [0, 0, 3])
    _ = try store.deletePost(withID: "b")
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases)
  func `an export is read back into the same export`(_ kind: StoreKind) throws {
    let test = try TestStore(kind)
    let store = test.store
    try store.load(
      Array(PostGenerator(count: 700, seed: 9)) + [.feed(name: "newest", title: "New")])
    let exported = try export(store)
    #expect(exported.count == 701)
    let otherTest = try TestStore(kind)
    let other = otherTest.store
    let decoder = RecordDecoder()
    try other.load(exported.map { try decoder.decode($0) }.reversed(), batch: 50)
    #expect(try export(other) == exported)
    for feed in try store.feeds() {
      #expect(try other.walk(feed.name, limit: 100) == store.walk(feed.name, limit: 100))
    }
  }

  @Test(arguments: StoreKind.allCases, TestRandom.seeds)
  func `whatever a post holds comes back, on its own, on a page and in an export`(
    _ kind: StoreKind, _ seed: UInt64
  ) throws {
    let test = try TestStore(kind)
    let store = test.store
    var random = TestRandom(seed)
    var posts: [Post] = []
    for index in 0..<60 {
      var post = random.post()
      post.id = "p\(index)"
      posts.append(post)
    }
    func records() -> [SeedRecord] {
      posts.indices.map { .post(posts[$0], placements: [Placement(feed: "f", rank: $0)]) }
    }
    // The second time over what was there, with what may be the same author but for one thing.
    for _ in 0..<2 {
      try store.load(records(), batch: 7)
      for post in posts { try #require(try store.post(withID: post.id) == post, TestRandom.replay) }
      let page = try store.page(PageQuery(feed: "f", limit: 60))
      try #require(page.posts == posts, TestRandom.replay)
      #expect(try counts(store.load(records())) == [0, 0, 60])
      #expect(
        try export(store).sorted { $0.lexicographicallyPrecedes($1) }
          == records().map(\.json).sorted { $0.lexicographicallyPrecedes($1) })
      try test.expectSound()
      for index in posts.indices {
        let (id, author) = (posts[index].id, posts[index].author)
        posts[index] = random.post()
        posts[index].id = id
        if random.once(in: 2) {
          posts[index].author = author
          posts[index].author?.avatar = random.one(of: [nil, "/avatar"])
        }
        if posts[index].author == Author() { posts[index].author = nil }
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a text of other bytes is another text, though it looks the same`(_ kind: StoreKind) throws {
    let test = try TestStore(kind)
    let store = test.store
    let posts = ["\u{e9}", "e\u{301}"].map { text in
      Post(
        id: "a", type: .image, title: text, author: Author(id: text, name: text), tags: [text],
        media: [Media(kind: .image, url: "/" + text)])
    }
    for post in posts {
      try store.load([.post(post, placements: [])])
      #expect(try store.post(withID: "a") == post)
      try test.expectSound()
    }
  }
}
