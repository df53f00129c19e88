import Feed
import Foundation
import Seeding
import Sockets
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
    ]
  ) {
    $0.allowedHosts = ["feeds.example:81", "h.example", "localhost"].compactMap { HostAndPort($0) }
  }

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
    let named = try RunningServer(on: store) {
      ($0.publicURL, $0.allowedHosts) = ("https://x.example/in", [HostAndPort("h.example")!])
    }
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

  /// What `feed_url` begins with of an answer to a request that is sent as it is; nil where that is refused.
  private func home(_ server: RunningServer, _ line: String, _ fields: String = "") throws
    -> String?
  {
    let client = try server.client()
    try client.send(Array("GET \(line)\r\n\(fields)\r\n".utf8))
    let answer = try client.receive()
    guard answer.status == 200 else {
      #expect(answer.status == 421 && answer.fields["cache-control"] == "no-store")
      #expect(answer.value("type") == "urn:lookahead:problem:misdirected-request")
      return nil
    }
    let url: String = try #require(answer.value("feed_url"))
    return url.replacing(Self.path.dropFirst(), with: "")
  }

  private static let path = "/v1/feeds/newest/feed.json"

  @Test func `a host that is not allowed comes into no URL`() throws {
    let store = Self.service.store
    let plain = try RunningServer(on: store)
    let everywhere = try RunningServer(on: store) { $0.server.host = "0.0.0.0" }
    let named = try RunningServer(on: store) {
      $0.allowedHosts = ["Feeds.Example.", "b.example:8080", "[::A]"].compactMap { HostAndPort($0) }
    }
    let published = try RunningServer(on: store) { $0.publicURL = "https://x.example:444/in" }
    let both = try RunningServer(on: store) {
      ($0.publicURL, $0.allowedHosts) = ("https://x.example", [HostAndPort("b.example")!])
    }
    let url = "https://x.example:444/in/"
    let cases: [(RunningServer, host: String, home: String?)] = [
      (plain, "localhost", "http://localhost/"), (plain, "LOCALHOST.:81", "http://localhost:81/"),
      (plain, "a.localhost", "http://a.localhost/"), (plain, "127.0.0.1:9", "http://127.0.0.1:9/"),
      (plain, "127.9.9.9", "http://127.9.9.9/"), (plain, "[::1]:8", "http://[::1]:8/"),
      (plain, "[0:0:0:0:0:0:0:1]", "http://[::1]/"), (plain, "evil.example", nil),
      (plain, "localhost.evil.example", nil), (plain, "notlocalhost", nil),
      (plain, "10.1.2.3", nil),
      (plain, "[::2]", nil), (plain, "0.0.0.0", nil), (plain, "2130706433", nil),
      (plain, "127.1", nil),
      (plain, "xn--bcher-kva.example", nil), (everywhere, "127.0.0.1", "http://127.0.0.1/"),
      (everywhere, "evil.example", nil), (named, "feeds.EXAMPLE:123", "http://feeds.example:123/"),
      (named, "feeds.example.", "http://feeds.example/"),
      (named, "b.example:8080", "http://b.example:8080/"),
      (named, "b.example", nil), (named, "b.example:80", nil),
      (named, "[::000a]:1", "http://[::a]:1/"),
      (named, "localhost", nil), (named, "127.0.0.1", nil), (named, "a.feeds.example", nil),
      (published, "x.example", url), (published, "X.example.:9", url),
      (published, "localhost", url),
      (published, "evil.example", nil), (both, "x.example", "https://x.example/"),
      (both, "b.example:5", "https://x.example/"), (both, "localhost", nil),
    ]
    for (server, host, home) in cases {
      #expect(
        try self.home(server, "\(Self.path) HTTP/1.1", "Host: \(host)\r\n") == home, "\(host)")
      // The target's authority stands for the field.
      let absolute = "http://\(host)\(Self.path) HTTP/1.1"
      #expect(try self.home(server, absolute, "Host: localhost\r\n") == home, "\(host)")
      #expect(
        try self.home(server, "\(Self.path) HTTP/1.0", "Host: \(host)\r\n") == home, "\(host)")
      for route in ["/healthz", "/rp/?feed=newest", "/v1/feeds/newest"] {
        #expect(try server.client().get(route, ["Host": host]).status == 200, "\(route) \(host)")
      }
    }
    #expect(try home(plain, "\(Self.path) HTTP/1.0") == nil)
    #expect(try home(published, "\(Self.path) HTTP/1.0") == url)
    let forwarded =
      "Host: localhost\r\nX-Forwarded-Host: evil.example\r\nX-Forwarded-Proto: gopher\r\n"
      + "Forwarded: host=evil.example\r\nX-Forwarded-Port: 1\r\n"
    #expect(try home(plain, "\(Self.path) HTTP/1.1", forwarded) == "http://localhost/")
    let xml = try plain.client()
    #expect(try xml.get("/v1/feeds/newest/feed.xml", ["Host": "evil.example"]).status == 421)
    #expect(try xml.request("HEAD", Self.path, ["Host": "evil.example"]).status == 421)
    #expect(try xml.get(Self.path, ["Host": "$(x)"]).status == 400)
  }

  @Test(arguments: ["feed.json", "feed.xml"])
  func `a document is made once for each host and coding, until what it shows changes`(
    _ name: String
  ) throws {
    let server = try RunningServer((0..<9).map { .timed("t\($0)", $0) })
    let client = try server.client()
    let target = "/v1/feeds/newest/\(name)?limit=8"
    func made() throws -> String? {
      try client.get("/metrics").text.firstMatch(of: /\nlookahead_pages_misses_total (\d+)/).map {
        String($0.output.1)
      }
    }
    func get(_ host: String, _ fields: [String: String] = [:]) throws -> TestAnswer {
      try client.get(target, fields.merging(["Host": host]) { $1 })
    }
    let first = try get("localhost")
    #expect(try made() == "1")
    for coding in ["gzip", "br"] { _ = try get("localhost", ["Accept-Encoding": coding]) }
    #expect(try made() == "3")
    let tag = try #require(first.fields["etag"])
    for _ in 0..<3 {
      let again = try get("localhost")
      #expect(again.body == first.body && again.fields["etag"] == tag)
      for field in ["cache-control", "link", "content-type", "vary", "surrogate-key"] {
        #expect(again.fields[field] == first.fields[field], "\(field)")
      }
      #expect(try get("LocalHost.").body == first.body)
      #expect(try get("localhost", ["If-None-Match": tag]).status == 304)
      #expect(try get("localhost", ["If-Match": "\"other\""]).status == 412)
      #expect(try client.request("HEAD", target).fields["etag"] == tag)
      #expect(
        try get("localhost", ["Accept-Encoding": "gzip"]).fields["content-encoding"] == "gzip")
      #expect(try get("evil.example").status == 421)
    }
    #expect(try made() == "3")
    let other = try get("a.localhost:1")
    #expect(other.text.contains("http://a.localhost:1/") && !other.text.contains("//localhost"))
    #expect(try get("localhost").body == first.body)
    // As another program reads it, from the limit that is not named.
    #expect(try client.get("/v1/feeds/newest/\(name)").text.contains("limit=") == false)
    #expect(try client.get("/v1/feeds/newest/\(name)?limit=30").text.contains("limit=30") == true)
    #expect(try made() == "6")
    try server.store.load([.timed("t99", 99)], batch: 1)
    #expect(try get("localhost").text.contains("t99"))
    #expect(try get("localhost").body != first.body)
    #expect(try made() == "7")
  }

  @Test func `the address that a client reached is allowed`() {
    let hosts = AllowedHosts(publicURL: nil, named: [], listening: "lan.example")
    let local = IPAddress("192.0.2.7")
    for (host, home) in [
      ("192.0.2.7:80", "http://192.0.2.7:80/"), ("[::ffff:192.0.2.7]", "http://192.0.2.7/"),
      ("192.0.2.8", nil), ("lan.example", "http://lan.example/"), ("wan.example", nil),
    ] {
      #expect((try? hosts.home(forHost: host, at: local)) == home, "\(host)")
      #expect((try? hosts.home(forHost: host, at: nil)) == (host == "lan.example" ? home : nil))
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
