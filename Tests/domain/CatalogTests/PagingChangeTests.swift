import Catalog
import Feed
import TestSupport
import Testing

/// Walks through a feed that changes under them.
struct PagingChangeTests {
  @Test(arguments: Shape.allCases, [1, 7])
  func `a deleted anchor leaves the next and the previous page unchanged`(shape: Shape, limit: Int)
    throws
  {
    for seed in TestRandom.seeds {
      var random = TestRandom(seed)
      let feed = TestFeed(40, shape, &random)
      for offset in stride(from: 0, to: 40, by: 3) {
        let page = try feed.order.page(offset: offset, limit: limit)
        for gone in [Set(page.numbers.suffix(1)), Set(page.numbers.prefix(1)), Set(page.numbers)] {
          var changed = feed
          changed.remove(gone)
          if let next = page.next {
            #expect(
              try changed.order.page(.after(next), limit: limit).numbers
                == feed.order.page(.after(next), limit: limit).numbers, TestRandom.replay)
          }
          if let previous = page.previous {
            #expect(
              try changed.order.page(.before(previous), limit: limit).numbers
                == feed.order.page(.before(previous), limit: limit).numbers, TestRandom.replay)
          }
        }
      }
    }
  }

  /// Posts come and go anywhere; `true` leaves the index to the changes too, not only the model.
  static func change(_ feed: inout TestFeed, _ order: inout FeedOrder, _ random: inout TestRandom) {
    let arrived = (0..<random.number(0...6)).map { _ in
      feed.make(.mixed, spread: 60, &random)
    }
    let gone = feed.posts.filter { _ in random.once(in: 30) }
    feed.remove(Set(gone.map(\.number)))
    feed.insert(arrived)
    order.orders[1]?.apply(removals: gone.map(\.position), insertions: arrived.map(\.entry))
  }

  @Test(arguments: [1, 7, 30], [true, false])
  func `a walk in a changing feed shows each post that stays exactly once`(
    limit: Int, isDownwards: Bool
  ) throws {
    for seed in TestRandom.seeds {
      var random = TestRandom(seed)
      for _ in 0..<4 {
        var feed = TestFeed(257, .mixed, &random)
        var order = feed.order
        let original = Set(feed.numbers)
        var page = try order.page(offset: isDownwards ? 0 : .max, limit: limit)
        var pages = [page.numbers]
        while let cursor = isDownwards ? page.next : page.previous {
          Self.change(&feed, &order, &random)
          page = try order.page(isDownwards ? .after(cursor) : .before(cursor), limit: limit)
          pages.append(page.numbers)
          try #require(pages.count < 2_000, "the walk does not end, \(TestRandom.replay)")
        }
        let shown = (isDownwards ? pages : pages.reversed()).flatMap { $0 }
        #expect(Set(shown).count == shown.count, "none twice, \(TestRandom.replay)")
        let staying = feed.numbers.filter(original.contains)
        let survivors = Set(staying)
        #expect(shown.filter(survivors.contains) == staying, "each once, \(TestRandom.replay)")
        #expect(order.current.allEntries.map(\.post) == feed.numbers)
      }
    }
  }
}
