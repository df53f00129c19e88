import Feed
import JSON
import PostJSON
import Prefetch
import Testing

/// Items and pages as JSON, to the byte.
struct ItemJSONTests {
  private static let policy = Policy(name: "p", strategy: .plain(leading: 5))
  private static let network = NetworkProfile(
    name: "3g", title: "3G", downlinkKbps: 780, uplinkKbps: 330, roundTripMilliseconds: 200)

  struct Case: CustomTestStringConvertible {
    let testDescription: String
    let post: Post
    var placements: [Placement]?
    let json: String
  }

  static let cases = [
    Case(
      testDescription: "a text", post: Post(id: "t", type: .text, text: "Hello"),
      json: #"{"id":"t","type":"text","text":"Hello","prefetch":{"weight":0,"minimumBytes":0,"#
        + #""entireBytes":0}}"#),
    Case(
      testDescription: "an item on its own names its feeds",
      post: Post(id: "i", type: .image),
      placements: [Placement(feed: "z"), Placement(feed: "a", rank: 3)],
      json: #"{"id":"i","feeds":[{"name":"a","rank":3},{"name":"z"}],"type":"image","#
        + #""prefetch":{"weight":1,"minimumBytes":153600,"entireBytes":153600,"estimated":true}}"#),
    Case(
      testDescription: "files have the post's id and their index",
      post: Post(
        id: "a\"é\\", type: .carousel,
        media: [
          Media(kind: .image, url: "/1", width: 3, bytes: 10),
          Media(kind: .video, url: "/2", durationMilliseconds: 20, bytes: 300_000),
        ]),
      json:
        #"{"id":"a\"é\\","type":"carousel","media":[{"id":"a\"é\\.0","kind":"image","url":"/1","#
        + #""width":3,"bytes":10},{"id":"a\"é\\.1","kind":"video","url":"/2","durationMs":20,"#
        + #""bytes":300000}],"prefetch":{"weight":1,"minimumBytes":10,"entireBytes":300010,"#
        + #""estimated":true}}"#),
  ]

  @Test(arguments: cases)
  func `an item is written with its hint, and where its parts lie is told`(_ item: Case) {
    var writer = JSONWriter()
    let text = writer.item(
      FlatPosts(item.post), at: 0, in: item.placements,
      hint: Self.policy.hint(for: ItemLoad(item.post), on: Self.network))
    func part(_ range: Range<Int>) -> String {
      String(decoding: writer.bytes[range], as: UTF8.self)
    }
    #expect(part(text.json) == item.json)
    #expect(#"{"id":""# + part(text.openID) + "\"" == item.json.prefix { $0 != "," })
    let hint = part(text.json.upperBound - 1 - text.hintCount..<text.json.upperBound - 1)
    #expect(hint.hasPrefix(#","prefetch":{"#) && item.json.hasSuffix(hint + "}"))
  }

  @Test func `a page's plan names the files that its items have`() throws {
    let posts = [
      Post(id: "v\"1", type: .video, media: [Media(kind: .video, url: "/v", bytes: 700_000)]),
      Post(id: "w", type: .webapp, url: "/w"),
    ]
    var writer = JSONWriter()
    writer.beginPage(feed: "f\"", title: nil, total: 2, ranking: 1)
    var items = JSONWriter()
    var ids: [Range<Int>] = []
    for (index, post) in posts.enumerated() {
      if index > 0 { items.literal(",") }
      items.beginDocument()
      let hint = Self.policy.hint(for: ItemLoad(post), on: Self.network)
      ids.append(items.item(FlatPosts(post), at: 0, hint: hint).openID)
    }
    writer.literal(items.bytes.span)
    var links = PageLinks(newerCursor: Array("newer".utf8))
    links.next = Array("/next".utf8)
    let plan = Self.policy.plan(for: posts, on: Self.network, hasNextPage: true)
    writer.endPage(
      offset: 0, ranking: 1, links: links,
      prefetch: PagePrefetch(
        plan: plan, policy: Self.policy, network: Self.network, bounds: PlanBounds()),
      openIDs: ids, of: items.bytes)
    let page = try JSONDocument(writer.bytes).root
    #expect(page.member("feed")?.member("name")?.text == "f\"")
    #expect(page.member("paging")?.member("next")?.kind == .null)
    #expect(page.member("paging")?.member("links")?.member("next")?.text == "/next")
    let media = page.member("items")?.elements.first { _ in true }?.member("media")
    let planned = try #require(page.member("prefetch")?.member("plan")).elements.map { $0 }
    #expect(planned.map { $0.member("item")?.text } == ["v\"1", "w"])
    #expect(planned[0].member("media")?.text == "v\"1.0")
    #expect(media?.elements.first { _ in true }?.member("id")?.text == "v\"1.0")
    #expect(planned[1].member("media") == nil)
  }
}
