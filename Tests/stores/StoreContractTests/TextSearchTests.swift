import Catalog
import Feed
import RowStore
import TestSupport
import Testing

/// Posts that are found by their texts, in whatever store.
@Suite struct TextSearchTests {
  private static let posts: [Post] = [
    Post(id: "ferry", type: .image, title: "First Ferry, at dawn", tags: ["sea", "Ålesund"]),
    Post(
      id: "cafe", type: .text, title: "Cafe\u{301} au lait", text: "Don't miss the ferryman's",
      author: Author(id: "a1", name: "Zoë Straße")),
    Post(id: "tokyo", type: .video, title: "東京タワー 2024", text: "夜の東京"),
    Post(id: "kyoto", type: .video, title: "京都と東の町"),
    Post(id: "moscow", type: .text, title: "МОСКВА Ёлка", text: "ΟΔΟΣ ὁδός"),
    Post(id: "emoji", type: .text, text: "🎉 party 🎈🎈, ％full１２"),
    Post(
      id: "long", type: .text, title: String(repeating: "x", count: 100),
      text: "soft\u{ad}hyphen"),
    Post(id: "bare", type: .ad),
    Post(id: "dawn", type: .image, title: "Dawn at first", tags: ["ferry"]),
  ]

  /// What is looked for, and the posts, the newest first.
  private static let cases: [(text: String, ids: [String])] = [
    ("ferry", ["dawn", "cafe", "ferry"]), ("ferry ", ["dawn", "ferry"]),
    ("FERRY dawn", ["dawn", "ferry"]), ("\"first ferry\"", ["ferry"]),
    ("\"ferry first\"", []), ("\"dawn sea\"", []), ("\"at dawn\"", ["ferry"]),
    ("\"at first", ["dawn"]), ("fer", ["dawn", "cafe", "ferry"]), ("fe", []),
    ("\"fer\"", []), ("fer dawn", []), ("sea alesund", ["ferry"]), ("ålesund", ["ferry"]),
    ("A\u{30a}lesund", ["ferry"]), ("café", ["cafe"]), ("cafe", ["cafe"]),
    ("strasse", ["cafe"]), ("STRAßE zoe", ["cafe"]), ("don't", ["cafe"]), ("a1", []),
    ("東京", ["tokyo"]), ("東 京", ["kyoto", "tokyo"]), ("京東", []), ("タワ", ["tokyo"]),
    ("\"夜の東京\"", ["tokyo"]), ("2024", ["tokyo"]), ("москва елка", ["moscow"]),
    ("οδοσ", ["moscow"]), ("🎉", ["emoji"]), ("🎈🎈🎈", []), ("🎈🎈", ["emoji"]),
    ("full12", ["emoji"]), ("softhyphen", ["long"]),
    (String(repeating: "X", count: 70), ["long"]), ("xxxx", ["long"]),
    ("nothing of that", []),
    ("ferry OR cafe", []), ("ferry AND dawn", []), ("NEAR(ferry dawn)", []),
    ("words:ferry*", []), ("'ferry' & !dawn", ["dawn", "ferry"]),
    ("ferry\u{0}dawn", ["dawn", "ferry"]),
    ("-ferry", ["dawn", "cafe", "ferry"]), ("ferry:*", ["dawn", "ferry"]),
    ("\\ferry\\", ["dawn", "ferry"]),
  ]

  private static func find(
    _ store: any FeedStore, _ text: String, limit: Int = 2, looks: Int = 2_000,
    _ change: (inout ItemFilter) -> Void = { _ in }
  ) throws -> [String] {
    var filter = ItemFilter()
    filter.text = try TextQuery(text)
    change(&filter)
    var ids: [String] = []
    var end: Int64?
    repeat {
      let part = try store.postNumbers(below: end, filter, limit: limit, looks: looks)
      #expect(part.numbers.count <= limit)
      ids += try store.items(part.numbers).map(\.post.id)
      end = part.end
    } while end != nil
    return ids
  }

  private static func make(_ kind: StoreKind) throws -> TestStore {
    let test = try TestStore(kind)
    try test.store.load(
      posts.map {
        .post($0, placements: $0.type == .video ? [] : [Placement(feed: "f", rank: 1)])
      }, batch: 4)
    return test
  }

