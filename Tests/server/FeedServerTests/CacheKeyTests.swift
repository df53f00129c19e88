import Feed
import Foundation
import TestSupport
import Testing

@testable import FeedServer

/// By which keys caches in front have answers.
@Suite struct CacheKeyTests {
  private static let records: [SeedRecord] = [
    .timed("a1", 10, feed: "a b,c/ü"), .timed("b1", 10, feed: "b"),
    .post(Post(id: "lone one", type: .text), placements: []),
    .post(Post(id: "two", type: .text), placements: [Placement(feed: "b"), Placement(feed: "d")]),
  ]

  @Test func `each document that is made of the database has the keys of what it shows`() throws {
    let server = try RunningServer(Self.records)
    let client = try server.client()
    let cases: [(target: String, keys: String?)] = [
      ("/rp/?feed=a%20b%2Cc%2F%C3%BC", "all feed/a%20b%2Cc%2F%C3%BC"),
      ("/v1/feeds/b/items?limit=1", "all feed/b"),
      ("/v1/feeds/b", "all feed/b"),
      ("/v1/feeds/b/feed.json", "all feed/b"), ("/v1/feeds/b/feed.xml", "all feed/b"),
      ("/v1/feeds", "all feeds"), ("/v1/networks", "all"),
      ("/v1/items/b1", "all item/b1 feed/b"), ("/v1/items/two", "all item/two feed/b feed/d"),
      ("/v1/items/lone%20one", "all item/lone%20one loose"),
      ("/v1/items/b1/record", nil), ("/openapi.json", nil), ("/", nil), ("/v1/items/none", nil),
    ]
    for (target, keys) in cases {
      let answer = try client.get(target)
      #expect(answer.fields["surrogate-key"] == keys, "\(target)")
      guard let tag = answer.fields["etag"], keys != nil else { continue }
      // A cache that asks anew keeps by what the 304 says.
      let again = try client.get(target, ["If-None-Match": tag])
      #expect(again.status == 304 && again.fields["surrogate-key"] == keys, "\(target)")
      #expect(try client.request("HEAD", target).fields["surrogate-key"] == keys, "\(target)")
    }
    // The second time it is a page that was kept.
    #expect(try client.get("/rp/?feed=b").fields["surrogate-key"] == "all feed/b")
    #expect(try client.get("/rp/?feed=b").fields["surrogate-key"] == "all feed/b")
  }

  @Test(arguments: [
    ("xkey", "all feed/b"), ("Cache-Tag", "all,feed/b"), ("edge-cache-tag", "all,feed/b"),
  ])
  func `the field has the name that is set, and the comma where it is a list`(
    _ name: String, _ keys: String
  ) throws {
    let server = try RunningServer(Self.records) { $0.cacheKeyField = CacheKeyField(name: name) }
    #expect(try server.client().get("/rp/?feed=b").fields[name.lowercased()] == keys)
  }

  @Test func `without a field answers have no keys`() throws {
    let server = try RunningServer(Self.records) { $0.cacheKeyField = nil }
    let answer = try server.client().get("/rp/?feed=b")
    #expect(answer.status == 200)
    #expect(!answer.fields.values.contains { $0.contains("feed/b") })
  }

  @Test func `a name that is no field's, or has another meaning, is none`() {
    for name in [
      "", "a b", "ä", "ETag", "cache-control", "Vary", "x:y", String(repeating: "x", count: 65),
    ] {
      #expect(CacheKeyField(name: name) == nil, "\(name)")
    }
    for name in ["xkey", "X-Keys", "Surrogate-Key", String(repeating: "x", count: 64)] {
      #expect(CacheKeyField(name: name) != nil, "\(name)")
    }
  }

  @Test func `keys are bounded, whatever names are made of`() {
    let long = String(repeating: "ü", count: RecordLimits.feedNameBytes / 2)
    #expect(CacheKey.feed(long).utf8.count == 305)
    for feeds in [0, 1, 5, 6, 7, 100] {
      let placements = (0..<feeds).map { Placement(feed: String(long.dropLast(2)) + "\($0)") }
      let post = Post(id: String(repeating: "ü", count: RecordLimits.idBytes / 2), type: .text)
      let keys = CacheKey.ofItem(StoredItem(post: post, placements: placements))
      var value: [UInt8] = []
      CacheKeyField.surrogateKey.write(.these(keys), to: &value)
      #expect(value.count <= CacheKey.itemBytes)
      #expect(keys.contains(CacheKey.loose) == !(1...4).contains(feeds), "\(feeds)")
      #expect(value.allSatisfy { (0x20...0x7e).contains($0) })
    }
    for text in [" ", ",", "%", "\n", "\u{7f}", "é", "e\u{301}"] {
      let key = CacheKey.feed(text)
      #expect(key.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: ",") })
    }
    #expect(CacheKey.feed("é") != CacheKey.feed("e\u{301}"))
  }
}
