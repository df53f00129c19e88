import Feed
import Foundation
import HTTP
import Seeding
import TestSupport
import Testing

/// Single writes over HTTP: who may, under which conditions, and what is there afterwards.
@Suite struct WriteTests {
  static let token = "a-token-of-the-tests"
  static let authorized = ["Authorization": "Bearer a-token-of-the-tests"]

  static func service(_ records: [SeedRecord] = []) throws -> RunningServer {
    try RunningServer(records) { $0.writeTokens = .only(token) }
  }

  static let record =
    #"{"type":"image","title":"One","feeds":[{"name":"featured","rank":1},{"name":"newest"}],"#
    + #""publishedAt":"2026-05-01T06:10:00Z","counters":{"likes":3}}"#

  @Test func `a put item is there at the next read, in its feeds, and gone after its deletion`()
    throws
  {
    let service = try Self.service([.ranked("other", 2)])
    let client = try service.client()
    let target = "/v1/items/a%2Fb%20c"
    let created = try client.request("PUT", target, Self.authorized, body: Self.record)
    #expect(created.status == 201 && created.fields["location"] == target, "\(created.text)")
    let item = try client.get(target)
    #expect(item.value("id") == "a/b c" && item.value("title") == "One")
    let feeds: [[String: Any]] = try #require(item.value("feeds"))
    #expect(feeds.compactMap { $0["name"] as? String } == ["featured", "newest"])
    #expect(try client.get("/rp/?feed=featured").itemIDs == ["a/b c", "other"])

    let replaced = try client.request(
      "PUT", target, Self.authorized, body: #"{"type":"image","title":"Two"}"#)
    #expect(replaced.status == 204 && replaced.body.isEmpty)
    #expect(try client.get(target).value("title") == "Two")
    #expect(try client.get("/rp/?feed=featured").itemIDs == ["a/b c", "other"])
    let moved = try client.request(
      "PUT", target, Self.authorized,
      body: #"{"type":"image","title":"Two","feeds":[{"name":"newest"}]}"#)
    #expect(moved.status == 204)
    #expect(try client.get("/rp/?feed=featured").itemIDs == ["other"])
    #expect(try client.get("/rp/?feed=newest").itemIDs == ["a/b c"])

    #expect(try client.request("DELETE", target, Self.authorized).status == 204)
    #expect(try client.get(target).status == 404)
    #expect(try client.get("/rp/?feed=newest").itemIDs == [])
    #expect(try client.request("DELETE", target, Self.authorized).status == 404)
  }

  struct Refusal: CustomTestStringConvertible, Sendable {
    var method = "PUT"
    var target = "/v1/items/x"
    var fields = WriteTests.authorized
    var body: String? = #"{"type":"image"}"#
    let status: Int
    let kind: String
    var field: String?

    var testDescription: String { "\(method) \(target) \(fields) \(body ?? "")" }
  }

  static let refusals: [Refusal] = [
    Refusal(fields: [:], status: 401, kind: "unauthorized"),
    Refusal(fields: ["Authorization": "Bearer wrong"], status: 401, kind: "unauthorized"),
    Refusal(
      fields: ["Authorization": "Bearer a-token-of-the-test"], status: 401, kind: "unauthorized"),
    Refusal(
      fields: ["Authorization": "Bearer a-token-of-the-tests-"], status: 401, kind: "unauthorized"),
    Refusal(
      fields: ["Authorization": "Basic a-token-of-the-tests"], status: 401, kind: "unauthorized"),
    Refusal(method: "DELETE", fields: [:], body: nil, status: 401, kind: "unauthorized"),
    Refusal(
      method: "POST", target: "/v1/items/x/counters", fields: [:], status: 401, kind: "unauthorized"
    ),
    Refusal(method: "POST", target: "/v1/import", fields: [:], status: 401, kind: "unauthorized"),
    Refusal(body: "{", status: 422, kind: "invalid-record"),
    Refusal(body: "", status: 422, kind: "invalid-record"),
    Refusal(body: nil, status: 422, kind: "invalid-record"),
    Refusal(body: "[1]", status: 422, kind: "invalid-record"),
    Refusal(body: #"{"title":"a"}"#, status: 422, kind: "invalid-record", field: "type"),
    Refusal(
      body: #"{"id":"y","type":"image"}"#, status: 422, kind: "invalid-record", field: "id"),
    Refusal(
      body: #"{"type":"image","Title":"a"}"#, status: 422, kind: "invalid-record", field: "Title"),
    Refusal(
      body: #"{"type":"image","media":[{"kind":"image","url":"/a","width":0}]}"#, status: 422,
      kind: "invalid-record", field: "media[0].width"),
    Refusal(body: #"{"feed":{"name":"a"}}"#, status: 422, kind: "invalid-record", field: "feed"),
    Refusal(
      body: "{\"type\":\"text\",\"text\":\"\(String(repeating: "a", count: 2000))\"}", status: 413,
      kind: "limit-exceeded"),
    Refusal(
      fields: authorized.merging(["Content-Type": "text/plain"]) { $1 }, status: 415,
      kind: "unsupported-media-type"),
    Refusal(
      fields: authorized.merging(["Content-Encoding": "gzip"]) { $1 }, status: 415,
      kind: "unsupported-media-type"),
    Refusal(
      fields: authorized.merging(["If-Match": "*"]) { $1 }, status: 412,
      kind: "precondition-failed"),
    Refusal(
      method: "DELETE", fields: authorized.merging(["If-Match": "\"a\""]) { $1 }, body: nil,
      status: 412, kind: "precondition-failed"),
    Refusal(
      target: "/v1/items/x?a=1", status: 400, kind: "invalid-parameter"),
    Refusal(
      method: "POST", target: "/v1/items/x/counters", body: #"{"likes":1}"#, status: 404,
      kind: "unknown-item"),
    Refusal(
      method: "POST", target: "/v1/items/old/counters", body: #"{}"#, status: 422,
      kind: "invalid-record"),
    Refusal(
      method: "POST", target: "/v1/items/old/counters", body: #"{"likes":1.5}"#, status: 422,
      kind: "invalid-record", field: "likes"),
    Refusal(
      method: "POST", target: "/v1/items/old/counters", body: #"{"likes":9007199254740991}"#,
      status: 422, kind: "counter-limit", field: "likes"),
    Refusal(
      method: "POST", target: "/v1/items/old/counters",
      fields: authorized.merging(["Idempotency-Key": "a b"]) { $1 }, body: #"{"likes":1}"#,
      status: 400, kind: "invalid-parameter"),
    Refusal(
      method: "PUT", target: "/v1/items/\(String(repeating: "a", count: 201))", status: 422,
      kind: "invalid-record", field: "id"),
    Refusal(method: "POST", target: "/v1/items/x", status: 405, kind: "method-not-allowed"),
    Refusal(method: "PATCH", target: "/v1/items/x", status: 405, kind: "method-not-allowed"),
  ]

  private static let refusing = try! RunningServer([
    .post(
      Post(id: "old", type: .image, counters: [Counter("likes", 1)]),
      placements: [Placement(feed: "featured", rank: 1)])
  ]) {
    $0.writeTokens = .only(token)
    $0.server.limits.bodyBytes = 1000
  }

  @Test(arguments: refusals)
  func `what may not be written is refused and changes nothing`(_ refusal: Refusal) throws {
    let client = try Self.refusing.client()
    let before = try client.get("/v1/items/old").body
    let answer = try Self.refusing.client().request(
      refusal.method, refusal.target, refusal.fields, body: refusal.body)
    #expect(answer.status == refusal.status, "\(answer.text)")
    #expect(answer.value("type") == "urn:lookahead:problem:" + refusal.kind)
    #expect(answer.value("field", as: String.self) == refusal.field)
    if refusal.status == 401 {
      #expect(answer.fields["www-authenticate"]?.hasPrefix("Bearer realm=") == true)
    }
    #expect(try client.get("/v1/items/old").body == before)
    #expect(try client.get("/v1/items/x").status == 404)
    #expect(try client.get("/rp/?feed=featured").itemIDs == ["old"])
  }

  @Test func `without a token nobody writes`() throws {
    let service = try RunningServer()
    let client = try service.client()
    let cases = [
      ("PUT", "/v1/items/a"), ("DELETE", "/v1/items/a"), ("POST", "/v1/items/a/counters"),
      ("POST", "/v1/import"),
    ]
    for (method, target) in cases {
      let answer = try client.request(method, target, ["Authorization": "Bearer "], body: "{}")
      #expect(answer.status == 403)
      #expect(answer.value("type") == "urn:lookahead:problem:writes-off")
    }
  }

  @Test func `only the state that a writer has seen is changed`() throws {
    let service = try Self.service([.ranked("a", 1)])
    let client = try service.client()
    func tag(_ fields: [String: String] = [:]) throws -> String {
      try #require(try client.get("/v1/items/a?network=wifi", fields).fields["etag"])
    }
    func put(_ title: String, _ condition: [String: String]) throws -> Int {
      try client.request(
        "PUT", "/v1/items/a", Self.authorized.merging(condition) { $1 },
        body: "{\"type\":\"image\",\"title\":\"\(title)\"}"
      ).status
    }
    let first = try tag()
    #expect(try put("two", ["If-Match": first]) == 204)
    #expect(try put("three", ["If-Match": first]) == 412)
    #expect(try client.get("/v1/items/a").value("title") == "two")
    // Of whichever network the tag was.
    let other = try #require(try client.get("/v1/items/a?network=edge").fields["etag"])
    #expect(try put("three", ["If-Match": "\"x\", \(other)"]) == 204)
    #expect(try put("four", ["If-Match": "W/" + (try tag())]) == 412)
    #expect(try put("four", ["If-None-Match": "*"]) == 412)
    #expect(try put("four", ["If-None-Match": try tag()]) == 412)
    #expect(try put("four", ["If-None-Match": first]) == 204)
    // In another feed it is in another state.
    let before = try tag()
    #expect(
      try client.request(
        "PUT", "/v1/items/a", Self.authorized,
        body: #"{"type":"image","title":"four","feeds":[{"name":"newest"}]}"#
      ).status == 204)
    #expect(try put("five", ["If-Match": before]) == 412)
    #expect(
      try client.request(
        "DELETE", "/v1/items/a", Self.authorized.merging(["If-Match": before]) { $1 }
      ).status == 412)
    #expect(
      try client.request(
        "DELETE", "/v1/items/a", Self.authorized.merging(["If-Match": try tag()]) { $1 }
      ).status == 204)
    #expect(try put("six", ["If-None-Match": "*"]) == 201)
  }

  @Test func `increments add up, and count once for each key`() throws {
    let service = try Self.service([.ranked("a", 1)])
    @Sendable func post(_ client: TestClient, _ body: String, key: String? = nil) throws
      -> TestAnswer
    {
      try client.request(
        "POST", "/v1/items/a/counters",
        Self.authorized.merging(key.map { ["Idempotency-Key": $0] } ?? [:]) { $1 }, body: body)
    }
    let workers = 4
    DispatchQueue.concurrentPerform(iterations: workers) { worker in
      do {
        let client = try service.client()
        for number in 0..<25 {
          let answer = try post(client, #"{"likes":1,"views":-2}"#)
          #expect(answer.status == 200)
          // The same key from everybody.
          let keyed = try post(client, #"{"shares":1}"#, key: "\"key-\(number)\"")
          #expect(keyed.status == 200)
          let shares: Int? = keyed.value("counters.shares")
          #expect(shares.map { (1...25).contains($0) } == true)
        }
      } catch {
        Issue.record("worker \(worker): \(error)")
      }
    }
    let client = try service.client()
    let item = try client.get("/v1/items/a")
    #expect(item.value("counters.likes") == 25 * workers)
    #expect(item.value("counters.views") == -50 * workers)
    #expect(item.value("counters.shares") == 25)
    let replay = try post(client, #"{"shares":1}"#, key: "key-3")
    #expect(replay.fields["idempotent-replayed"] == "true")
    let reused = try post(client, #"{"shares":2}"#, key: "key-3")
    #expect(reused.status == 422)
    #expect(reused.value("type") == "urn:lookahead:problem:idempotency-key-reused")
  }

  @Test(arguments: ["junk", "\"a", "\"a\" \"b\"", "*, \"a\"", ","])
  func `a condition that cannot be read lets no write through`(_ value: String) throws {
    let service = try Self.service([.ranked("a", 1)])
    let client = try service.client()
    for name in ["If-Match", "If-None-Match"] {
      let put = try client.request(
        "PUT", "/v1/items/a", Self.authorized.merging([name: value]) { $1 }, body: Self.record)
      #expect(put.status == 412, "\(name): \(value): \(put.text)")
    }
    #expect(try client.get("/v1/items/a").value("title") == "Post a")
  }
}
