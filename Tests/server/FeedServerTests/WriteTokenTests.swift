import Catalog
import Feed
import TestSupport
import Testing

@testable import FeedServer

/// Tokens with rights: what each may write, and what a file says of them.
@Suite struct WriteTokenTests {
  private static let file = """
    # name  token     rights
    editor  e-token=  everything

    sports\tsp/token  feed:sports feed:a%2Fb
    both    b+token   counters   feed:news
    apps    c.token   counters
    """

  private let server: RunningServer
  private let client: TestClient

  init() throws {
    let tokens = try WriteTokenFile.tokens(in: Self.file)
    server = try RunningServer(
      [.ranked("s1", 1, feed: "sports"), .ranked("n1", 1, feed: "news")]
    ) { $0.writeTokens = tokens }
    client = try server.client()
    try server.store.load([
      .post(
        Post(id: "two", type: .image),
        placements: [Placement(feed: "sports", rank: 5), Placement(feed: "news", rank: 5)]),
      .post(Post(id: "none", type: .image), placements: []),
    ])
  }

  private func status(
    _ token: String, _ method: String, _ target: String, _ body: String? = nil
  ) throws -> Int {
    let answer = try client.request(
      method, target,
      ["Authorization": "Bearer \(token)", "Content-Type": "application/json"], body: body)
    if answer.status == 403 {
      #expect(answer.value("type") == "urn:lookahead:problem:insufficient-rights")
      #expect(answer.fields["www-authenticate"]?.contains("insufficient_scope") == true)
    }
    return answer.status
  }

