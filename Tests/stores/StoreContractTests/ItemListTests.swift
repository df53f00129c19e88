import Catalog
import Feed
import TestSupport
import Testing

/// The list of all items, whatever lies in the store.
@Suite struct ItemListTests {
  private static func post(_ index: Int) -> Post {
    Post(
      id: "p\(index)", type: index.isMultiple(of: 3) ? .video : .text, title: "Title \(index)",
      // Some have no time.
      publishedAt: index.isMultiple(of: 5)
        ? nil : Timestamp(microseconds: Int64(index) * 1_000_000),
      extra: index == 7 ? Extra(checkedJSON: "{\"a\":1}") : nil,
      media: index.isMultiple(of: 2) ? [Media(kind: .image, url: "/media/\(index).png")] : [])
  }

  private static func walk(
    _ store: any FeedStore, _ filter: ItemFilter = ItemFilter(), limit: Int, looks: Int
  ) throws -> [StoredItem] {
    var items: [StoredItem] = []
    var end: Int64?
    repeat {
      let part = try store.postNumbers(below: end, filter, limit: limit, looks: looks)
      #expect(part.numbers.count <= limit)
      #expect(part.numbers == part.numbers.sorted(by: >))
      if let end, let next = part.end { #expect(next < end) }
      items += try store.items(part.numbers)
      end = part.end
    } while end != nil
    return items
  }

  @Test(arguments: StoreKind.allCases)
  func `every walk has each item once, the newest first`(_ kind: StoreKind) throws {
    let test = try TestStore(kind)
    let store = test.store
    #expect(try Self.walk(store, limit: 3, looks: 5).isEmpty)
    let count = 40
    for index in 0..<count {
      try store.load([
        .post(
          Self.post(index),
          placements: index.isMultiple(of: 4)
            ? [] : [Placement(feed: "f", rank: index), Placement(feed: "a")])
      ])
    }
    let expected = try (0..<count).reversed().map { try #require(try store.item(withID: "p\($0)")) }
      .map { StoredItem(post: $0.post, placements: $0.placements) }
    for (limit, looks) in [(1, 1), (1, 7), (3, 5), (7, 7), (40, 40), (100, 41), (100, 2_000)] {
      #expect(
        try Self.walk(store, limit: limit, looks: looks) == expected, "\(limit) of \(looks)")
    }
    for from in [nil, 0, 7, 39, 40] as [Int64?] {
      for before in [nil, 0, 8, 39, 100] as [Int64?] {
        for type in [nil, .video, .ad] as [PostType?] {
          var filter = ItemFilter()
          filter.type = type
          filter.publishedFrom = from.map { Timestamp(microseconds: $0 * 1_000_000) }
          filter.publishedBefore = before.map { Timestamp(microseconds: $0 * 1_000_000) }
          let admitted = expected.filter { item in
            if let type, item.post.type != type { return false }
            guard let time = item.post.publishedAt?.microseconds else {
              return from == nil && before == nil
            }
            return from.map { $0 * 1_000_000 <= time } ?? true
              && before.map { time < $0 * 1_000_000 } ?? true
          }
          #expect(
            try Self.walk(store, filter, limit: 3, looks: 11) == admitted,
            "\(String(describing: from)) \(String(describing: before)) \(String(describing: type))")
        }
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what goes and comes during a walk disturbs no other`(_ kind: StoreKind) throws {
    let test = try TestStore(kind)
    let store = test.store
    try store.load((0..<10).map { .post(Self.post($0), placements: []) }, batch: 1)
    let first = try store.postNumbers(below: nil, ItemFilter(), limit: 4, looks: 100)
    #expect(try store.items(first.numbers).map(\.post.id) == ["p9", "p8", "p7", "p6"])
    // The one at which the list goes on, one that was seen, one that was not.
    for id in ["p6", "p9", "p3"] { #expect(try store.deletePost(withID: id)) }
    try store.load([.post(Self.post(10), placements: [])])
    #expect(try store.items(first.numbers).map(\.post.id) == ["p8", "p7"])
    let rest = try store.postNumbers(below: first.end, ItemFilter(), limit: 100, looks: 100)
    #expect(try store.items(rest.numbers).map(\.post.id) == ["p5", "p4", "p2", "p1", "p0"])
    #expect(rest.end == nil)
    #expect(try store.items([.max, -1]).isEmpty)
  }
}
