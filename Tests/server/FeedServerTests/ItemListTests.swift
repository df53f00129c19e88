import Catalog
import Feed
import Foundation
import ModelStore
import TestSupport
import Testing

@testable import FeedServer

/// `GET /v1/items`: what writers look at.
@Suite struct ItemListTests {
  private static let tokens = [
    WriteToken(name: "editor", secret: "e-token"),
    WriteToken(name: "app", secret: "c-token", rights: counters),
  ]
  private static var counters: WriteToken.Rights {
    var rights = WriteToken.Rights()
    rights.counters = true
    return rights
  }

  private static func make() throws -> RunningServer {
    let store = ModelStore()
    try store.load(
      (0..<250).map { index in
        .post(
          Post(
            id: "p\(index)", type: index.isMultiple(of: 3) ? .video : .text,
            publishedAt: Timestamp(microseconds: Int64(index) * 1_000_000)),
          placements: index < 10
            ? [] : [Placement(feed: "f é", rank: 1_000 - index), Placement(feed: "g")])
      }, batch: 1)
    return try RunningServer(on: store) { $0.writeTokens = tokens }
  }

  private static func get(
    _ client: TestClient, _ query: String, token: String? = "e-token"
  ) throws -> TestAnswer {
    try client.get("/v1/items" + query, token.map { ["Authorization": "Bearer \($0)"] } ?? [:])
  }

  private static func walk(_ client: TestClient, _ query: String) throws -> [String] {
    var ids: [String] = []
    var next: String? = query
    while let asked = next {
      let answer = try get(client, asked)
      #expect(answer.status == 200, "\(answer.text)")
      #expect(answer.fields["cache-control"] == "no-store")
      let items: [[String: Any]] = try #require(answer.value("items"))
      ids += items.compactMap { ($0["record"] as? [String: Any])?["id"] as? String }
      next = answer.value("paging.links.next", as: String.self)
        .map { String($0.dropFirst("/v1/items".count)) }
    }
    return ids
  }

