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
      testDescription: "all that an origin says",
      post: Post(
        id: "x", type: .audio, language: "en",
        visibleFrom: Timestamp(microseconds: 0), visibleUntil: Timestamp(microseconds: 1_500_000),
        author: Author(name: "Ann", avatar: "/a", extra: Extra(checkedJSON: #"{"b":1.0}"#)),
        counters: [Counter("likes", 1)], extra: Extra(checkedJSON: #"{"z":1e999,"a":[]}"#),
        media: [
          Media(
            kind: .audio, url: "/1", alt: "a \"horn\"", poster: "/p", bytes: 10,
            placeholder: MediaPlaceholder(color: .init(red: 1, green: 2, blue: 3)),
            extra: Extra(checkedJSON: #"{"c":null}"#))
        ]),
      json: #"{"id":"x","type":"audio","language":"en","visibleFrom":"1970-01-01T00:00:00Z","#
        + #""visibleUntil":"1970-01-01T00:00:01.500Z","author":{"name":"Ann","avatar":"/a","#
        + #""extra":{"b":1.0}},"counters":{"likes":1},"extra":{"z":1e999,"a":[]},"media":["#
        + #"{"id":"x.0","kind":"audio","url":"/1","alt":"a \"horn\"","poster":"/p","bytes":10,"#
        + ##""placeholder":{"color":"#010203"},"extra":{"c":null}}],"##
        + #""prefetch":{"weight":2,"minimumBytes":10,"entireBytes":10}}"#),
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

  @Test func `each byte is percent-encoded or not, wherever it is in a URL of any length`() {
    let allowed = Set(
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/?#[]@!$&'()*+,;=%"
        .unicodeScalars)
    for scalar in (UInt32(1)...0xff).compactMap(Unicode.Scalar.init) {
      let encoded =
        allowed.contains(scalar)
        ? String(scalar)
        : String(scalar).utf8.map {
          "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true)
        }
        .joined()
      for (before, after) in [(0, 0), (14, 0), (0, 15), (15, 1), (16, 0), (7, 24), (31, 16)] {
        let (head, tail) = (
          "/" + String(repeating: "a", count: before), String(repeating: "z", count: after)
        )
        let post = Post(id: "a", type: .text, url: head + String(scalar) + tail)
        var writer = JSONWriter()
        let flat = FlatPosts(post)
        writer.item(
          flat, at: 0, naming: .by(NoNames()),
          hint: Self.policy.hint(for: ItemLoad(flat, at: 0), on: Self.network))
        let item = String(decoding: writer.bytes, as: UTF8.self)
        #expect(
          item.contains("\"url\":\"\(head + encoded + tail)\""), "\(scalar.value) \(before) \(item)"
        )
      }
    }
  }

  private final class NoNames: MediaNaming {
    func name(of: Span<UInt8>, version: MediaVersion?) -> MediaName? { nil }
  }

  @Test(arguments: [
    ("/media/über uns/1.jpg", "/media/%C3%BCber%20uns/1.jpg"), ("/a%20b/%", "/a%20b/%"),
    ("/\u{1}\"<>\\^`{|}\u{7f}~", "/%01%22%3C%3E%5C%5E%60%7B%7C%7D%7F~"), ("/e\u{301}", "/e%CC%81"),
    ("/!$&'()*+,-._:;=@[]#?/09AZaz", "/!$&'()*+,-._:;=@[]#?/09AZaz"),
    ("https://münchen.example:80/ü?ü#ü", "https://münchen.example:80/%C3%BC?%C3%BC#%C3%BC"),
    ("https://münchen.example", "https://münchen.example"),
    ("https://[::1]/ ", "https://[::1]/%20"),
    ("/a://b c/d", "/a://b%20c/d"), ("tag:ü", "tag:%C3%BC"),
  ])
  func `what no URL may hold is percent-encoded in an item, and as it was given in a record`(
    _ url: String, _ encoded: String
  ) {
    final class Naming: MediaNaming {
      let url: String
      init(url: String) { self.url = url }
      func name(of: Span<UInt8>, version: MediaVersion?) -> MediaName? {
        var name = MediaName()
        name.immutableURL = Array((url + "?version=1").utf8)
        return name
      }
    }
    let truth = MediaTruth(
      kind: .video, bytes: 9, mimeType: "a/b", start: nil, version: nil,
      variants: [
        MediaVariant(
          url: url,
          truth: MediaTruth(kind: .video, bytes: 5, mimeType: "a/b", start: nil, version: nil))
      ])
    let post = Post(
      id: "a", type: .video, author: Author(avatar: url), url: url, thumbnail: url,
      media: [Media(kind: .video, url: url, poster: url)])
    let flat = FlatPosts(post, truths: [truth])
    let hint = Self.policy.hint(for: ItemLoad(flat, at: 0), on: Self.network)
    func json(_ text: String) -> String {
      var writer = JSONWriter()
      writer.string(text)
      return String(decoding: writer.bytes, as: UTF8.self)
    }
    var writer = JSONWriter()
    writer.item(flat, at: 0, naming: .by(Naming(url: url)), hint: hint)
    let item = String(decoding: writer.bytes, as: UTF8.self)
    for name in ["avatar", "thumbnail", "poster"] {
      #expect(item.contains("\"\(name)\":\(json(encoded))"), "\(item)")
    }
    // The post's, its file's and that file's variant's.
    #expect(item.split(separator: "\"url\":\(json(encoded))").count == 4, "\(item)")
    #expect(item.split(separator: "\"immutableUrl\":\"").count == 3, "\(item)")
    #expect(
      item.contains("\"immutableUrl\":\(json(encoded + "?version=1"))") || encoded.contains("#"))
    let record = String(decoding: SeedRecord.post(post, placements: []).json, as: UTF8.self)
    #expect(record.split(separator: json(url)).count == 6, "\(record)")
  }

  @Test func `what is known of a file goes before what its record says, and says nothing twice`() {
    let colour = MediaPlaceholder(color: .init(red: 0, green: 0, blue: 1))
    let post = Post(
      id: "k", type: .carousel,
      media: [
        Media(
          kind: .video, url: "/1", alt: "A clip", mimeType: "video/x", width: 3, bytes: 10,
          placeholder: colour, extra: Extra(checkedJSON: #"{"n":1}"#)),
        Media(kind: .image, url: "/2", bytes: 10, placeholder: colour),
        Media(kind: .image, url: "/3", bytes: 30),
      ])
    let clip = MediaTruth(
      kind: .video, bytes: 900, mimeType: "video/mp4", codec: "h264", soundCodec: "aac",
      hasSound: true, width: 640, height: 360, frameCount: 9, durationMilliseconds: 1_500,
      placeholder: MediaPlaceholder(
        thumbHash: [1, 2, 3, 4, 5], color: .init(red: 16, green: 32, blue: 48)),
      start: MediaTiming(
        headBytes: 200, curve: [.init(milliseconds: 1_500, bytes: 900)],
        lead: [.init(kilobitsPerSecond: 500, bytes: 250)]),
      version: .entityTag("\"1\""))
    let picture = MediaTruth(
      kind: .animation, bytes: 20, mimeType: "image/gif", start: MediaTiming(headBytes: 20))
    let flat = FlatPosts(post, truths: [clip, picture])
    let hint = Self.policy.hint(for: ItemLoad(flat, at: 0), on: Self.network)
    var writer = JSONWriter()
    writer.item(flat, at: 0, hint: hint)
    #expect(
      String(decoding: writer.bytes, as: UTF8.self)
        == #"{"id":"k","type":"carousel","media":[{"id":"k.0","kind":"video","url":"/1","#
        + #""alt":"A clip","version":"836e98f7","mimeType":"video/mp4","codec":"h264","hasSound":true,"width":640,"height":360,"#
        + #""durationMs":1500,"bytes":900,"placeholder":{"thumbhash":"AQIDBAU=","color":"#
        + ##""#102030"},"start":{"headBytes":200,"curve":[[1500,900]],"lead":[[500,250]]},"extra":{"n":1}},"##
        + #"{"id":"k.1","kind":"image","url":"/2","mimeType":"image/gif","bytes":20,"#
        + ##""placeholder":{"color":"#000001"}},"##
        + #"{"id":"k.2","kind":"image","url":"/3","bytes":30}],"#
        + #""prefetch":{"weight":2,"minimumBytes":250,"entireBytes":950}}"#)
  }

  @Test func `an item says of variants what a client chooses by, and on its own all`() {
    let post = Post(id: "k", type: .video, media: [Media(kind: .video, url: "/1")])
    func clip(_ bytes: Int, width: Int) -> MediaTruth {
      MediaTruth(
        kind: .video, bytes: bytes, mimeType: "video/mp4", codec: "h264", hasSound: false,
        width: width, height: width / 2, durationMilliseconds: 1_500,
        start: MediaTiming(
          headBytes: 20, curve: [.init(milliseconds: 1_500, bytes: bytes)],
          lead: [.init(kilobitsPerSecond: 500, bytes: 25)]),
        version: .entityTag("\"\(bytes)\""))
    }
    var truth = clip(900, width: 640)
    truth.variants = [MediaVariant(url: "/s\"", truth: clip(300, width: 320))]
    let flat = FlatPosts(post, truths: [truth])
    let hint = Self.policy.hint(for: ItemLoad(flat, at: 0), on: Self.network)
    func text(in placements: [Placement]?) -> String {
      var writer = JSONWriter()
      writer.item(flat, at: 0, in: placements, hint: hint)
      return String(decoding: writer.bytes, as: UTF8.self)
    }
    let beginning =
      #","variants":[{"url":"/s%22","version":"642137ed","mimeType":"video/mp4","width":320,"height":160,"#
    #expect(
      text(in: nil).contains(beginning + #""bytes":300,"start":{"headBytes":20}}]}],"prefetch""#))
    #expect(
      text(in: []).contains(
        beginning + #""durationMs":1500,"bytes":300,"start":{"headBytes":20,"#
          + #""curve":[[1500,300]],"lead":[[500,25]]}}]}],"prefetch""#))
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
    let links = PageLinks(
      Array("newer/next?after=c".utf8), newerCursor: 0..<5,
      next: PageLinks.Link(target: 5..<18, cursor: 17..<18), previous: nil)
    let plan = Self.policy.plan(for: posts, on: Self.network, hasNextPage: true)
    writer.endPage(
      offset: 0, ranking: 1, links: links, plan: plan, by: Self.policy, on: Self.network,
      within: PlanBounds(), openIDs: ids, of: items.bytes)
    let page = try JSONDocument(writer.bytes).root
    #expect(page.member("feed")?.member("name")?.text == "f\"")
    let paging = page.member("paging")
    #expect(paging?.member("newer")?.text == "newer")
    #expect(paging?.member("next")?.text == "c")
    #expect(paging?.member("prev")?.kind == .null)
    #expect(paging?.member("links")?.member("next")?.text == "/next?after=c")
    #expect(paging?.member("links")?.member("prev") == nil)
    let media = page.member("items")?.elements.first { _ in true }?.member("media")
    let planned = try #require(page.member("prefetch")?.member("plan")).elements.map { $0 }
    #expect(planned.map { $0.member("item")?.text } == ["v\"1", "w"])
    #expect(planned[0].member("media")?.text == "v\"1.0")
    #expect(media?.elements.first { _ in true }?.member("id")?.text == "v\"1.0")
    #expect(planned[1].member("media") == nil)
  }
}
