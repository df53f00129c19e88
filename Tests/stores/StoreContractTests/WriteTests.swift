import Catalog
import Dispatch
import Feed
import TestSupport
import Testing

/// Single writes: conditions, deletions, and when they are seen.
@Suite struct WriteTests {
  struct Refused: Error, Equatable {}

  private static func make(_ kind: StoreKind) throws -> TestStore {
    let test = try TestStore(kind)
    try test.store.load([.ranked("a", 1), .ranked("b", 2), .ranked("c", 3)])
    return test
  }

  @Test(arguments: StoreKind.allCases)
  func `a condition sees the item as it is, and what it throws changes nothing`(_ kind: StoreKind)
    throws
  {
    let test = try Self.make(kind)
    let store = test.store
    let stored = try store.item(withID: "a")
    #expect(stored?.placements == [Placement(feed: "featured", rank: 1)])
    let post = Post(id: "a", type: .text)
    let changes: [ItemWrite.Change] = [
      .put(post, placements: []), .put(post, placements: [Placement(feed: "new")]), .delete,
      .increment([Counter("likes", 1)], key: IdempotencyKey("k", of: "a", fingerprint: "f")),
    ]
    for change in changes {
      #expect(throws: Refused.self) {
        try store.outcome(
          of: ItemWrite(id: "a", change: change) { item in
            #expect(item == stored)
            throw Refused()
          })
      }
    }
    #expect(try store.item(withID: "a") == stored)
    #expect(try store.walk("featured") == ["a", "b", "c"])
    #expect(try store.feeds().map(\.name) == ["featured"])
    // Nor is the key kept.
    #expect(try store.increment("b", key: "k") == .counted([Counter("likes", 1)], isReplay: false))
  }

  @Test(arguments: StoreKind.allCases)
  func `a condition that throws leaves a new item unmade`(_ kind: StoreKind) throws {
    let test = try Self.make(kind)
    let store = test.store
    #expect(throws: Refused.self) {
      try store.outcome(
        of: ItemWrite(id: "x", change: .put(Post(id: "x", type: .text), placements: [])) { item in
          if item == nil { throw Refused() }
        })
    }
    #expect(try store.post(withID: "x") == nil)
  }

  @Test(arguments: StoreKind.allCases)
  func `a deleted item is gone from file and feeds; an unknown one is named`(_ kind: StoreKind)
    throws
  {
    let test = try Self.make(kind)
    let store = test.store
    #expect(try store.outcome(of: ItemWrite(id: "b", change: .delete)) == .deleted)
    #expect(try store.walk("featured") == ["a", "c"])
    #expect(try store.feed(named: "featured")?.total == 2)
    #expect(try store.post(withID: "b") == nil)
    #expect(throws: FeedError.unknownItem("b")) {
      try store.outcome(of: ItemWrite(id: "b", change: .delete))
    }
    #expect(throws: FeedError.unknownItem("b")) { try store.increment("b") }
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases)
  func `the next read sees a write of each kind`(_ kind: StoreKind) throws {
    let test = try Self.make(kind)
    let store = test.store
    let writes = DispatchGroup()
    for number in 0..<200 {
      let id = "n\(number)"
      writes.enter()
      let put = ItemWrite(
        id: id,
        change: .put(
          Post(id: id, type: .text), placements: [Placement(feed: "featured", rank: number)]))
      store.write(put) { result in
        defer { writes.leave() }
        #expect(throws: Never.self) {
          _ = try result.get()
          let query = PageQuery(
            feed: "featured", start: .around(.item(id), leading: 0, trailing: 0))
          #expect(try store.page(query).posts.map(\.id) == [id])
        }
      }
      if number % 10 == 9 { writes.wait() }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `one write of a group fails alone, and changes nothing`(_ kind: StoreKind) throws {
    let test = try Self.make(kind)
    let store = test.store
    func increment(_ id: String) -> ItemWrite {
      ItemWrite(id: id, change: .increment([Counter("likes", 1)], key: nil))
    }
    let moved = ItemWrite(
      id: "c",
      change: .put(
        Post(id: "c", type: .text), placements: [Placement(feed: "featured", rank: 9)])
    ) { _ in throw Refused() }
    let results = store.outcomes(ofGroup: [
      increment("a"), moved, increment("nobody"), increment("c"),
    ])
    guard case .success(.counted([Counter("likes", 1)], isReplay: false)) = results[0],
      case .failure(is Refused) = results[1],
      case .failure(FeedError.unknownItem("nobody")) = results[2],
      case .success(.counted) = results[3]
    else {
      Issue.record("the results are \(results)")
      return
    }
    #expect(try store.feed(named: "featured")?.ranking == 1)
    #expect(try store.post(withID: "c")?.type == .image)
    try test.expectSound()
  }
}
