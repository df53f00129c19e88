import Feed
import Foundation
import Seeding
import TestSupport
import Testing

@testable import FeedServer

/// `/v1/feeds/{feed}/feed.json` and `feed.xml`.
@Suite struct SyndicationRouteTests {
  private static let service = try! RunningServer(
    (0..<70).map { .timed("t\($0)", $0) } + [
      .feed(name: "newest", title: "Newest"),
      .post(
        Post(
          id: "o d/d", type: .image, url: "/page", thumbnail: "/media/t.jpg",
          media: [Media(kind: .image, url: "/media/a b.jpg")]),
        placements: [Placement(feed: "a/b c")]),
    ])

  private func items(_ answer: TestAnswer) -> [[String: Any]] { answer.value("items") ?? [] }

  @Test(arguments: ["feed.json", "feed.xml"])
  func `it has a type, a validator, codings and an answer to HEAD`(_ name: String) throws {
    let client = try Self.service.client()
    let target = "/v1/feeds/newest/\(name)"
    let answer = try client.get(target)
    #expect(answer.status == 200)
    #expect(
      answer.fields["content-type"]
        == (name == "feed.json" ? "application/feed+json" : "application/rss+xml; charset=utf-8"))
    let tag = try #require(answer.fields["etag"])
    #expect(try client.get(target, ["If-None-Match": tag]).status == 304)
    let head = try client.request("HEAD", target)
    #expect(head.status == 200 && head.body.isEmpty)
    for field in ["etag", "content-length", "link", "cache-control"] {
      #expect(head.fields[field] == answer.fields[field], "\(field)")
    }
    #expect(answer.fields["access-control-allow-origin"] == "*")
    let packed = try client.get(target, ["Accept-Encoding": "gzip"])
    #expect(
      packed.fields["content-encoding"] == "gzip" && packed.body.count < answer.body.count / 2)
    #expect(try client.get(target + "?limit=0").status == 400)
    #expect(try client.get(target + "?offset=1").status == 400)
    #expect(try client.get(target + "?after=x").status == 400)
    #expect(try client.get("/v1/feeds/none/\(name)").status == 404)
  }

  @Test func `a walk by next_url meets each post once, in the feed's order`() throws {
    let client = try Self.service.client()
    var target: String? = "/v1/feeds/newest/feed.json?limit=7"
    var ids: [String] = []
    var before: String?
    while let current = target {
      let page = try client.get(current, ["Host": "feeds.example:81"])
      #expect(page.value("title") == "Newest")
      ids += items(page).compactMap { $0["id"] as? String }
      let own: String? = page.value("feed_url")
      #expect(own == "http://feeds.example:81" + current)
      let next: String? = page.value("next_url")
      #expect(next.map { page.fields["link"]?.contains("<\($0)>; rel=\"next\"") == true } ?? true)
      #expect((page.fields["link"]?.contains("rel=\"prev\"") ?? false) == (before != nil))
      before = current
      target = next.map { String($0.dropFirst("http://feeds.example:81".count)) }
      #expect(
        next.map {
          $0.hasPrefix("http://feeds.example:81/v1/feeds/newest/feed.json?limit=7&after=")
        } ?? true)
    }
    #expect(ids == (0..<70).map { "t\(69 - $0)" })
  }

  @Test func `URLs are absolute, and begin as the operator says`() throws {
    let store = Self.service.store
    let named = try RunningServer(on: store) { $0.publicURL = "https://x.example/in" }
    for (server, home) in [(Self.service, "http://h.example/"), (named, "https://x.example/in/")] {
      let answer = try server.client().get(
        "/v1/feeds/a%2Fb%20c/feed.json", ["Host": "h.example"])
      #expect(answer.value("title") == "a/b c")
      #expect(answer.value("feed_url") == home + "v1/feeds/a%2Fb%20c/feed.json")
      #expect(answer.value("home_page_url") == home)
      let item = try #require(items(answer).first)
      #expect(item["url"] as? String == home + "page")
      #expect(item["image"] as? String == home + "media/t.jpg")
      let files = item["attachments"] as? [[String: Any]]
      #expect(files?.first?["url"] as? String == home + "media/a%20b.jpg")
      let rss = try server.client().get("/v1/feeds/a%2Fb%20c/feed.xml", ["Host": "h.example"])
      #expect(
        String(decoding: rss.body, as: UTF8.self).contains("<link>\(home)page</link>"))
    }
  }

  @Test func `an empty feed is a feed without items`() throws {
    let server = try RunningServer([.feed(name: "empty", title: nil)])
    let client = try server.client()
    let json = try client.get("/v1/feeds/empty/feed.json")
    #expect(json.status == 200 && items(json).isEmpty && json.value("title") == "empty")
    let rss = String(decoding: try client.get("/v1/feeds/empty/feed.xml").body, as: UTF8.self)
    #expect(rss.contains("<channel>") && !rss.contains("<item>"))
  }

  @Test func `the list of feeds names them`() throws {
    let links: [String: String] = try #require(
      try Self.service.client().get("/v1/feeds/newest").value("links"))
    #expect(links["jsonFeed"] == "/v1/feeds/newest/feed.json")
    #expect(links["rss"] == "/v1/feeds/newest/feed.xml")
  }
}