  private static func item(_ feeds: String...) -> String {
    let feeds = feeds.map { #"{"name":"\#($0)"}"# }.joined(separator: ",")
    return #"{"type":"image","feeds":[\#(feeds)]}"#
  }

  @Test func `who may write some feeds writes items of those alone, before and after`() throws {
    let sports = "sp/token"
    for (method, id, body, status) in [
      ("PUT", "new", Self.item("sports"), 201), ("PUT", "new", Self.item("sports", "a/b"), 204),
      ("PUT", "new", Self.item("sports", "news"), 403), ("PUT", "new", Self.item(), 403),
      // What says no feeds stays where it is, which is in nobody's feed if it was not there.
      ("PUT", "new", #"{"type":"image","title":"x"}"#, 204),
      ("PUT", "newer", #"{"type":"image"}"#, 403), ("PUT", "newer", Self.item("news"), 403),
      ("PUT", "n1", Self.item("sports"), 403), ("PUT", "two", Self.item("sports"), 403),
      ("PUT", "none", Self.item("sports"), 403),
      ("DELETE", "n1", nil, 403), ("DELETE", "two", nil, 403), ("DELETE", "gone", nil, 404),
      ("DELETE", "new", nil, 204),
    ] as [(String, String, String?, Int)] {
      #expect(
        try self.status(sports, method, "/v1/items/\(id)", body) == status,
        "\(method) \(id) \(body ?? "")")
    }
    #expect(try client.get("/v1/items/n1").status == 200)
  }

  @Test func `counters may be all that a token is for`() throws {
    for (token, id, status) in [
      ("c.token", "n1", 200), ("c.token", "none", 200), ("sp/token", "s1", 200),
      ("sp/token", "two", 200), ("sp/token", "n1", 403), ("sp/token", "none", 403),
      ("b+token", "s1", 200), ("c.token", "gone", 404),
    ] {
      #expect(
        try self.status(token, "POST", "/v1/items/\(id)/counters", #"{"likes":1}"#) == status,
        "\(token) \(id)")
    }
    #expect(try status("c.token", "PUT", "/v1/items/n1", Self.item("news")) == 403)
    #expect(try status("c.token", "DELETE", "/v1/items/n1") == 403)
  }

  @Test func `feeds and imports need their rights, too`() throws {
    let record = #"{"feed":{"name":"sports","title":"T"}}"#
    #expect(try status("sp/token", "PUT", "/v1/feeds/sports", record) == 204)
    #expect(try status("sp/token", "PUT", "/v1/feeds/a%2Fb", #"{"feed":{"name":"a/b"}}"#) == 201)
    #expect(try status("sp/token", "PUT", "/v1/feeds/sports", #"{"feed":{"name":"x"}}"#) == 403)
    #expect(try status("sp/token", "PUT", "/v1/feeds/news", #"{"feed":{"name":"sports"}}"#) == 403)
    #expect(try status("sp/token", "DELETE", "/v1/feeds/news") == 403)
    #expect(try status("sp/token", "DELETE", "/v1/feeds/a%2Fb") == 204)
    for (token, status) in [("sp/token", 403), ("c.token", 403), ("e-token=", 200)] {
      let answer = try server.client().request(
        "POST", "/v1/import",
        ["Authorization": "Bearer \(token)", "Content-Type": "application/x-ndjson"],
        body: #"{"post":{"id":"i","type":"image"}}"# + "\n")
      #expect(answer.status == status, "\(token): \(answer.text)")
    }
  }

  @Test func `a replay is answered to the token whose key it is, and to nobody without the right`()
    throws
  {
    func count(_ token: String, _ id: String, key: String, _ body: String) throws -> TestAnswer {
      try client.request(
        "POST", "/v1/items/\(id)/counters",
        [
          "Authorization": "Bearer \(token)", "Content-Type": "application/json",
          "Idempotency-Key": "\"\(key)\"",
        ], body: body)
    }
    let likes = #"{"likes":1}"#
    #expect(try count("c.token", "n1", key: "1", likes).text.contains(#""likes":1"#))
    // The token of another feed, with the same key and for the same.
    let refused = try count("sp/token", "n1", key: "1", likes)
    #expect(refused.status == 403 && !refused.text.contains("likes"))
    #expect(refused.fields["idempotent-replayed"] == nil)
    // A backend that numbers its requests as another one does.
    let other = try count("b+token", "n1", key: "1", likes)
    #expect(other.status == 200 && other.text.contains(#""likes":2"#))
    #expect(other.fields["idempotent-replayed"] == nil)
    for (token, number) in [("c.token", 1), ("b+token", 2)] {
      let again = try count(token, "n1", key: "1", likes)
      #expect(again.text.contains(#""likes":\#(number)"#))
      #expect(again.fields["idempotent-replayed"] == "true")
    }
    let reused = try count("c.token", "n1", key: "1", #"{"likes":2}"#)
    #expect(reused.status == 422)
    #expect(reused.value("type") == "urn:lookahead:problem:idempotency-key-reused")
  }

  @Test func `tokens are exchanged while the server runs`() throws {
    server.replace(writeTokens: .only("fresh"))
    #expect(try status("e-token=", "DELETE", "/v1/items/s1") == 401)
    #expect(try status("fresh", "DELETE", "/v1/items/s1") == 204)
  }

  @Test func `a file is one token, or lines with rights`() throws {
    for text in ["one-token=", "\n one-token= \r\n"] {
      #expect(try WriteTokenFile.tokens(in: text) == .only("one-token="))
    }
    let tokens = try WriteTokenFile.tokens(in: Self.file)
    #expect(tokens.map(\.name) == ["editor", "sports", "both", "apps"])
    #expect(tokens[1].rights.feeds == [ByteText("sports"), ByteText("a/b")])
    #expect(tokens[2].rights.counters && !tokens[2].rights.everything)
    #expect(try WriteTokenFile.tokens(in: Self.file.replacing("\n", with: "\r\n")) == tokens)
  }

  @Test(arguments: [
    ("", "the file has no token"), ("  \n# a comment alone\n", "the file has no token"),
    ("tökén", "a token must be of"), ("a token", "line 1: expected a name"),
    ("a b everything\na c counters", "line 2: a token \"a\" is already defined above"),
    ("a b everything\nc b counters", "line 2: the token is the same as that of \"a\""),
    ("a b all", "line 1: all is not a right"), ("a b feed:", "line 1: feed: names no feed"),
    ("a b feed:%zz", "line 1: feed:%zz names no feed"), ("ä b counters", "line 1: the name"),
    ("#\na b=b counters", "line 2: a token must be of"),
  ])
  func `what is wrong with a file is said, without its tokens`(text: String, words: String) throws {
    let error = #expect(throws: WriteTokenFileError.self) { try WriteTokenFile.tokens(in: text) }
    #expect(error?.description.hasPrefix(words) == true, "\(error?.description ?? "")")
  }

  @Test func `no more tokens than can be compared`() throws {
    let lines = (0..<1000).map { "n\($0) t\($0) counters\n" }
    #expect(try WriteTokenFile.tokens(in: lines.joined()).count == 1000)
    let error = #expect(throws: WriteTokenFileError.self) {
      try WriteTokenFile.tokens(in: lines.joined() + "more t counters")
    }
    #expect(error?.line == 1001)
  }
}