  @Test func `a walk has each item once, of all and of a feed, by type and time`() throws {
    let server = try Self.make()
    defer { withExtendedLifetime(server) {} }
    let client = try server.client()
    let all = (0..<250).reversed().map { "p\($0)" }
    let ranked = (10..<250).reversed().map { "p\($0)" }
    func isVideo(_ id: String) -> Bool { Int(id.dropFirst())!.isMultiple(of: 3) }
    for limit in [1, 7, 30, 99, 100] {
      #expect(try Self.walk(client, "?limit=\(limit)") == all)
      #expect(try Self.walk(client, "?limit=\(limit)&feed=f%20%C3%A9") == ranked)
      #expect(try Self.walk(client, "?limit=\(limit)&feed=g") == ranked)
      #expect(
        try Self.walk(client, "?limit=\(limit)&feed=f%20%C3%A9&type=video")
          == ranked.filter(isVideo))
      #expect(try Self.walk(client, "?limit=\(limit)&type=video") == all.filter(isVideo))
    }
    let range = "publishedFrom=1970-01-01T00:00:05Z&publishedBefore=1970-01-01T00:00:15Z"
    #expect(try Self.walk(client, "?limit=2&" + range) == (5..<15).reversed().map { "p\($0)" })
    #expect(
      try Self.walk(client, "?limit=2&feed=g&" + range) == (10..<15).reversed().map { "p\($0)" })
    #expect(try Self.walk(client, "?type=ad").isEmpty)
    #expect(try Self.walk(client, "?type=ad&feed=g").isEmpty)
  }

  @Test func `an item is written with the tag that the list has`() throws {
    let server = try Self.make()
    defer { withExtendedLifetime(server) {} }
    let client = try server.client()
    let items: [[String: Any]] = try #require(
      try Self.get(client, "?limit=2").value("items"))
    let tags = items.compactMap { $0["etag"] as? String }
    for (tag, status) in [(tags[1], 412), (tags[0], 204), (tags[0], 412)] {
      let answer = try client.request(
        "PATCH", "/v1/items/p249",
        [
          "Authorization": "Bearer e-token", "If-Match": tag,
          "Content-Type": "application/merge-patch+json",
        ], body: "{\"title\":\"x\"}")
      #expect(answer.status == status, "\(answer.text)")
    }
  }

  @Test func `items are found by their texts, of all and of a feed`() throws {
    let store = ModelStore()
    try store.load(
      (0..<50).map { index in
        .post(
          Post(
            id: "p\(index)", type: index.isMultiple(of: 3) ? .video : .text,
            title: index.isMultiple(of: 2) ? "Slow boat \(index)" : "Fast train"),
          placements: index < 10 ? [] : [Placement(feed: "g", rank: index)])
      }, batch: 1)
    let server = try RunningServer(on: store) { $0.writeTokens = Self.tokens }
    defer { withExtendedLifetime(server) {} }
    let client = try server.client()
    let boats = (0..<50).reversed().filter { $0.isMultiple(of: 2) }
    for limit in [1, 7, 100] {
      #expect(
        try Self.walk(client, "?limit=\(limit)&q=BOA") == boats.map { "p\($0)" })
      #expect(
        try Self.walk(client, "?limit=\(limit)&q=%22slow%20boat%22&feed=g&type=video")
          == boats.filter { $0 >= 10 && $0.isMultiple(of: 3) }.map { "p\($0)" })
    }
    #expect(try Self.walk(client, "?q=boat+42") == ["p42"])
    let long = String(repeating: "%F0%9F%8E%89%00%22%2A%28", count: 200)
    for (query, status, parameter) in [
      ("?q=", 400, "q"), ("?q=%20", 400, "q"), ("?q=%2A", 400, "q"), ("?q=%00", 400, "q"),
      ("?q=%CC%81", 400, "q"), ("?q=" + long, 400, "q"), ("?q=%FF", 400, nil),
      ("?q=a&feed=nope", 404, nil), ("?q=a&q=b", 400, "q"), ("?q=%E5%AD%97%00", 400, "q"),
      ("?q=a%22%20OR%20%22b", 200, nil), ("?q=NOT%20a*%20%5E", 200, nil),
    ] as [(String, Int, String?)] {
      let answer = try Self.get(client, query)
      #expect(answer.status == status, "\(query.prefix(60)) \(answer.text)")
      if let parameter {
        #expect(answer.value("parameter", as: String.self) == parameter, "\(query.prefix(60))")
      }
    }
  }

  @Test func `what is no such list is refused`() throws {
    let server = try Self.make()
    defer { withExtendedLifetime(server) {} }
    let client = try server.client()
    let cursor: String = try #require(try Self.get(client, "?limit=1").value("paging.next"))
    let ofFeed: String = try #require(
      try Self.get(client, "?limit=1&feed=g").value("paging.next"))
    for (query, token, status, parameter) in [
      ("", nil, 401, nil), ("", "wrong", 401, nil), ("", "c-token", 200, nil),
      ("?limit=0", "e-token", 400, "limit"), ("?limit=101", "e-token", 400, "limit"),
      ("?type=film", "e-token", 400, "type"), ("?type=", "e-token", 400, "type"),
      ("?publishedFrom=1", "e-token", 400, "publishedFrom"),
      ("?publishedBefore=yesterday", "e-token", 400, "publishedBefore"),
      ("?before=x", "e-token", 400, "before"), ("?feed=nope", "e-token", 404, nil),
      ("?after=\(ofFeed)", "e-token", 400, "after"),
      ("?feed=g&after=\(cursor)", "e-token", 400, "after"),
      ("?feed=f%20%C3%A9&after=\(ofFeed)", "e-token", 400, "after"),
      ("?after=\(cursor.dropLast())", "e-token", 400, "after"),
      ("?after=\(cursor)", "e-token", 200, nil),
      // Another normal form is another feed.
      ("?feed=f%20e%CC%81", "e-token", 404, nil),
    ] as [(String, String?, Int, String?)] {
      let answer = try Self.get(client, query, token: token)
      #expect(answer.status == status, "\(query) \(answer.text)")
      #expect(answer.value("parameter", as: String.self) == parameter, "\(query)")
    }
  }
}
