import Feed
import Foundation
import TestSupport
import Testing

/// Feeds made, named and removed over HTTP.
@Suite struct FeedWriteTests {
  private let service: RunningServer
  private let client: TestClient

  init() throws {
    service = try WriteTests.service(
      (0..<5).map { .ranked("p\($0)", 10 + $0) } + [.timed("t", 9)])
    client = try service.client()
  }

  private func put(
    _ path: String, _ record: String, _ fields: [String: String] = [:]
  ) throws -> TestAnswer {
    try client.request(
      "PUT", "/v1/feeds/\(path)", WriteTests.authorized.merging(fields) { $1 },
      body: "{\"feed\":\(record)}")
  }

  private func delete(_ path: String, _ fields: [String: String] = [:]) throws -> Int {
    try client.request(
      "DELETE", "/v1/feeds/\(path)", WriteTests.authorized.merging(fields) { $1 }
    ).status
  }

  private func next(_ feed: String) throws -> String {
    try #require(try client.get("/rp/?feed=\(feed)&limit=2").value("paging.next"))
  }

  @Test func `a feed is made, gets a title and loses it`() throws {
    let made = try put("a%2Fb", #"{"name":"a/b","title":"One"}"#)
    #expect(made.status == 201 && made.fields["location"] == "/v1/feeds/a%2Fb", "\(made.text)")
    #expect(try client.get("/v1/feeds/a%2Fb").value("title") == "One")
    #expect(try client.get("/rp/?feed=a%2Fb").itemIDs == [])
    #expect(try put("a%2Fb", #"{"name":"a/b","title":"Two"}"#).status == 204)
    #expect(try client.get("/v1/feeds/a%2Fb").value("title") == "Two")
    #expect(try put("a%2Fb", #"{"name":"a/b"}"#).status == 204)
    #expect(try client.get("/v1/feeds/a%2Fb").value("title", as: String.self) == nil)
    #expect(try put("featured", #"{"name":"featured","title":"F"}"#).status == 204)
    #expect(try client.get("/rp/?feed=featured").value("feed.title") == "F")
    #expect(try client.get("/rp/?feed=featured").itemIDs.count == 5)
  }

  @Test func `a deleted feed is gone at once, its items stay, and no cursor of it comes back`()
    throws
  {
    let cursor = try next("featured")
    #expect(try delete("featured") == 204)
    for target in [
      "/rp/?feed=featured&limit=2", "/rp/?feed=featured&after=\(cursor)", "/v1/feeds/featured",
    ] {
      #expect(try client.get(target).value("type") == "urn:lookahead:problem:unknown-feed")
    }
    #expect(try delete("featured") == 404)
    #expect(try client.get("/v1/items/p1").status == 200)
    let feeds: [Any] = try #require(try client.get("/v1/items/p1").value("feeds"))
    #expect(feeds.isEmpty)

    let again = try client.request(
      "PUT", "/v1/items/p1", WriteTests.authorized,
      body: #"{"type":"image","feeds":[{"name":"featured","rank":1}]}"#)
    #expect(again.status == 204)
    #expect(try client.get("/rp/?feed=featured").itemIDs == ["p1"])
    let old = try client.get("/rp/?feed=featured&after=\(cursor)")
    #expect(old.status == 410 && old.value("type") == "urn:lookahead:problem:expired-cursor")
  }

  @Test func `a feed under another name has its items and policies, and no cursors`() throws {
    let cursor = try next("featured")
    #expect(try put("featured", #"{"name":"newest"}"#).status == 409)
    #expect(try put("nobody", #"{"name":"other"}"#).status == 404)
    let renamed = try put("featured", #"{"name":"best","title":"Best"}"#)
    #expect(renamed.status == 204 && renamed.fields["content-location"] == "/v1/feeds/best")
    #expect(try client.get("/v1/feeds/featured").status == 404)
    #expect(try client.get("/rp/?feed=best").itemIDs == (0..<5).map { "p\($0)" })
    #expect(try client.get("/rp/?feed=best&after=\(cursor)").status == 400)
    #expect(try client.get("/rp/?feed=best").value("prefetch.policy") == "plain-5")
    // Another that gets the old name takes no cursor of the first.
    #expect(try put("newest", #"{"name":"featured"}"#).status == 204)
    #expect(try client.get("/rp/?feed=featured").itemIDs == ["t"])
    #expect(try client.get("/rp/?feed=featured&after=\(cursor)").status == 410)
    // And it goes on like any other.
    let moved = try client.request(
      "PUT", "/v1/items/p0", WriteTests.authorized,
      body: #"{"type":"image","feeds":[{"name":"best","rank":99}]}"#)
    #expect(moved.status == 204)
    #expect(try client.get("/rp/?feed=best").itemIDs == ["p1", "p2", "p3", "p4", "p0"])
  }

  @Test func `a feed's tag is one for a write's conditions`() throws {
    let first = try #require(try client.get("/v1/feeds/featured").fields["etag"])
    // New items are no other state.
    _ = try client.request(
      "PUT", "/v1/items/x", WriteTests.authorized,
      body: #"{"type":"image","feeds":[{"name":"featured","rank":1}]}"#)
    #expect(
      try put("featured", #"{"name":"featured","title":"A"}"#, ["If-Match": first]).status == 204)
    #expect(
      try put("featured", #"{"name":"featured","title":"B"}"#, ["If-Match": first]).status == 412)
    #expect(try delete("featured", ["If-Match": first]) == 412)
    #expect(try put("featured", #"{"name":"featured"}"#, ["If-None-Match": "*"]).status == 412)
    #expect(try put("new", #"{"name":"new"}"#, ["If-None-Match": "*"]).status == 201)
    let now = try #require(
      try client.get("/v1/feeds/featured", ["Accept-Encoding": "gzip"]).fields["etag"])
    #expect(try delete("featured", ["If-Match": now]) == 204)
  }

  @Test func `what is no feed's record, or has no token, changes nothing`() throws {
    for body in ["", "{", #"{"type":"image"}"#, #"{"feed":{}}"#, #"{"feed":{"name":""}}"#] {
      let answer = try client.request(
        "PUT", "/v1/feeds/featured", WriteTests.authorized, body: body)
      #expect(answer.status == 422, "\(body): \(answer.text)")
    }
    #expect(try client.request("PUT", "/v1/feeds/a", body: #"{"feed":{"name":"a"}}"#).status == 401)
    #expect(try client.request("DELETE", "/v1/feeds/featured").status == 401)
    #expect(try client.get("/v1/feeds/featured").value("total") == 5)
  }

  @Test func `an item's hint is the one of the feed's policy`() throws {
    service.store.changePolicies { policies in
      for key in policies.keys where key.feed == "featured" { policies[key]!.imageWeight = 7 }
    }
    func weight(_ query: String) throws -> Int? {
      try client.get("/v1/items/p1\(query)").value("prefetch.weight")
    }
    #expect(try weight("?feed=featured") == 7 && weight("?feed=featured&network=wifi") == 7)
    #expect(try weight("") == 1 && weight("?feed=newest") == 1)
    let unknown = try client.get("/v1/items/p1?feed=none")
    #expect(unknown.status == 404)
    #expect(unknown.value("type") == "urn:lookahead:problem:unknown-feed")
    #expect(try client.get("/v1/items/p1?feed=").status == 400)
  }

  @Test func `cursors of two rankings have no gap between them`() throws {
    let before = try next("featured")
    _ = try client.request(
      "PUT", "/v1/items/p4", WriteTests.authorized,
      body: #"{"type":"image","feeds":[{"name":"featured","rank":1}]}"#)
    let answer = try client.get("/rp/?feed=featured&after=\(try next("featured"))&before=\(before)")
    #expect(answer.status == 400)
    #expect(answer.value("type") == "urn:lookahead:problem:different-rankings")
    #expect(answer.value("parameter") == "before")
  }
}
