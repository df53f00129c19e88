import Feed
import TestSupport
import Testing

@testable import Catalog

@Suite struct FeedListTests {
  private static func entry(_ id: Int64, _ name: String) -> FeedCatalog.Entry {
    FeedCatalog.Entry(
      feedID: id,
      order: FeedOrder(name: name, title: nil, ranking: 1, orders: [1: OrderIndex()]))
  }

  private static func list(_ count: Int) -> FeedList {
    FeedList((0..<count).map { entry(Int64($0) + 1, "f\($0)") })
  }

  private func page(_ list: FeedList, _ query: FeedListQuery) throws -> FeedListPage {
    try #require(list.page(query))
  }

  /// The names of a walk's pages.
  private func walk(_ list: FeedList, limit: Int, isUpwards: Bool = false) throws -> [[String]] {
    var pages: [[String]] = []
    var place: FeedListCursor? = isUpwards ? .end : .start
    while let cursor = place {
      let page = try page(
        list,
        isUpwards
          ? FeedListQuery(before: cursor, limit: limit) : FeedListQuery(after: cursor, limit: limit)
      )
      pages.append(page.feeds.map(\.name))
      place = isUpwards ? page.previous : page.next
    }
    return pages
  }

  @Test(arguments: [0, 1, 2, 30, 31, 512, 1_500])
  func `a walk at any limit meets each feed once, downwards and upwards`(_ count: Int) throws {
    let list = Self.list(count)
    let names = list.entries.map { ByteText($0.order.name) }.sorted().map(\.text)
    #expect(list.count == count && names.count == count)
    for limit in [1, 7, 30, 100, 2_000] {
      let pages = try walk(list, limit: limit)
      #expect(pages.flatMap { $0 } == names)
      #expect(pages.dropLast().allSatisfy { $0.count == limit })
      let upwards = try walk(list, limit: limit, isUpwards: true)
      #expect(upwards.reversed().flatMap { $0 } == names)
    }
  }

  @Test
  func `there is a next page exactly where a feed follows, and a previous where one precedes`()
    throws
  {
    let list = Self.list(3)
    for (query, names, next, previous) in [
      (FeedListQuery(limit: 3), ["f0", "f1", "f2"], nil, nil),
      (FeedListQuery(limit: 2), ["f0", "f1"], FeedListCursor.name("f1"), nil),
      (FeedListQuery(after: .name("f0"), limit: 1), ["f1"], .name("f1"), .name("f1")),
      (FeedListQuery(after: .name("f2"), limit: 1), [], nil, .end),
      (FeedListQuery(before: .name("f0"), limit: 1), [], .start, nil),
      (FeedListQuery(before: .name("f2"), limit: 1), ["f1"], .name("f1"), .name("f1")),
      // Made at a feed that is gone.
      (FeedListQuery(after: .name("f00"), limit: 1), ["f1"], .name("f1"), .name("f1")),
      // A gap ends where it ends.
      (FeedListQuery(after: .name("f0"), before: .name("f2"), limit: 5), ["f1"], nil, nil),
      (FeedListQuery(after: .start, before: .name("f2"), limit: 1), ["f0"], .name("f0"), nil),
      (FeedListQuery(after: .name("f2"), before: .name("f0"), limit: 5), [], nil, nil),
      (FeedListQuery(limit: 0), [], .start, nil),
    ] as [(FeedListQuery, [String], FeedListCursor?, FeedListCursor?)] {
      let page = try page(list, query)
      #expect(page.feeds.map(\.name) == names, "\(query)")
      #expect(page.next == next && page.previous == previous, "\(query)")
      #expect(page.total == 3)
    }
  }

  @Test func `a feed is found by name, by number, and under its latest name alone`() {
    var list = Self.list(5)
    let before = list
    list.remove(id: 2)
    list.put(Self.entry(2, "other"))
    // Another feed that has the name of one that is gone.
    list.put(Self.entry(9, "f3"))
    #expect(list["f1"] == nil && list["other"]?.feedID == 2 && list[id: 2]?.order.name == "other")
    #expect(list["f3"]?.feedID == 9 && list[id: 4] == nil && list.count == 5)
    #expect(
      list.page(FeedListQuery(limit: 9))?.feeds.map(\.name) == ["f0", "f2", "f3", "f4", "other"])
    #expect(before["f1"]?.feedID == 2 && before["f3"]?.feedID == 4 && before.count == 5)
  }

  @Test func `a page with a feed that has yet to be read is none`() {
    var list = Self.list(2)
    list.put(
      FeedCatalog.Entry(
        feedID: 3, order: FeedOrder(name: "g", title: nil, ranking: 1, orders: [:])))
    #expect(list.page(FeedListQuery(limit: 2))?.feeds.count == 2)
    #expect(list.page(FeedListQuery(limit: 3)) == nil)
  }
}
