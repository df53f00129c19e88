import Foundation
import Prefetch
import PrefetchClient
import Testing

struct FeedSessionTests {
  private func session(
    _ feed: FakeFeed, _ change: (inout FeedSessionSettings) -> Void = { _ in }
  ) -> FeedSession {
    var settings = FeedSessionSettings()
    (settings.limit, settings.retryMilliseconds) = (10, 0)
    change(&settings)
    return FeedSession(
      server: URL(string: "http://server.test")!, feed: "featured",
      transport: FakeFeedTransport(feed: feed), settings: settings)
  }

  private func ids(_ session: FeedSession) async -> [String] { await session.items.map(\.id) }

  @Test func `a walk has each item once, in the feed's order, and ends`() async throws {
    let feed = FakeFeed(count: 34)
    let session = session(feed)
    try await session.refresh()
    while try await session.older() != nil {}
    #expect(await ids(session) == (0..<34).map { "p\($0)" })
    #expect(await !session.hasOlder)
    // Only the first asked past caches.
    #expect(feed.noCache == 1)
    #expect(session.traffic.requests == 4)
  }

  @Test func `an item has all that the page says, and what is unknown is passed over`() async throws
  {
    let session = session(FakeFeed(count: 1))
    let item = try #require(try await session.refresh().items.first)
    #expect(item.post.title == "Title of p0" && item.post.counters.first?.value == 3)
    #expect(item.post.media.first?.bytes == 2_000 && item.media.first?.id == "p0.0")
    #expect(item.media.first?.timing?.scanEnds == [500, 2_000])
    #expect(item.post.media.first?.placeholder?.color?.text == "#6b7a3d")
    #expect(item.cost.minimumBytes == 2_000)
    #expect(session.url(of: "/media/p0")?.absoluteString == "http://server.test/media/p0")
  }

  @Test func `what is new comes above, and a poll without news changes nothing`() async throws {
    let feed = FakeFeed(count: 30)
    let session = session(feed)
    try await session.refresh()
    #expect(try await session.newer().isEmpty)
    feed.change { $0.ids = (0..<13).map { "n\($0)" } + $0.ids }
    #expect(try await session.newer().map(\.items.count) == [10, 3])
    #expect(await ids(session) == (0..<13).map { "n\($0)" } + (0..<10).map { "p\($0)" })
  }

  @Test func `a cursor that is over costs one more request, and no item comes twice`() async throws
  {
    let feed = FakeFeed(count: 40)
    let session = session(feed)
    try await session.refresh()
    feed.change {
      ($0.ranking, $0.ids) = (2, ["p30", "p5"] + $0.ids.filter { $0 != "p30" && $0 != "p5" })
    }
    let page = try #require(try await session.older())
    #expect(page.ranking == 2 && page.items.first?.id == "p10")
    while try await session.older() != nil {}
    let ids = await ids(session)
    #expect(Set(ids).count == ids.count)
    // Where the last item is gone as well, it goes on at its place.
    let gone = FakeFeed(count: 40)
    let other = self.session(gone)
    try await other.refresh()
    gone.change { state in
      state.ranking = 2
      state.ids.removeAll { $0 == "p9" }
    }
    #expect(try await other.older()?.items.first?.id == "p11")
  }

  @Test func `a server that cannot now is asked again, and then no more`() async throws {
    let feed = FakeFeed(count: 5)
    let session = session(feed)
    feed.change { $0.failures = [503, 500] }
    try await session.refresh()
    #expect(session.traffic.requests == 3)
    feed.change { $0.failures = [503, 503, 503] }
    await #expect(throws: FeedSessionError.self) { try await session.refresh() }
    feed.change { $0.failures = [404] }
    await #expect(
      throws: FeedSessionError.status(
        404, problem: "urn:lookahead:problem:overloaded", retryAfterMilliseconds: 0)
    ) { try await session.refresh() }
    #expect(session.traffic.requests == 7)
    #expect(await ids(session).count == 5)
  }

  @Test func `a window where a fling will stop is the list, and grows both ways`() async throws {
    let feed = FakeFeed(count: 200)
    let session = session(feed)
    try await session.refresh()
    let page = try await session.window(aroundOffset: 100)
    #expect(page.items.contains { $0.id == "p100" })
    #expect(await session.offset(of: "p100") == 100)
    _ = try await session.older()
    _ = try await session.previous()
    let ids = await ids(session)
    #expect(ids == (88..<116).map { "p\($0)" })
  }

  @Test func `of more pages than are held the farthest go, and can be asked for again`()
    async throws
  {
    let session = session(FakeFeed(count: 100)) { $0.heldPages = 3 }
    try await session.refresh()
    for _ in 0..<5 { try await session.older() }
    #expect(await ids(session) == (30..<60).map { "p\($0)" })
    try await session.previous()
    #expect(await ids(session) == (20..<50).map { "p\($0)" })
  }

  @Test
  func `URLs are taken as they were sent, and of a file that is unavailable nothing is loaded`()
    throws
  {
    let long = "/media/" + String(repeating: "%C3%BC", count: 4_000)
    let text = """
      {"feed":{"name":"a","total":1,"ranking":1},"items":[{"id":"x","type":"video",
      "author":{"avatar":"old.jpg"},"url":"\(long)","media":[{"id":"x.0","kind":"video",
      "url":"\(long)","unavailable":true},{"id":"x.1","kind":"image","url":"/a"}],
      "prefetch":{"weight":2,"minimumBytes":0,"entireBytes":0}}],
      "paging":{"offset":0,"ranking":1,"next":null,"prev":null,"newer":"c"},
      "prefetch":{"network":"3g","policy":"p","nextPageAt":null}}
      """
    let item = try #require(try FeedPage(json: Array(text.utf8)).items.first)
    #expect(item.post.media[0].url == long && item.post.author?.avatar == "old.jpg")
    #expect(item.media.map(\.isUnavailable) == [true, false])
    let files = PrefetchItem(item, url: { $0 }).media.map { $0.files[0].load }
    #expect(files.map(\.bytes) == [0, nil] && files.map(\.kind) == [.video, .image])
  }

  @Test(arguments: [
    "", "[]", "{}", #"{"feed":{"name":"a","total":-1,"ranking":1},"items":[]}"#,
    #"{"feed":{"name":"a","total":1,"ranking":1},"items":[{"id":"x","type":"poll"}]}"#,
  ])
  func `what is no page is refused, by field`(text: String) {
    #expect(throws: RecordError.self) { try FeedPage(json: Array(text.utf8)) }
  }
}
