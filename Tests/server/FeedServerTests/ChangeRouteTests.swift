import Catalog
import Feed
import ModelStore
import TestSupport
import Testing

@testable import FeedServer

/// `/v1/changes`.
@Suite struct ChangeRouteTests {
  private static func server() throws -> RunningServer {
    let tokens = try WriteTokenFile.tokens(
      in: """
        copier  c-token  changes
        editor  e-token  feed:featured counters media policies
        owner   o-token  everything
        """)
    return try RunningServer((1...3).map { .ranked("p\($0)", $0) }) { $0.writeTokens = tokens }
  }

  private static func get(
    _ client: TestClient, _ query: String = "", token: String = "c-token"
  ) throws -> TestAnswer {
    try client.request("GET", "/v1/changes" + query, ["Authorization": "Bearer \(token)"])
  }

  @Test func `a reader goes on from its cursor`() throws {
    let server = try Self.server()
    let client = try server.client()
    let now = try Self.get(client)
    #expect(now.status == 200 && now.fields["cache-control"] == "no-store", "\(now.text)")
    #expect(now.value("changes", as: [Any].self)?.isEmpty == true)
    #expect(now.value("paging.hasMore", as: Bool.self) == false)
    let cursor: String = try #require(now.value("paging.next"))
    try server.store.load([.ranked("p4", 4), .ranked("p2", 9)])
    _ = try server.store.deletePost(withID: "p1")
    let first = try Self.get(client, "?since=\(cursor)&limit=1&records=true")
    #expect(first.value("paging.hasMore", as: Bool.self) == true)
    let all = try Self.get(client, "?since=\(cursor)&records=true")
    let changes = try #require(all.value("changes", as: [[String: Any]].self))
    let states = changes.map { [$0["kind"], $0["id"], $0["state"]].map { $0 as? String } }
    #expect(
      Set(states) == [
        ["item", "p1", "gone"], ["item", "p2", "present"], ["item", "p4", "present"],
      ],
      "\(all.text)")
    let item = try #require(changes.first { $0["id"] as? String == "p2" })
    let record = try #require(item["record"] as? [String: Any])
    #expect(record["id"] as? String == "p2" && record["feeds"] != nil)
    // The tag is one that a write may name.
    let tag = try #require(item["etag"] as? String)
    let written = try client.request(
      "DELETE", "/v1/items/p2", ["Authorization": "Bearer o-token", "If-Match": tag])
    #expect(written.status == 204)
    let next: String = try #require(all.value("paging.next"))
    let rest = try Self.get(client, "?since=\(next)")
    #expect(rest.value("changes.0.state") == "gone" || rest.text.contains("\"gone\""))
    #expect(!rest.text.contains("record"))
  }

  @Test func `who may read it, and what is refused`() throws {
    let server = try Self.server()
    let client = try server.client()
    #expect(try client.get("/v1/changes").status == 401)
    #expect(try Self.get(client, token: "o-token").status == 200)
    let refused = try Self.get(client, token: "e-token")
    #expect(
      refused.status == 403
        && refused.value("type") == "urn:lookahead:problem:insufficient-rights")
    let cursor: String = try #require(try Self.get(client).value("paging.next"))
    let known = try ChangeCursor(text: cursor)
    let foreign = ChangeCursor(source: 7, first: known.first, second: known.second).text
    let later = ChangeCursor(source: known.source, first: 1 << 40, second: 0).text
    for (query, status, type) in [
      ("?since=x", 400, "invalid-cursor"), ("?since=\(cursor)A", 400, "invalid-cursor"),
      ("?since=\(foreign)", 400, "invalid-cursor"), ("?since=\(later)", 410, "expired-changes"),
      ("?since=", 400, "invalid-parameter"), ("?limit=0", 400, "invalid-parameter"),
      ("?limit=1001", 400, "invalid-parameter"), ("?records=maybe", 400, "invalid-parameter"),
      ("?after=\(cursor)", 400, "invalid-parameter"),
    ] {
      let answer = try Self.get(client, query)
      #expect(
        answer.status == status && answer.value("type") == "urn:lookahead:problem:\(type)",
        "\(query): \(answer.text)")
    }
  }
}
