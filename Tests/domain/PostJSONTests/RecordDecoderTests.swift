import Feed
import PostJSON
import Testing

struct RecordDecoderTests {
  static func decode(_ text: String) throws(RecordError) -> SeedRecord {
    try RecordDecoder().decode(Array(text.utf8))
  }

  static func post(_ text: String) throws -> Post {
    guard case .post(let post, _) = try decode(text) else {
      throw RecordError(field: "", problem: "no post")
    }
    return post
  }

  /// A record with each field that there is, and its bytes.
  static let full = SeedRecord.post(
    Post(
      id: "xbfwb", type: .carousel, title: "Caf\u{e9} \"Z\u{fc}rich\"", text: "one\ntwo",
      publishedAt: Timestamp(microseconds: 1_343_516_756_250_000),
      author: Author(id: "a1", name: "Ann"), url: "https://posts.example/xbfwb",
      thumbnail: "https://media.example/t.webp", tags: ["b", "a"],
      counters: [Counter("likes", 21_304), Counter("comments", -4)],
      media: [
        Media(
          kind: .video, url: "https://media.example/1.mp4", mimeType: "video/mp4", codec: "h264",
          width: 640, height: 360, durationMilliseconds: 10_000, bytes: 788_493),
        Media(kind: .image, url: "/media/2.webp"),
      ]),
    placements: [Placement(feed: "videos"), Placement(feed: "featured", rank: 7)])

  static let fullText =
    #"{"id":"xbfwb","feeds":[{"name":"featured","rank":7},{"name":"videos"}],"type":"carousel","#
    + #""title":"Café \"Zürich\"","text":"one\ntwo","publishedAt":"2012-07-28T23:05:56.250Z","#
    + #""author":{"id":"a1","name":"Ann"},"url":"https://posts.example/xbfwb","#
    + #""thumbnail":"https://media.example/t.webp","tags":["b","a"],"#
    + #""counters":{"comments":-4,"likes":21304},"media":[{"kind":"video","#
    + #""url":"https://media.example/1.mp4","mimeType":"video/mp4","codec":"h264","width":640,"#
    + #""height":360,"durationMs":10000,"bytes":788493},{"kind":"image","url":"/media/2.webp"}]}"#

  @Test func `a record with every field is written as these bytes`() {
    #expect(String(decoding: Self.full.json, as: UTF8.self) == Self.fullText)
    #expect(Self.full.json == Array(Self.fullText.utf8))
  }

  @Test func `a record with every field is read`() throws {
    guard case .post(let expected, let placements) = Self.full,
      case .post(let post, let read) = try Self.decode(Self.fullText)
    else {
      Issue.record("no post")
      return
    }
    #expect(post == expected)
    #expect(read == placements.reversed())
  }

  @Test func `the smallest records are read and written`() throws {
    let post = SeedRecord.post(Post(id: "a", type: .text), placements: [])
    #expect(try Self.decode(#"{"id":"a","type":"text"}"#) == post)
    #expect(String(decoding: post.json, as: UTF8.self) == #"{"id":"a","type":"text"}"#)
    let feed = SeedRecord.feed(name: "featured", title: nil)
    #expect(try Self.decode(#"{"feed":{"name":"featured"}}"#) == feed)
    #expect(String(decoding: feed.json, as: UTF8.self) == #"{"feed":{"name":"featured"}}"#)
    let titled = SeedRecord.feed(name: "featured", title: "Featured")
    #expect(try Self.decode(#" {"feed": {"title": "Featured", "name": "featured"}} "#) == titled)
    #expect(
      String(decoding: titled.json, as: UTF8.self)
        == #"{"feed":{"name":"featured","title":"Featured"}}"#)
  }

  @Test(arguments: PostType.allCases) func `each type of post is read`(_ type: PostType) throws {
    #expect(try Self.post(#"{"id":"a","type":"\#(type.rawValue)"}"#).type == type)
  }

  @Test func `what is empty says as little as what is absent`() throws {
    let post = try Self.post(
      #"{"id":"a","type":"text","title":"","text":"","publishedAt":"","url":"","thumbnail":"","#
        + #""tags":["",""],"counters":{},"media":[],"feeds":[],"author":{"id":"x","name":""}}"#)
    #expect(post == Post(id: "a", type: .text, author: Author(id: "x")))
    #expect(
      try Self.decode(#"{"feed":{"name":"f","title":""}}"#) == .feed(name: "f", title: nil))
  }

  @Test func `counters below zero are read: origins that blur them publish such`() throws {
    let post = try Self.post(
      #"{"id":"a","type":"text","counters":{"z":-1,"a":0,"m":-9007199254740991}}"#)
    #expect(
      post.counters == [Counter("a", 0), Counter("m", -9_007_199_254_740_991), Counter("z", -1)])
  }

  @Test func `zero bytes and zero milliseconds are known`() throws {
    let post = try Self.post(
      #"{"id":"a","type":"video","media":[{"kind":"video","url":"/u","bytes":0,"durationMs":0}]}"#)
    #expect(post.media == [Media(kind: .video, url: "/u", durationMilliseconds: 0, bytes: 0)])
  }

  @Test func `texts keep the form that they came in`() throws {
    let post = try Self.post(
      #"{"id":"e\#u{301}","type":"text","title":"\u00e9 \ud83d\ude00","tags":[" a "]}"#)
    #expect(Array(post.id.utf8) == Array("e\u{301}".utf8))
    #expect(post.title.map { Array($0.utf8) } == Array("\u{e9} \u{1f600}".utf8))
    #expect(post.tags == [" a "])
  }

  @Test func `times of any offset are read as their instant`() throws {
    let post = try Self.post(
      #"{"id":"a","type":"text","publishedAt":"2012-07-29t01:05:56.5+02:00"}"#)
    #expect(post.publishedAt?.rfc3339 == "2012-07-28T23:05:56.500Z")
  }

  @Test(arguments: [Int.min, -1, 0, 1, 9_007_199_254_740_991, .max])
  func `a rank is one of those that every JSON reader has`(rank: Int) throws {
    let text = #"{"id":"a","type":"text","feeds":[{"name":"f","rank":\#(rank)}]}"#
    if SortKey.rankRange.contains(rank) {
      #expect(
        try Self.decode(text)
          == .post(Post(id: "a", type: .text), placements: [Placement(feed: "f", rank: rank)]))
    } else {
      #expect(
        throws: RecordError(
          field: "feeds[0].rank", problem: "\(rank) is not in 0…9007199254740991")
      ) { try Self.decode(text) }
    }
  }
}
