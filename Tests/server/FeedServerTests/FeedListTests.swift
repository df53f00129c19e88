import Feed
import TestSupport
import Testing

/// The list of feeds over HTTP.
@Suite struct FeedListTests {
  private static let problem = "urn:lookahead:problem:"

  private static func service(_ count: Int) throws -> RunningServer {
    try WriteTests.service((0..<count).map { .feed(name: "feed \($0)", title: nil) })
  }

  private func names(_ answer: TestAnswer) -> [String] {
    let feeds: [[String: Any]] = answer.value("feeds") ?? []
    return feeds.compactMap { $0["name"] as? String }
  }

  /// The names of a walk by the links of its pages, and what to do between them.
  private func walk(
    _ client: TestClient, from target: String, link: String = "next",
    between: (Int) throws -> Void = { _ in }
  ) throws -> [[String]] {
    var pages: [[String]] = []
    var next: String? = target
    while let target = next {
      let answer = try client.get(target)
      try #require(answer.status == 200, "\(target): \(answer.text)")
      pages.append(names(answer))
      let cursor: String? = answer.value("paging." + link)
      next = answer.value("paging.links." + link)
      #expect((cursor == nil) == (next == nil))
      #expect((answer.fields["link"] ?? "").contains("rel=\"\(link)\"") == (next != nil))
      try between(pages.count)
    }
    return pages
  }

  @Test(arguments: [0, 1, 29, 30, 31, 250])
  func `a walk at any limit meets each feed once`(_ count: Int) throws {
    let service = try Self.service(count)
    let client = try service.client()
    let expected = (0..<count).map { ByteText("feed \($0)") }.sorted().map(\.text)
    #expect(try client.get("/v1/feeds").value("total") == count)
    #expect(try names(client.get("/v1/feeds")) == Array(expected.prefix(30)))
    for limit in [1, 7, 30, 100] where count / limit <= 60 {
      let pages = try walk(client, from: "/v1/feeds?limit=\(limit)")
      #expect(pages.flatMap { $0 } == expected)
      #expect(pages.dropLast().allSatisfy { $0.count == limit })
      guard let last = pages.last?.first, pages.count > 1 else { continue }
      let cursor = FeedListCursor.name(last).text
      let up = try walk(
        client, from: "/v1/feeds?limit=\(limit)&before=\(cursor)", link: "prev")
      #expect(up.reversed().flatMap { $0 } == expected.dropLast(pages.last?.count ?? 0))
    }
  }

  @Test func `feeds that come and go meanwhile do not make a walk miss or repeat the others`()
    throws
  {
    let service = try Self.service(60)
    let (client, writer) = (try service.client(), try service.client())
    let met = try walk(client, from: "/v1/feeds?limit=7") { page in
      let (new, old) = ("new \(page)", "feed%20\(page * 7 % 60)")
      let made = try writer.request(
        "PUT", "/v1/feeds/new%20\(page)", WriteTests.authorized,
        body: #"{"feed":{"name":"\#(new)"}}"#)
      #expect(made.status == 201)
      #expect(
        try writer.request("DELETE", "/v1/feeds/\(old)", WriteTests.authorized).status == 204)
    }.flatMap { $0 }
    #expect(Set(met).count == met.count)
    let left = try walk(client, from: "/v1/feeds?limit=100").flatMap { $0 }
    let stayed = left.filter { $0.hasPrefix("feed") }
    #expect(stayed.count < 60 && Set(met).isSuperset(of: stayed))
    #expect(try client.get("/v1/feeds").value("total") == left.count)
  }

  @Test func `what cannot be taken as it is, is refused by name`() throws {
    let service = try Self.service(3)
    let client = try service.client()
    let items: String = try #require(client.get("/rp/?feed=feed%200").value("paging.newer"))
    for (query, parameter, kind) in [
      ("limit=0", "limit", "invalid-parameter"), ("limit=101", "limit", "invalid-parameter"),
      ("limit=x", "limit", "invalid-parameter"), ("offset=1", "offset", "invalid-parameter"),
      ("limit=1&limit=1", "limit", "invalid-parameter"),
      ("after=", "after", "invalid-parameter"), ("after=x", "after", "invalid-cursor"),
      ("before=\(items)", "before", "invalid-cursor"),
    ] {
      let answer = try client.get("/v1/feeds?" + query)
      #expect(answer.status == 400, "\(query)")
      #expect(answer.value("type") == Self.problem + kind, "\(query)")
      #expect(answer.value("parameter") == parameter, "\(query)")
    }
    let cursor = FeedListCursor.name("feed 0").text
    let foreign = try client.get("/rp/?feed=feed%200&after=\(cursor)")
    #expect(foreign.value("type") == Self.problem + "invalid-cursor")
  }

  @Test func `a page of it has a validator, which another feed changes`() throws {
    let service = try Self.service(3)
    let client = try service.client()
    let tag = try #require(client.get("/v1/feeds?limit=2").fields["etag"])
    #expect(try client.get("/v1/feeds?limit=2", ["If-None-Match": tag]).status == 304)
    let made = try client.request(
      "PUT", "/v1/feeds/a", WriteTests.authorized, body: #"{"feed":{"name":"a"}}"#)
    #expect(made.status == 201)
    #expect(try client.get("/v1/feeds?limit=2", ["If-None-Match": tag]).status == 200)
    #expect(try names(client.get("/v1/feeds?limit=2")) == ["a", "feed 0"])
  }
}
