import Feed
import HTTP
import HTTPServer
import ModelStore
import Prefetch
import TestSupport
import Testing

@testable import FeedServer

/// What is kept of pages: within its budget, the ones asked for last, found by every text of a request.
@Suite struct KeptPagesTests {
  /// Kept pages of a store in which nothing happens.
  private func pages(maximumBytes: Int) throws -> KeptPages {
    KeptPages(
      of: ModelStore(), maximumBytes: maximumBytes)
  }

  private static func key(_ number: Int) -> PageKey {
    PageKey(
      form: .compact, query: PageQuery(feed: "f", offset: number), network: "3g",
      isNetworkNamed: false, savesData: nil, bounds: PlanBounds(), coding: .identity, expires: nil)
  }

  private static func page(_ number: Int, bytes: Int = 10_000) -> KeptPage {
    let representation = Representation(
      [UInt8](repeating: 7, count: bytes), hash: ContentHash(Array("\(number)".utf8).span),
      caching: .none)
    let head = VariantHead(representation, representation.hash, .identity)
    return KeptPage(
      Variant(head: head, body: representation.body), route: "/rp/", feed: "f", posts: [],
      asOf: .start, requests: FeedRequests(limit: 1))
  }

  private static func text(_ number: Int, _ coding: String = "identity") -> RequestText {
    RequestText(
      Request(.get, path: "/rp/", query: "n=\(number)", fields: ["Accept-Encoding": coding]))
  }

  /// Asks for the page until it has to be made, and has it kept if it is.
  private static func ask(_ pages: KeptPages, _ number: Int, bytes: Int = 10_000) {
    guard pages.find(text(number)) == nil, pages.find(key(number), for: text(number)) == nil else {
      return
    }
    pages.keep(text(number), key(number), bodyBytes: bytes, page(number, bytes: bytes))
  }

  @Test func `what was not asked for for the longest gives way, and the budget holds`() throws {
    let pages = try pages(maximumBytes: 200_000)
    for number in 0..<100 {
      for _ in 0..<2 { Self.ask(pages, number) }
      // The first one is asked for again and again.
      #expect(pages.find(Self.text(0)) != nil)
      #expect(pages.figures.bytes <= 200_000)
    }
    #expect(pages.find(Self.text(99))?.tag == Self.page(99).tag)
    #expect(pages.find(Self.text(1)) == nil && pages.find(Self.key(1), for: Self.text(1)) == nil)
    #expect(pages.figures.entries > 5 && pages.figures.evictions == 100 - pages.figures.entries)
  }

  @Test func `requests of many texts share a page, and a limited number of texts is kept`() throws {
    let pages = try pages(maximumBytes: 200_000)
    Self.ask(pages, 1)
    let before = pages.figures.bytes
    for weight in 100..<1_000 {
      #expect(pages.find(Self.key(1), for: Self.text(1, "identity;q=0.\(weight)")) != nil)
    }
    #expect(pages.figures.entries == 1 && pages.figures.bytes < before + 32 * 300)
    #expect(pages.find(Self.text(1, "identity;q=0.999")) != nil)
    #expect(pages.find(Self.text(1, "identity;q=0.100")) == nil)
    #expect(pages.figures.misses == 1 && pages.figures.hits == 901)
  }

  @Test func `when there is no room a page has to be asked for twice`() throws {
    let pages = try pages(maximumBytes: 200_000)
    for number in 0..<40 {
      let isRoomLeft = pages.figures.bytes + 10_000 <= 200_000
      Self.ask(pages, number)
      #expect((pages.find(Self.text(number)) != nil) == isRoomLeft)
    }
    Self.ask(pages, 39)
    #expect(pages.find(Self.text(39)) != nil)
  }

  @Test func `a page that replaces another is the one that is found, and none is too large`()
    throws
  {
    let pages = try pages(maximumBytes: 200_000)
    func keep(_ number: Int, bytes: Int = 10_000) {
      pages.keep(
        Self.text(1), Self.key(1), bodyBytes: bytes, Self.page(number, bytes: bytes))
    }
    keep(1)
    keep(2)
    #expect(pages.find(Self.text(1))?.tag == Self.page(2).tag)
    for tooLarge in [24_000, 30_000] {
      keep(2)
      keep(3, bytes: tooLarge)
      #expect(pages.find(Self.text(1)) == nil && pages.figures.bytes == 0)
    }
    let off = try self.pages(maximumBytes: 0)
    off.keep(Self.text(1), Self.key(1), bodyBytes: 100, Self.page(1, bytes: 100))
    #expect(off.figures.entries == 0)
  }
}
