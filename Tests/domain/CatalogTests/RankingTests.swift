import Catalog
import Feed
import TestSupport
import Testing

/// Cursors across the rankings of a feed that was ranked anew.
struct RankingTests {
  /// A ranking as a list of post numbers from the top. `came` stand above the rest and move none.
  static func index(_ numbers: [Int64], came: [Int64] = []) -> OrderIndex {
    OrderIndex(
      (came + numbers).enumerated().map { offset, number in
        let rank = 1_000 - came.count + offset
        return OrderEntry(
          position: Position(key: SortKey(rank: rank, publishedAt: nil), id: "p\(number)"),
          post: number, publishedAt: nil)
      })
  }

  static func feed(_ orders: [Int: OrderIndex], ranking: Int) -> FeedOrder {
    FeedOrder(name: "featured", title: nil, ranking: ranking, orders: orders)
  }

  @Test(arguments: TestRandom.seeds) func `history goes on in the ranking that page one showed`(
    seed: UInt64
  ) throws {
    var random = TestRandom(seed)
    let old = (1...40).map(Int64.init)
    let before = Self.feed([1: Self.index(old)], ranking: 1)
    let after = Self.feed(
      [1: Self.index(old), 2: Self.index(old.shuffled(using: &random))], ranking: 2)
    var page = try before.page(limit: 7)
    var shown = page.numbers
    while let next = page.next {
      page = try after.page(.after(next), limit: 7)
      #expect(page.ranking == 1)
      shown += page.numbers
    }
    #expect(shown == old)
    let previous = try after.page(.before(try #require(page.previous)), limit: 7)
    #expect(previous.ranking == 1)
    #expect(previous.numbers == Array(old[28..<35]))
    #expect(try after.page(limit: 7).ranking == 2)
  }

  @Test func `a gap of an old ranking is read in it`() throws {
    let old = (1...40).map(Int64.init)
    let order = Self.feed([1: Self.index(old), 2: Self.index(old.reversed())], ranking: 2)
    let before = Self.feed([1: Self.index(old)], ranking: 1)
    let after = try #require(try before.page(limit: 5).next)
    let end = try #require(try before.page(offset: 12, limit: 5).previous)
    let gap = try order.page(.between(after: after, before: end), limit: 30)
    #expect(gap.ranking == 1)
    #expect(gap.numbers == Array(old[5..<12]))
  }

  @Test(arguments: [1, 3, 7, 30], TestRandom.seeds)
  func `newer shows what came into the old ranking, then the arrivals of the current one`(
    limit: Int, seed: UInt64
  ) throws {
    var random = TestRandom(seed)
    for _ in 0..<20 {
      let known = (1...Int64(random.number(1...30))).map { $0 }
      let came = (100..<100 + Int64(random.number(0...20))).map { $0 }
      let arrived = (200..<200 + Int64(random.number(0...20))).map { $0 }
      let first = Self.feed([1: Self.index(known)], ranking: 1)
      let current = (known + came + arrived).shuffled(using: &random)
      let order = Self.feed([1: Self.index(known, came: came), 2: Self.index(current)], ranking: 2)
      let start =
        try random.once(in: 2) ? first.page(limit: limit) : first.page(offset: 2, limit: 1)

      let polled = try RefreshTests.poll(order, from: start.newer, limit: limit)
      let new = current.filter { $0 >= 200 }
      let expected = Self.pages(came, limit) + Self.pages(new, limit)
      try #require(polled.pages == expected, "limit \(limit), \(TestRandom.replay)")
      // From then on in the current ranking.
      #expect(polled.newer.view == .newer(than: 2))
      let later = Self.feed(
        [1: Self.index(known, came: came), 2: Self.index(current, came: [300, 301, 302])],
        ranking: 2)
      #expect(
        try RefreshTests.poll(later, from: polled.newer, limit: limit).pages
          == Self.pages([300, 301, 302], limit))
    }
  }

  /// The list's pages from its end, each in the list's order.
  static func pages(_ numbers: [Int64], _ limit: Int) -> [[Int64]] {
    stride(from: numbers.count, to: 0, by: -limit).map { Array(numbers[max(0, $0 - limit)..<$0]) }
  }

  @Test(arguments: [1, 2, 30])
  func `a ranking that comes amid the arrivals is polled after them`(limit: Int) throws {
    let orders = [
      1: Self.index([1, 2, 3]), 2: Self.index([10, 3, 11, 2, 12, 1]),
      3: Self.index([1, 20, 12, 11, 2, 10, 21, 3]),
    ]
    let newer = try Self.feed(orders, ranking: 1).page(limit: 30).newer
    let first = try Self.feed(orders, ranking: 2).page(.before(newer), limit: limit)
    let rest = try RefreshTests.poll(Self.feed(orders, ranking: 3), from: first.newer, limit: limit)
    let shown = first.numbers + rest.pages.flatMap { $0 }
    #expect(shown.count == 5)
    #expect(Set(shown) == [10, 11, 12, 20, 21])
    #expect(first.numbers.last == 12)
  }

  @Test func `a page of arrivals has its place and its links in the current ranking`() throws {
    let orders = [1: Self.index([1, 2, 3]), 2: Self.index([1, 10, 2, 11, 3])]
    let newer = try Self.feed(orders, ranking: 1).page(limit: 30).newer
    let order = Self.feed(orders, ranking: 2)
    let page = try order.page(.before(newer), limit: 30)
    #expect(page.numbers == [10, 11])
    #expect(page.ranking == 2)
    #expect(page.offset == 1)
    #expect(try order.page(.after(try #require(page.next)), limit: 30).numbers == [3])
    #expect(try order.page(.before(try #require(page.previous)), limit: 30).numbers == [1])
    // The page of no arrivals leads to the top of the current ranking.
    let empty = try Self.feed([1: orders[1]!, 2: Self.index([3, 2, 1])], ranking: 2)
      .page(.before(newer), limit: 30)
    #expect(empty.numbers == [])
    let top = try Self.feed([1: orders[1]!, 2: Self.index([3, 2, 1])], ranking: 2)
      .page(.after(try #require(empty.next)), limit: 30)
    #expect(top.numbers == [3, 2, 1])
  }

  @Test func `arrivals skip by offset, and a deleted one leaves the others`() throws {
    let orders = [1: Self.index([1, 2]), 2: Self.index([10, 1, 11, 2, 12, 13])]
    let newer = try Self.feed(orders, ranking: 1).page(limit: 30).newer
    var order = Self.feed(orders, ranking: 2)
    #expect(try order.page(.before(newer), offset: 1, limit: 2).numbers == [11, 12])
    #expect(try order.page(.before(newer), offset: .max, limit: 2).numbers == [])
    let page = try order.page(.before(newer), limit: 2)
    #expect(page.numbers == [12, 13])
    let gone = page.entries.map(\.position)
    order.orders[2]?.apply(removals: gone, insertions: [])
    #expect(try order.page(.before(page.newer), limit: 9).numbers == [10, 11])
  }

  @Test func `arrivals above a page remain newer on the pages below it`() throws {
    let orders = [1: Self.index([1, 2, 3]), 2: Self.index([10, 11, 12, 1, 2, 3])]
    let newer = try Self.feed(orders, ranking: 1).page(limit: 30).newer
    let order = Self.feed(orders, ranking: 2)
    let arrivals = try order.page(.before(newer), limit: 1)
    #expect(arrivals.numbers == [12])
    let below = try order.page(.after(try #require(arrivals.next)), limit: 1)
    let polled = try RefreshTests.poll(order, from: below.newer, limit: 1).pages.flatMap { $0 }
    #expect(Set(polled).isSuperset(of: [10, 11]))
  }
}
