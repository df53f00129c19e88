import Catalog
import Dispatch
import Feed
import TestSupport
import Testing

/// Places in words: where the writer says, whatever others have written until then.
@Suite struct RelativePlaceTests {
  private static func put(_ id: String, _ place: RelativePlace, feed: String = "f") -> ItemWrite {
    ItemWrite(
      id: id,
      change: .put(Post(id: id, type: .text), placements: [Placement(feed: feed, place)]))
  }

  private static func order(_ store: any FeedStore, _ feed: String = "f") throws -> [String] {
    var ids: [String] = []
    var query = PageQuery(feed: feed, limit: 100)
    while true {
      let page = try store.page(query)
      ids += page.posts.map(\.id)
      guard let next = page.slice.next else { return ids }
      query = PageQuery(feed: feed, start: .after(next), limit: 100)
    }
  }

  private static func after(_ id: String) -> RelativePlace { .after(ByteText(id)) }
  private static func before(_ id: String) -> RelativePlace { .before(ByteText(id)) }

  @Test(arguments: StoreKind.allCases)
  func `an item is where the words say`(_ kind: StoreKind) throws {
    let test = try TestStore(kind)
    defer { #expect((try? test.findings()) == []) }
    let store = test.store
    // By time below all that have a rank.
    try store.load([
      .post(
        Post(id: "t", type: .text, publishedAt: Timestamp(microseconds: 9)),
        placements: [Placement(feed: "f")])
    ])
    for (id, place, order) in [
      ("a", .top, ["a", "t"]), ("b", .bottom, ["a", "b", "t"]),
      ("c", Self.after("a"), ["a", "c", "b", "t"]),
      ("d", Self.before("a"), ["d", "a", "c", "b", "t"]),
      ("b", .top, ["b", "d", "a", "c", "t"]), ("b", .top, ["b", "d", "a", "c", "t"]),
      ("b", Self.after("d"), ["d", "b", "a", "c", "t"]),
      ("b", Self.before("a"), ["d", "b", "a", "c", "t"]),
      ("t", Self.after("b"), ["d", "b", "t", "a", "c"]), ("d", .bottom, ["b", "t", "a", "c", "d"]),
    ] as [(String, RelativePlace, [String])] {
      let ranking = try store.feed(named: "f")?.ranking
      let isThere = try Self.order(store) == order
      try store.outcome(of: Self.put(id, place))
      #expect(try Self.order(store) == order, "\(id) \(place)")
      if isThere { #expect(try store.feed(named: "f")?.ranking == ranking, "\(id) \(place)") }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `where there is no such place, nothing is written`(_ kind: StoreKind) throws {
    let test = try TestStore(kind)
    let store = test.store
    try store.load([
      .post(Post(id: "t", type: .text), placements: [Placement(feed: "f")]),
      .post(Post(id: "o", type: .text), placements: [Placement(feed: "other", rank: 1)]),
      .post(Post(id: "é", type: .text), placements: [Placement(feed: "f", rank: 1)]),
    ])
    for (id, place, feed, error) in [
      ("x", Self.after("nope"), "f", FeedError.noPlaceBeside(item: "nope", feed: "f")),
      ("x", Self.after("o"), "f", .noPlaceBeside(item: "o", feed: "f")),
      // Another normal form is another id.
      ("x", Self.before("e\u{301}"), "f", .noPlaceBeside(item: "e\u{301}", feed: "f")),
      ("x", Self.before("é"), "new", .noPlaceBeside(item: "é", feed: "new")),
      ("é", Self.after("é"), "f", .noPlaceBeside(item: "é", feed: "f")),
      ("x", Self.after("t"), "f", .neighborWithoutRank(item: "t", feed: "f")),
    ] {
      #expect(throws: error) { try store.outcome(of: Self.put(id, place, feed: feed)) }
    }
    #expect(try store.item(withID: "x") == nil)
    #expect(try store.feed(named: "new") == nil)
    #expect(try Self.order(store) == ["é", "t"])
    // What may not be written at all says nothing of what there is.
    struct Refused: Error {}
    let refused = ItemWrite(
      id: "x",
      change: .put(
        Post(id: "x", type: .text), placements: [Placement(feed: "f", Self.after("nope"))]),
      authorization: { _ in throw Refused() })
    #expect(throws: Refused.self) { try store.outcome(of: refused) }
  }

  @Test(arguments: StoreKind.allCases)
  func `a feed without room between its ranks makes some, and a walk goes on`(
    _ kind: StoreKind
  ) throws {
    let test = try TestStore(kind)
    defer { #expect((try? test.findings()) == []) }
    let store = test.store
    let count = 300
    var order = (0..<count).map { "p\($0)" }
    try store.load(
      order.enumerated().map { rank, id in
        .post(Post(id: id, type: .text), placements: [Placement(feed: "f", rank: rank)])
      })
    let first = try store.page(PageQuery(feed: "f", limit: 50))
    for (id, place, index) in [
      ("x", .top, 0), ("y", .top, 0), ("z", Self.after("p0"), 3), ("w", Self.before("p299"), 302),
      ("v", .bottom, 304),
    ] as [(String, RelativePlace, Int)] {
      try store.outcome(of: Self.put(id, place))
      order.insert(id, at: index)
      #expect(try Self.order(store) == order, "\(id)")
    }
    // Its own ranking, which has the new ones that were placed in it before it ended.
    var walk = first.posts.map(\.id)
    var next = first.slice.next
    while let cursor = next {
      let page = try store.page(PageQuery(feed: "f", start: .after(cursor), limit: 50))
      walk += page.posts.map(\.id)
      next = page.slice.next
    }
    #expect(walk.filter { $0.hasPrefix("p") } == (0..<count).map { "p\($0)" })
  }

  @Test(arguments: StoreKind.allCases)
  func `the same place again and again has room`(_ kind: StoreKind) throws {
    let test = try TestStore(kind)
    let store = test.store
    try store.outcome(of: Self.put("a", .top))
    try store.outcome(of: Self.put("b", .bottom))
    for index in 0..<60 { try store.outcome(of: Self.put("x\(index)", Self.after("a"))) }
    #expect(
      try Self.order(store) == ["a"] + (0..<60).reversed().map { "x\($0)" } + ["b"])
    for index in 0..<60 { try store.outcome(of: Self.put("y\(index)", Self.before("b"))) }
    #expect(try Self.order(store).suffix(61) == (0..<60).map { "y\($0)" } + ["b"])
  }

  @Test(arguments: StoreKind.allCases, TestRandom.seeds)
  func `any words mean the same in every store`(_ kind: StoreKind, _ seed: UInt64) throws {
    var random = TestRandom(seed)
    let test = try TestStore(kind)
    let store = test.store
    var order: [String] = []
    for step in 0..<150 {
      let id = "i\(Int.random(in: 0..<40, using: &random))"
      let others = order.filter { $0 != id }
      let neighbor = others.randomElement(using: &random)
      var after = others
      switch (Int.random(in: 0..<5, using: &random), neighbor) {
      case (0, _), (_, .none):
        after.insert(id, at: 0)
        try store.outcome(of: Self.put(id, .top))
      case (1, _):
        after.append(id)
        try store.outcome(of: Self.put(id, .bottom))
      case (2, .some(let neighbor)):
        after.insert(id, at: others.firstIndex(of: neighbor)! + 1)
        try store.outcome(of: Self.put(id, Self.after(neighbor)))
      case (3, .some(let neighbor)):
        after.insert(id, at: others.firstIndex(of: neighbor)!)
        try store.outcome(of: Self.put(id, Self.before(neighbor)))
      default:
        guard order.contains(id) else { continue }
        #expect(try store.deletePost(withID: id))
        after = others
      }
      order = after
      #expect(try Self.order(store) == order, "seed \(seed), step \(step)")
    }
    #expect(try Self.order(test.again()) == order, "seed \(seed)")
  }

  @Test(arguments: StoreKind.allCases)
  func `many writers at once each get the place that they ask for`(_ kind: StoreKind) throws {
    let test = try TestStore(kind)
    defer { #expect((try? test.findings()) == []) }
    // Two servers at one database, where there is one.
    let stores = [test.store, try test.again()]
    try stores[0].outcome(of: Self.put("a", .top))
    try stores[0].outcome(of: Self.put("z", .bottom))
    DispatchQueue.concurrentPerform(iterations: 8) { writer in
      let store = stores[writer % 2]
      for index in 0..<10 {
        let id = "w\(writer)-\(index)"
        let place =
          writer < 4
          ? Self.after(index == 0 ? "a" : "w\(writer)-\(index - 1)")
          : Self.before(index == 0 ? "z" : "w\(writer)-\(index - 1)")
        #expect(throws: Never.self) { try store.outcome(of: Self.put(id, place)) }
      }
    }
    try stores[0].refresh()
    let order = try Self.order(stores[0])
    #expect(order.count == 82 && Set(order).count == 82)
    #expect(order.first == "a" && order.last == "z")
    let places = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })
    for writer in 0..<8 {
      let own = (0..<10).compactMap { places["w\(writer)-\($0)"] }
      #expect(own == (writer < 4 ? own.sorted() : own.sorted(by: >)), "writer \(writer)")
      // What one writer puts beside its own stays together: no other names it.
      if let least = own.min(), let most = own.max() { #expect(most - least == 9, "\(writer)") }
    }
  }
}