  @Test(arguments: StoreKind.allCases)
  func `posts are found by words, beginnings of words, phrases`(_ kind: StoreKind) throws {
    let test = try Self.make(kind)
    for (text, ids) in Self.cases {
      #expect(try Self.find(test.store, text) == ids, "\(text.debugDescription)")
      #expect(try Self.find(test.store, text, limit: 1, looks: 1) == ids, "\(text)")
    }
    for text in ["", " ", "*", "\"\"", "\u{301}", "\u{0}", "\u{fe0f}", "- ! ( ) : ^ & |"] {
      #expect(throws: TextQueryError.noWord, "\(text)") { try TextQuery(text) }
    }
    let many = (0..<RecordLimits.searchWords).map { "w\($0)" }.joined(separator: "\" (*")
    #expect(try Self.find(test.store, many).isEmpty)
    #expect(throws: TextQueryError.tooManyWords(limit: RecordLimits.searchWords)) {
      try TextQuery(many + " w")
    }
    #expect(throws: TextQueryError.tooManyWords(limit: RecordLimits.searchWords)) {
      try TextQuery(String(repeating: "字", count: 3_400))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `other conditions hold as well`(_ kind: StoreKind) throws {
    let test = try Self.make(kind)
    let store = test.store
    #expect(try Self.find(store, "東 京") { $0.type = .video } == ["kyoto", "tokyo"])
    #expect(try Self.find(store, "東 京") { $0.type = .text }.isEmpty)
    #expect(try Self.find(store, "東 京") { $0.feed = "f" }.isEmpty)
    #expect(try Self.find(store, "ferry") { $0.feed = "f" } == ["dawn", "cafe", "ferry"])
    #expect(try Self.find(store, "ferry") { $0.feed = "nope" }.isEmpty)
    #expect(
      try Self.find(store, "ferry") {
        $0.type = .image
        $0.feed = "f"
      } == ["dawn", "ferry"])
    #expect(
      try Self.find(store, "ferry") { $0.publishedFrom = Timestamp(microseconds: 0) }.isEmpty)
    var timed = Self.posts[0]
    timed.publishedAt = Timestamp(microseconds: 5_000_000)
    try store.outcome(of: ItemWrite(id: "ferry", change: .put(timed, placements: [])))
    #expect(
      try Self.find(store, "ferry") { $0.publishedFrom = Timestamp(microseconds: 5_000_000) }
        == ["ferry"])
    #expect(
      try Self.find(store, "ferry") { $0.publishedBefore = Timestamp(microseconds: 5_000_000) }
        .isEmpty)
    #expect(try Self.find(store, "ferry") { $0.feed = "f" } == ["dawn", "cafe"])
  }

  @Test(arguments: StoreKind.allCases)
  func `what is written is found with the write, and no longer what was`(_ kind: StoreKind) throws {
    let test = try Self.make(kind)
    let store = test.store
    var post = Self.posts[0]
    for (change, old, new) in [
      ({ $0.title = "Tram" }, "first ferry", "tram"), ({ $0.tags = ["rail"] }, "sea", "rail"),
      ({ $0.text = "slow" }, "nothing", "slow"),
      ({ $0.author = Author(name: "Kim") }, "nothing", "kim"),
      ({ $0.author = Author(id: "k", name: "Lee") }, "kim", "lee"),
      (
        {
          ($0.title, $0.text, $0.author) = (nil, nil, nil)
          $0.tags = []
        }, "tram", nil
      ),
      ({ $0.title = "Ferry again" }, "tram", "again"),
    ] as [((inout Post) -> Void, String, String?)] {
      change(&post)
      try store.outcome(of: ItemWrite(id: "ferry", change: .put(post, placements: nil)))
      #expect(try !Self.find(store, old).contains("ferry"))
      if let new { #expect(try Self.find(store, new) == ["ferry"]) }
    }
    try store.outcome(
      of: ItemWrite(id: "ferry", change: .increment([Counter("likes", 1)], key: nil)))
    #expect(try Self.find(store, "again") == ["ferry"])
    // A run, in which a post comes twice.
    post.title = "Once"
    var twice = post
    twice.title = "Twice"
    try store.load([.post(post, placements: []), .post(twice, placements: [])])
    #expect(try Self.find(store, "once again").isEmpty)
    #expect(try Self.find(store, "twice") == ["ferry"])
    #expect(try store.deletePost(withID: "ferry"))
    #expect(try Self.find(store, "twice").isEmpty)
    try store.load([.post(twice, placements: [])])
    #expect(try Self.find(store, "twice") == ["ferry"])
    var filter = ItemFilter()
    filter.text = try TextQuery("twice")
    let newest = try store.postNumbers(below: nil, ItemFilter(), limit: 1, looks: 1).numbers
    #expect(try store.postNumbers(below: nil, filter, limit: 1, looks: 10).numbers == newest)
  }

  @Test(arguments: StoreKind.allCases, TestRandom.seeds)
  func `a store finds what the posts' texts have`(_ kind: StoreKind, _ seed: UInt64) throws {
    var random = TestRandom(seed)
    let test = try TestStore(kind)
    let store = test.store
    let words = ["alpha", "alphabet", "beta", "bêta", "東", "京", "🎉", "x"]
    func text() -> String {
      (0..<random.number(0...5)).map { _ in random.one(of: words) }
        .joined(separator: random.one(of: [" ", "", ", ", "\u{301} "]))
    }
    var posts: [ByteText: Post] = [:]
    var order: [ByteText] = []
    for _ in 0..<random.number(20...60) {
      let id = "p\(random.number(0...30))"
      if random.number(0...5) == 0 {
        _ = try store.deletePost(withID: id)
        posts[id] = nil
        order.removeAll { $0 == ByteText(id) }
        continue
      }
      var post = Post(id: id, type: .text, tags: random.number(0...2) == 0 ? ["beta"] : [])
      (post.title, post.text) = (text(), text())
      if post.title == "" { post.title = nil }
      if post.text == "" { post.text = nil }
      try store.outcome(of: ItemWrite(id: id, change: .put(post, placements: [])))
      if posts[id] == nil { order.append(ByteText(id)) }
      posts[id] = post
    }
    for _ in 0..<30 {
      let looked = text() + random.one(of: ["", " ", "\"", " \"al"])
      guard let query = try? TextQuery(looked) else { continue }
      let expected = order.reversed().filter { query.matches(posts[$0]!) }.map(\.text)
      #expect(
        try Self.find(store, looked, limit: random.number(1...9), looks: random.number(1...40))
          == expected, "\(looked)")
    }
  }

  @Test(arguments: StoreKind.databases)
  func `a copy is indexed bit by bit, and told of until then`(_ kind: StoreKind) throws {
    let (filled, test) = (try Self.make(kind), try TestStore(kind))
    defer { withExtendedLifetime((filled, test)) {} }
    let source = try #require(filled.store as? any DatabaseStore)
    let target = try #require(test.store as? any DatabaseStore)
    #expect(try target.indexTexts(atMost: 1) == 0)
    try target.writeTables { write in try source.readTables(write) }
    #expect(throws: TextIndexUnfinished.self) { try Self.find(target, "ferry") }
    var left = try target.indexTexts(atMost: 4)
    var lefts = [left]
    // Writes go on meanwhile, of posts on either side.
    var post = Self.posts[0]
    post.title = "Tram"
    try target.outcome(of: ItemWrite(id: "ferry", change: .put(post, placements: nil)))
    #expect(try target.deletePost(withID: "dawn"))
    #expect(try target.deletePost(withID: "tokyo"))
    #expect(throws: TextIndexUnfinished(below: left)) { try Self.find(target, "ferry") }
    while left > 0 {
      left = try target.indexTexts(atMost: 2)
      lefts.append(left)
    }
    #expect(lefts == lefts.sorted(by: >) && lefts.count > 2)
    for (text, ids) in [
      ("tram", ["ferry"]), ("ferry", ["cafe"]), ("東", ["kyoto"]), ("москва", ["moscow"]),
    ] {
      #expect(try Self.find(target, text) == ids, "\(text)")
    }
    #expect(try target.check().isEmpty)
  }
}
