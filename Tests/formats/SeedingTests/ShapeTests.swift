import Feed
import FeedFormats
import ModelStore
import Seeding
import TestSupport
import Testing

/// Other formats on their way into a store.
struct ShapeTests {
  private static let rss = """
    <rss><channel><title>News</title><link>https://n.example/</link>
    <item><guid>a</guid><title>one</title><pubDate>1 May 2026 10:00 GMT</pubDate></item>
    <item><guid>b</guid><title>two</title><pubDate>2 May 2026 10:00 GMT</pubDate></item>
    </channel></rss>
    """

  private static let json = """
    {"version":"https://jsonfeed.org/version/1.1","title":"Other","items":[{"id":"https://o.example/1",
    "content_text":"x","date_published":"2026-05-03T10:00:00Z","attachments":[{"url":"https://o.example/a.mp3"},
    {"url":"https://o.example/a.pdf"}]}]}
    """

  private func seed(_ texts: [String], feed: String?, into store: ModelStore) throws -> SeedReport {
    var seeder = Seeder()
    seeder.feed = feed
    return try seeder.run(
      texts.map { CompressedInputTests.input(Array($0.utf8), pieces: 100) }, into: store,
      onProblem: { Issue.record("\($0)") }, onProgress: { _ in })
  }

  @Test
  func `posts of several formats come into one feed, newest first, and twice changes nothing`()
    throws
  {
    let store = ModelStore()
    let first = try seed([Self.rss, Self.json], feed: "all", into: store)
    #expect(first.summary.added == 3)
    #expect(first.withoutFeed == 0)
    #expect(first.omissions[.file] == 1)
    let ids = try store.walk("all")
    #expect(ids.count == 3 && ids[0].hasPrefix("json-feed-"))
    #expect(try ids.map { try store.post(withID: $0)?.title } == [nil, "two", "one"])
    #expect(try store.post(withID: ids[0])?.media.map(\.kind) == [.audio])
    #expect(try store.feed(named: "all")?.title == "News")
    let second = try seed([Self.rss, Self.json], feed: "all", into: store)
    #expect(second.summary.added == 0 && second.summary.changed == 0)
    #expect(second.summary.rankedAnew.isEmpty)
  }

  @Test func `posts in no feed are loaded and counted`() throws {
    let store = ModelStore()
    let own =
      #"{"id":"a","type":"text"}"# + "\n" + #"{"id":"b","feeds":[{"name":"f"}],"type":"text"}"#
    let report = try seed([Self.rss, own], feed: nil, into: store)
    #expect(report.withoutFeed == 3)
    #expect(try store.item(withID: "a")?.placements == [])
    #expect(try seed([own], feed: "g", into: store).withoutFeed == 0)
    #expect(try store.walk("g") == ["a"])
    #expect(try store.walk("f") == ["b"])
  }
}
