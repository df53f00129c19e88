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

  static let patching = authorized.merging(["Content-Type": "application/merge-patch+json"]) { $1 }

  @Test func `a posted item has an id that nobody has`() throws {
    let service = try Self.service()
    let client = try service.client()
    var ids: Set<String> = []
    for _ in 0..<20 {
      let made = try client.request("POST", "/v1/items", Self.authorized, body: Self.record)
      let id: String = try #require(made.value("id"))
      #expect(made.status == 201 && made.fields["location"] == "/v1/items/\(id)", "\(made.text)")
      #expect(try client.get("/v1/items/\(id)").value("title") == "One")
      ids.insert(id)
    }
    #expect(ids.count == 20)
    #expect(try client.get("/rp/?feed=featured").itemIDs.count == 20)
  }

  /// Patches of `record`, and what then differs in the record.
  static let patches: [(patch: String, gone: [String], has: String)] = [
    ("{}", [], ""),
    (#"{"title":"Two"}"#, [], #""title":"Two""#),
    (#"{"title":null}"#, ["title"], ""),
    (#"{"author":{"name":"A"}}"#, [], #""author":{"name":"A"}"#),
    (#"{"author":null,"text":null}"#, [], ""),
    (#"{"counters":{"shares":1}}"#, [], #""counters":{"likes":3,"shares":1}"#),
    (#"{"counters":{"likes":null}}"#, ["counters"], ""),
    (#"{"feeds":[{"name":"newest"}]}"#, ["feeds"], #""feeds":[{"name":"newest"}]"#),
    (#"{"feeds":null}"#, ["feeds"], ""),
    (#"{"feeds":[]}"#, ["feeds"], ""),
    (#"{"t\u0069tle":"\u0054wo","id":"p"}"#, [], #""title":"Two""#),
  ]

  @Test(arguments: patches)
  func `a patch changes what it names and nothing else`(
    _ patch: String, _ gone: [String], _ has: String
  ) throws {
    let service = try Self.service()
    let client = try service.client()
    _ = try client.request("PUT", "/v1/items/p", Self.authorized, body: Self.record)
    func record() throws -> [String: Any] {
      try #require(
        JSONSerialization.jsonObject(with: Data(try client.get("/v1/items/p/record").body))
          as? [String: Any])
    }
    var expected = try record()
    for field in gone { expected[field] = nil }
    let added = try JSONSerialization.jsonObject(with: Data("{\(has)}".utf8)) as! [String: Any]
    expected.merge(added) { $1 }
    let answer = try client.request("PATCH", "/v1/items/p", Self.patching, body: patch)
    #expect(answer.status == 204 && answer.body.isEmpty, "\(answer.text)")
    #expect(try record() as NSDictionary == expected as NSDictionary)
    let isFeatured = try client.get("/rp/?feed=featured").itemIDs == ["p"]
    #expect(isFeatured == !gone.contains("feeds"))
  }

  @Test func `patches of one item beside each other and beside increments lose nothing`()
    async throws
  {
    let service = try Self.service()
    let client = try service.client()
    _ = try client.request("PUT", "/v1/items/p", Self.authorized, body: Self.record)
    try await withThrowingTaskGroup { group in
      for number in 0..<8 {
        group.addTask {
          let client = try service.client()
          for turn in 0..<10 {
            let count = try client.request(
              "POST", "/v1/items/p/counters", Self.authorized, body: #"{"likes":1}"#)
            #expect(count.status == 200)
            let patch = #"{"counters":{"c\#(number)":\#(turn)}}"#
            let name = #"{"author":{"name":"\#(number)"}}"#
            #expect(
              try client.request("PATCH", "/v1/items/p", Self.patching, body: name).status == 204)
            #expect(
              try client.request("PATCH", "/v1/items/p", Self.patching, body: patch).status == 204)
          }
        }
      }
      try await group.waitForAll()
    }
    let counters: [String: Int] = try #require(client.get("/v1/items/p").value("counters"))
    #expect(counters["likes"] == 83)
    for number in 0..<8 { #expect(counters["c\(number)"] == 9) }
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
    Refusal(method: "PATCH", fields: [:], status: 401, kind: "unauthorized"),
    Refusal(
      method: "PATCH", target: "/v1/items/old",
      fields: authorized.merging(["Content-Type": "application/json"]) { $1 }, status: 415,
      kind: "unsupported-media-type"),
    Refusal(method: "PATCH", fields: patching, status: 404, kind: "unknown-item"),
    Refusal(
      method: "PATCH", target: "/v1/items/old", fields: patching, body: "[]", status: 422,
      kind: "invalid-record"),
    Refusal(
      method: "PATCH", target: "/v1/items/old", fields: patching, body: #"{"type":null}"#,
      status: 422, kind: "invalid-record", field: "type"),
    Refusal(
      method: "PATCH", target: "/v1/items/old", fields: patching, body: #"{"Title":"a"}"#,
      status: 422, kind: "invalid-record", field: "Title"),
    Refusal(
      method: "PATCH", target: "/v1/items/old", fields: patching, body: #"{"id":"new"}"#,
      status: 422, kind: "invalid-record", field: "id"),
    Refusal(
      method: "PATCH", target: "/v1/items/old",
      fields: patching.merging(["If-Match": "\"a\""]) { $1 }, body: #"{"title":"a"}"#, status: 412,
      kind: "precondition-failed"),
    Refusal(
      method: "POST", target: "/v1/items", body: #"{"id":"y","type":"image"}"#, status: 422,
      kind: "invalid-record", field: "id"),
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

  @Test func `a record that is read, changed and sent back can be undone`() throws {
    let service = try Self.service()
    let client = try service.client()
    let target = "/v1/items/p%2F1"
    let text =
      #"{"id":"p/1","feeds":[{"name":"f","rank":3}],"type":"image","title":"One","tags":["a"],"#
      + #""media":[{"kind":"image","url":"/media/a b.jpg"}]}"#
    #expect(try client.request("PUT", target, Self.authorized, body: text).status == 201)
    let before = try client.get(target + "/record")
    #expect(before.text == text)
    let tag = try #require(before.fields["etag"])
    func put(_ body: String, _ tag: String) throws -> Int {
      try client.request(
        "PUT", target, Self.authorized.merging(["If-Match": tag]) { $1 }, body: body
      ).status
    }
    let changed = text.replacing("One", with: "Two").replacing(":3", with: ":1")
    #expect(try put(changed, tag) == 204)
    let after = try client.get(target + "/record")
    #expect(after.text == changed)
    #expect(try put(text, tag) == 412)
    #expect(try put(text, try #require(after.fields["etag"])) == 204)
    #expect(try client.get(target + "/record", ["If-None-Match": tag]).status == 304)
    #expect(try client.get("/v1/items/none/record").status == 404)
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
