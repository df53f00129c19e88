import Catalog
import Feed
import HTTP
import HTTPServer
import Prefetch
import TestSupport
import Testing

@testable import FeedServer

/// What is kept of pages: within its budget, the ones asked for last, found by every text of a request.
@Suite struct PageCacheTests {
  private static func key(_ number: Int) -> PageKey {
    PageKey(
      isCompact: true, query: PageQuery(feed: "f", offset: number), network: "3g",
      isNetworkNamed: false, savesData: nil, bounds: PlanBounds(), coding: .identity)
  }

  private static func page(_ number: Int, bytes: Int = 10_000) -> ReadyPage {
    let response = Response(.ok, bytes: [UInt8](repeating: 7, count: bytes))
    let variant = Variant(
      tag: EntityTag("\(number)"), whole: response, notModified: Response(.notModified))
    let order = FeedOrder(
      name: "f", title: nil, ranking: 1, oldestRanking: 1, orders: [1: OrderIndex()])
    let summary = FeedSummary(name: "f", title: nil, total: 0, ranking: 1, newestPublishedAt: nil)
    let slice = try! order.slice(PageQuery(feed: "f"))
    return ReadyPage(variant, feed: summary.name, posts: slice.posts, asOf: .start)
  }

  private static func text(_ number: Int, _ coding: String = "identity") -> RequestText {
    RequestText(
      Request(.get, path: "/rp/", query: "n=\(number)", fields: ["Accept-Encoding": coding]))
  }

  @Test func `what was not asked for for the longest gives way, and the budget holds`() {
    let cache = PageCache(maximumBytes: 200_000)
    for number in 0..<100 {
      cache.insert(Self.page(number), key: Self.key(number), for: Self.text(number))
      // The first one is asked for again and again.
      #expect(cache.find(Self.text(0)) != nil)
      #expect(cache.figures.bytes <= 200_000)
    }
    #expect(cache.find(Self.text(99))?.variant.tag == EntityTag("99"))
    #expect(cache.find(Self.text(1)) == nil && cache.find(Self.key(1), for: Self.text(1)) == nil)
    #expect(cache.figures.entries > 5 && cache.figures.evictions == 100 - cache.figures.entries)
  }

  @Test func `requests of many texts share a page, and only so many texts are kept`() {
    let cache = PageCache(maximumBytes: 200_000)
    cache.insert(Self.page(1), key: Self.key(1), for: Self.text(1, "gzip;q=0"))
    let before = cache.figures.bytes
    for weight in 100..<1_000 {
      #expect(cache.find(Self.key(1), for: Self.text(1, "identity;q=0.\(weight)")) != nil)
    }
    #expect(cache.figures.entries == 1 && cache.figures.bytes < before + 32 * 300)
    #expect(cache.find(Self.text(1, "identity;q=0.999")) != nil)
    #expect(cache.find(Self.text(1, "identity;q=0.100")) == nil)
    cache.remove(Self.key(1))
    #expect(cache.find(Self.text(1, "identity;q=0.999")) == nil && cache.figures.bytes == 0)
  }

  @Test func `when there is no room a page has to be asked for twice`() {
    let cache = PageCache(maximumBytes: 200_000)
    for number in 0..<40 {
      let isRoomLeft = cache.figures.bytes + 10_000 <= 200_000
      #expect(cache.admits(Self.text(number), bytes: 10_000) == isRoomLeft)
      if isRoomLeft {
        cache.insert(Self.page(number), key: Self.key(number), for: Self.text(number))
      }
    }
    #expect(cache.admits(Self.text(39), bytes: 10_000))
    #expect(cache.admits(Self.text(0), bytes: 10_000), "it is there already")
  }

  @Test func `a page that replaces another is the one that is found, and none is too large`() {
    let cache = PageCache(maximumBytes: 200_000)
    cache.insert(Self.page(1), key: Self.key(1), for: Self.text(1))
    cache.insert(Self.page(2), key: Self.key(1), for: Self.text(1))
    #expect(cache.find(Self.text(1))?.variant.tag == EntityTag("2"))
    cache.insert(Self.page(3, bytes: 30_000), key: Self.key(1), for: Self.text(1))
    #expect(cache.find(Self.text(1)) == nil && cache.figures.bytes == 0)
    let off = PageCache(maximumBytes: 0)
    off.insert(Self.page(1), key: Self.key(1), for: Self.text(1))
    #expect(off.figures.entries == 0)
  }
}
