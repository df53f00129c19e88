import Catalog
import Feed
import Testing

/// What a feed does not answer, and what it says instead.
struct CursorErrorTests {
  /// Ranking 3 is current; 1 is no longer kept, and 4 is being made.
  static let order: FeedOrder = {
    let index = RankingTests.index([1, 2, 3])
    return FeedOrder(
      name: "featured", title: nil, ranking: 3, oldestRanking: 2,
      orders: [2: index, 3: index, 4: index])
  }()

  static func cursor(_ view: Cursor.View, feed: String = "featured") -> Cursor {
    Cursor(feed: feed, view: view, anchor: .start, seen: .start)
  }

  static let good = cursor(.ranking(3))
  static let foreign = cursor(.ranking(3), feed: "videos")

  static let refused: [(PageQuery.Start, FeedError)] = [
    (.after(foreign), .foreignCursor(.after, feed: "featured")),
    (.before(foreign), .foreignCursor(.before, feed: "featured")),
    (.between(after: foreign, before: good), .foreignCursor(.after, feed: "featured")),
    (.between(after: good, before: foreign), .foreignCursor(.before, feed: "featured")),
    (
      .before(cursor(.newer(than: 3), feed: "videos")), .foreignCursor(.before, feed: "featured")
    ),
    (
      .before(cursor(.arrivals(from: 2, to: 3), feed: "videos")),
      .foreignCursor(.before, feed: "featured")
    ),
    (.after(cursor(.ranking(1))), .expiredRanking(.after, 1, feed: "featured")),
    (.before(cursor(.ranking(1))), .expiredRanking(.before, 1, feed: "featured")),
    (.before(cursor(.newer(than: 1))), .expiredRanking(.before, 1, feed: "featured")),
    (.before(cursor(.arrivals(from: 1, to: 3))), .expiredRanking(.before, 1, feed: "featured")),
    (.before(cursor(.arrivals(from: 2, to: 1))), .expiredRanking(.before, 1, feed: "featured")),
    (.after(cursor(.arrivals(from: 2, to: 1))), .expiredRanking(.after, 1, feed: "featured")),
    // The ranking that is being made is nobody's yet.
    (.after(cursor(.ranking(4))), .unknownRanking(.after, 4, feed: "featured")),
    (.before(cursor(.ranking(4))), .unknownRanking(.before, 4, feed: "featured")),
    (.before(cursor(.newer(than: 4))), .unknownRanking(.before, 4, feed: "featured")),
    (.before(cursor(.arrivals(from: 3, to: 4))), .unknownRanking(.before, 4, feed: "featured")),
    (.after(cursor(.ranking(0))), .unknownRanking(.after, 0, feed: "featured")),
    (.after(cursor(.ranking(.max))), .unknownRanking(.after, .max, feed: "featured")),
    (
      .between(after: cursor(.ranking(2)), before: good), .differentRankings(after: 2, before: 3)
    ),
    (
      .between(after: good, before: cursor(.newer(than: 2))),
      .differentRankings(after: 3, before: 2)
    ),
    (
      .between(after: cursor(.ranking(1)), before: cursor(.ranking(1))),
      .expiredRanking(.after, 1, feed: "featured")
    ),
  ]

  @Test(arguments: refused)
  func `a cursor that cannot be followed is refused, with its role`(
    _ start: PageQuery.Start, _ error: FeedError
  ) {
    #expect(throws: error) { try Self.order.page(start, limit: 30) }
  }

  @Test(
    arguments: [
      .after(good), .before(good), .after(cursor(.ranking(2))), .before(cursor(.newer(than: 2))),
      .before(cursor(.arrivals(from: 2, to: 3))), .after(cursor(.newer(than: 2))),
      .between(after: good, before: cursor(.arrivals(from: 2, to: 3))),
    ] as [PageQuery.Start])
  func `a cursor of a ranking that is kept is followed`(_ start: PageQuery.Start) throws {
    #expect(throws: Never.self) { try Self.order.page(start, limit: 30) }
  }

  @Test func `a feed without the order of its current ranking is empty`() throws {
    let order = FeedOrder(name: "featured", title: nil, ranking: 1, orders: [:])
    #expect(order.current.count == 0)
    #expect(try order.page(limit: 30).entries == [])
  }
}
