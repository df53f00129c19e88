import Feed
import Seeding
import TestSupport
import Testing

/// Nonsense of every kind gets a problem document that names what is wrong.
@Suite struct ProblemTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var method = "GET"
    let target: String
    let status: Int
    let kind: String
    var parameter: String?
    /// A part of the detail.
    var says = ""

    var testDescription: String { "\(method) \(target)" }
  }

  private static func invalid(_ query: String, _ parameter: String, _ says: String) -> Case {
    Case(
      target: "/rp/?" + query, status: 400, kind: "invalid-parameter", parameter: parameter,
      says: says)
  }

  static let cases: [Case] = [
    invalid("", "feed", "is missing"),
    invalid("limit=5", "feed", "is missing"),
    invalid("feed=", "feed", "is empty"),
    invalid("feed", "feed", "is empty"),
    invalid("feed=newest&feed=newest", "feed", "more than once"),
    invalid("feed=newest&limit=1&limit=1", "limit", "more than once"),
    invalid("feed=newest&limit=0", "limit", "not in 1…100"),
    invalid("feed=newest&limit=101", "limit", "not in 1…100"),
    invalid("feed=newest&limit=-1", "limit", "not a whole number"),
    invalid("feed=newest&limit=+1", "limit", "not a whole number"),
    invalid("feed=newest&limit=01", "limit", "not a whole number"),
    invalid("feed=newest&limit=1.0", "limit", "not a whole number"),
    invalid("feed=newest&limit=1e1", "limit", "not a whole number"),
    invalid("feed=newest&limit=%D9%A1", "limit", "not a whole number"),
    invalid("feed=newest&limit=99999999999999999999999", "limit", "not a whole number"),
    invalid("feed=newest&limit=", "limit", "is empty"),
    invalid("feed=newest&offset=-1", "offset", "not a whole number"),
    invalid("feed=newest&offset=9007199254740992", "offset", "not in"),
    invalid("feed=newest&Limit=1", "Limit", "is unknown"),
    invalid("feed=newest&page=2", "page", "is unknown"),
    invalid("feed=newest&=2", "", "is unknown"),
    invalid("feed=newest&limit=%zz", "limit", "%"),
    invalid("feed=%ff", "feed", "UTF-8"),
    invalid("feed=a%00", "feed", "NUL"),
    invalid("feed=newest&around=g1&after=x", "after", "combined with around"),
    invalid("feed=newest&around=g1&offset=1", "offset", "combined with around"),
    invalid("feed=newest&around=offset:x", "around", "offset:"),
    invalid("feed=newest&around=offset:-1", "around", "offset:"),
    invalid("feed=newest&around=g1&leading=100", "leading", "not in 0…99"),
    invalid("feed=newest&around=g1&leading=60&trailing=40", "leading", "more than 100"),
    invalid("feed=newest&around=g1&leading=1&limit=3", "limit", "combined with leading"),
    invalid("feed=newest&leading=1", "leading", "requires around"),
    invalid("feed=newest&trailing=1", "trailing", "requires around"),
    invalid("feed=newest&network=5g", "network", "not one of"),
    invalid("feed=newest&network=wifi&rtt=20", "rtt", "combined with network"),
    invalid("feed=newest&network=wifi&downlink=20", "downlink", "combined with network"),
    invalid("feed=newest&downlink=fast", "downlink", "not a whole number"),
    invalid("feed=newest&saveData=yes!", "saveData", "neither true nor false"),
    invalid("feed=newest&budget=-5", "budget", "not a whole number"),
    invalid("feed=newest&width=0", "width", "not in 1…16384"),
    invalid("feed=newest&width=16385", "width", "not in 1…16384"),
    invalid("feed=newest&width=3.5", "width", "not a whole number"),
    invalid("feed=newest&arm=bb", "arm", "not a letter"),
    invalid("feed=newest&arm=B", "arm", "not a letter"),
    Case(target: "/rp/?feed=nope", status: 404, kind: "unknown-feed", says: "\"nope\""),
    Case(target: "/v1/feeds/nope", status: 404, kind: "unknown-feed", says: "\"nope\""),
    Case(target: "/v1/feeds/nope/items", status: 404, kind: "unknown-feed"),
    Case(target: "/v1/networks?feed=nope", status: 404, kind: "unknown-feed"),
    Case(target: "/v1/items/nope", status: 404, kind: "unknown-item", says: "\"nope\""),
    Case(
      target: "/rp/?feed=newest&around=nope", status: 404, kind: "unknown-item",
      parameter: "around"),
    Case(
      target: "/v1/feeds/newest/items?feed=newest", status: 400, kind: "invalid-parameter",
      parameter: "feed"),
    Case(target: "/v1/feeds?x=1", status: 400, kind: "invalid-parameter", parameter: "x"),
    Case(target: "/healthz?x=1", status: 400, kind: "invalid-parameter", parameter: "x"),
    Case(target: "/openapi.json?x=1", status: 400, kind: "invalid-parameter", parameter: "x"),
    Case(
      target: "/v1/items/g1?limit=1", status: 400, kind: "invalid-parameter", parameter: "limit"),
    Case(
      target: "/rp/?feed=newest&after=abc", status: 400, kind: "invalid-cursor",
      parameter: "after"),
    Case(
      target: "/rp/?feed=newest&before=%20", status: 400, kind: "invalid-cursor",
      parameter: "before"),
    Case(target: "/rp/x", status: 404, kind: "unknown-route"),
    Case(target: "/v1/feeds/", status: 404, kind: "unknown-route"),
    Case(target: "/v1/items/", status: 404, kind: "unknown-route", says: "PUT /v1/items/{id}"),
    Case(target: "/v1/items", status: 403, kind: "writes-off", says: "--write-token-file"),
    Case(
      method: "PUT", target: "/v1/items", status: 405, kind: "method-not-allowed",
      says: "only GET, HEAD, POST"),
    Case(target: "//rp/", status: 404, kind: "unknown-route"),
    Case(target: "/rp/../rp/", status: 404, kind: "unknown-route"),
    Case(target: "/v1/items/%zz", status: 400, kind: "malformed-request", says: "offset"),
    Case(target: "/v1/items/%ff", status: 400, kind: "malformed-request", says: "UTF-8"),
    Case(method: "POST", target: "/rp/?feed=newest", status: 405, kind: "method-not-allowed"),
    Case(
      method: "POST", target: "/v1/items/g1", status: 405, kind: "method-not-allowed",
      says: "only GET, HEAD, PUT, PATCH, DELETE"),
    Case(
      method: "DELETE", target: "/v1/items/g1", status: 403, kind: "writes-off",
      says: "--write-token-file"),
    Case(target: "/media/x", status: 404, kind: "unknown-media"),
    Case(method: "TRACE", target: "/rp/", status: 405, kind: "method-not-allowed"),
    Case(method: "BREW", target: "/rp/", status: 501, kind: "not-supported"),
  ]

  private static let service = try! RunningServer(PostGenerator(count: 20, seed: 1))

  @Test(arguments: cases)
  func `nonsense gets a problem that names it`(_ test: Case) throws {
    let answer = try Self.service.client().request(
      test.method, test.target, ["X-Request-Id": "test-1"])
    #expect(answer.status == test.status, "\(answer.text)")
    #expect(answer.fields["content-type"] == "application/problem+json")
    #expect(answer.fields["x-request-id"] == "test-1")
    #expect(answer.value("type") == "urn:lookahead:problem:" + test.kind)
    #expect(answer.value("status") == test.status)
    #expect(answer.value("instance") == "test-1")
    #expect(answer.value("parameter", as: String.self) == test.parameter)
    #expect(answer.value("title", as: String.self)?.isEmpty == false)
    let detail: String = try #require(answer.value("detail"))
    #expect(test.says.isEmpty || detail.contains(test.says), "\(detail)")
    if test.status == 405 {
      let isItem = test.target.hasPrefix("/v1/items/")
      #expect(
        answer.fields["allow"]
          == (isItem
            ? "GET, HEAD, PUT, PATCH, DELETE, OPTIONS"
            : test.target == "/v1/items" ? "GET, HEAD, POST, OPTIONS" : "GET, HEAD, OPTIONS"))
    }
  }

  @Test func `every damage of a cursor is refused and the server goes on`() throws {
    let client = try Self.service.client()
    let cursor: String = try #require(
      try client.get("/rp/?feed=newest&limit=5").value("paging.next"))
    let letters = Array("ABab09-_")
    for index in cursor.indices {
      let letter = try #require(letters.first { $0 != cursor[index] })
      let damaged = cursor.replacingCharacters(in: index...index, with: String(letter))
      let cut = String(cursor[..<index])
      for text in [damaged, cut, cursor + String(letter)] where !text.isEmpty {
        let answer = try client.get("/rp/?feed=newest&after=\(text)")
        #expect(answer.status == 400, "\(text)")
        #expect(answer.value("type") == "urn:lookahead:problem:invalid-cursor")
      }
    }
    let foreign = try client.get("/rp/?feed=featured&after=\(cursor)")
    #expect(foreign.status == 400)
    #expect(foreign.value("parameter") == "after")
    #expect(try client.get("/rp/?feed=newest&after=\(cursor)").status == 200)
  }

  @Test func `a cursor survives a restart and another replica`() throws {
    let other = try RunningServer(PostGenerator(count: 20, seed: 1))
    let cursor: String = try #require(
      try Self.service.client().get("/rp/?feed=newest&limit=5").value("paging.next"))
    let target = "/rp/?feed=newest&limit=3&after=\(cursor)"
    let answers = try [Self.service, other].map { try $0.client().get(target) }
    #expect(answers[0].status == 200)
    #expect(answers[0].body == answers[1].body)
    #expect(answers[0].fields["etag"] == answers[1].fields["etag"])
  }

  @Test func `half a request harms nobody`() throws {
    for text in [
      "GET /rp/?feed=new", "GET /rp/ HTTP/1.1\r\nHost: x\r\n", "\u{0}\u{1}\u{2}\r\n\r\n",
    ] {
      try Self.service.client().send(Array(text.utf8))
    }
    let client = try Self.service.client()
    try client.send(Array("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n".utf8))
    let answer = try client.receive()
    #expect(answer.status == 400)
    #expect(answer.value("type") == "urn:lookahead:problem:malformed-request")
    #expect(answer.fields["connection"] == "close")
    #expect(try Self.service.client().get("/healthz").status == 200)
  }
}
