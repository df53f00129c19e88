import Feed
import FeedFormats
import JSON
import PostJSON
import TestSupport
import Testing

/// Feeds as other programs read them; and as our own readers read them back.
struct SyndicationTests {
  private static let home = "https://feeds.example/"

  private static func page(_ posts: [Post], title: String = "All & <sundry>") -> SyndicationPage {
    SyndicationPage(
      title: title, home: home, url: home + "f.x", next: home + "f.x?limit=2&after=c",
      previous: home + "f.x?before=b", first: home + "f.x",
      items: posts.map { SyndicationItem($0, home: home, page: home + "v1/items/x") })
  }

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  private static let clip = Post(
    id: "a&b", type: .carousel, title: "Low <tide>", text: "One & two\nthree\n\n\"Four\"",
    language: "en", publishedAt: Timestamp(microseconds: -1),
    author: Author(id: "https://a.example/ann", name: "Ann", avatar: "/ann.png"),
    url: "https://a.example/1?x=1&y=2", tags: ["a<b", "c"],
    counters: [Counter("comments", 3), Counter("likes", 7), Counter("views", -1)],
    extra: Extra(checkedJSON: #"{"n":1.50}"#),
    media: [
      Media(
        kind: .video, url: "/media/low tide.mp4", alt: "Waves", poster: "/media/p.jpg", width: 640,
        height: 360, durationMilliseconds: 12_500, bytes: 99),
      Media(kind: .image, url: "https://m.example/a.png", bytes: 5),
      Media(kind: .image, url: "javascript:alert(1)"),
      Media(kind: .image, url: "file:///etc/passwd"),
    ])

  @Test func `a JSON Feed has what its version names, absolute and in order`() throws {
    let feed = try JSONDocument(Self.page([Self.clip, Post(id: "t", type: .text)]).jsonFeed).root
    #expect(feed.member("version")?.text == "https://jsonfeed.org/version/1.1")
    #expect(feed.member("title")?.text == "All & <sundry>")
    #expect(feed.member("next_url")?.text == Self.home + "f.x?limit=2&after=c")
    let items = try #require(feed.member("items")).elements.map { Self.text($0.compactJSON) }
    #expect(
      items[0]
        == #"{"id":"a&b","url":"https://a.example/1?x=1&y=2","title":"Low <tide>","#
        + #""content_text":"One & two\nthree\n\n\"Four\"","content_html":"<p>One &amp; two<br>three</p>"#
        + #"<p>&quot;Four&quot;</p><figure><video controls preload=\"none\" "#
        + #"src=\"https://feeds.example/media/low%20tide.mp4\" poster=\"https://feeds.example/media/p.jpg\" "#
        + #"title=\"Waves\" width=\"640\" height=\"360\"></video></figure>"#
        + #"<figure><img src=\"https://m.example/a.png\" alt=\"\"></figure>","#
        + #""image":"https://feeds.example/media/p.jpg","date_published":"1969-12-31T23:59:59.999999Z","#
        + #""authors":[{"name":"Ann","url":"https://a.example/ann","avatar":"https://feeds.example/ann.png"}],"#
        + #""tags":["a<b","c"],"language":"en","attachments":["#
        + #"{"url":"https://feeds.example/media/low%20tide.mp4","mime_type":"video/mp4","title":"Waves","#
        + #""size_in_bytes":99,"duration_in_seconds":12.5},"#
        + #"{"url":"https://m.example/a.png","mime_type":"image/png","size_in_bytes":5}],"#
        + #""_lookahead":{"about":"https://feeds.example/openapi.json","type":"carousel","#
        + #""counters":{"comments":3,"likes":7,"views":-1},"extra":{"n":1.50}}}"#)
    // A post of which nothing is known has a page here, and a text, as each item must.
    #expect(
      items[1]
        == #"{"id":"t","url":"https://feeds.example/v1/items/x","content_text":"","#
        + #""_lookahead":{"about":"https://feeds.example/openapi.json","type":"text"}}"#)
  }

  @Test func `RSS has what its version and modules name, absolute and in order`() {
    let rss = Self.text(Self.page([Self.clip, Post(id: "t", type: .text)]).rss)
    for part in [
      "<title>All &amp; &lt;sundry&gt;</title>\n<link>https://feeds.example/</link>",
      #"<atom:link rel="self" type="application/rss+xml" href="https://feeds.example/f.x"/>"#,
      #"<atom:link rel="next" type="application/rss+xml" href="https://feeds.example/f.x?limit=2&amp;after=c"/>"#,
      "<title>Low &lt;tide&gt;</title>\n<link>https://a.example/1?x=1&amp;y=2</link>",
      #"<guid isPermaLink="false">a&amp;b</guid>"#,
      "<pubDate>Wed, 31 Dec 1969 23:59:59 GMT</pubDate>\n<dc:creator>Ann</dc:creator>",
      "<dc:language>en</dc:language>\n<category>a&lt;b</category>\n<category>c</category>",
      "<description>&lt;p&gt;One &amp;amp; two&lt;br&gt;three&lt;/p&gt;",
      #"<enclosure url="https://feeds.example/media/low%20tide.mp4" length="99" type="video/mp4"/>"#,
      #"medium="video" width="640" height="360" duration="12.5" fileSize="99">"#,
      #"<media:description type="plain">Waves</media:description>"#,
      #"<media:thumbnail url="https://feeds.example/media/p.jpg"/>"#,
      "<slash:comments>3</slash:comments>", "<item><title>t</title>",
    ] {
      #expect(rss.contains(part), "\(part)")
    }
    for part in ["javascript", "passwd", "views"] { #expect(!rss.contains(part)) }
  }

  @Test func `what XML cannot hold becomes a mark, and line ends stay`() {
    let text = "a\u{0}b\u{8}\u{b}\u{1f}\u{fffe}\u{ffff}]]>&lt;\tc\r\nd\u{7f}\u{1f600}"
    let post = Post(id: "\"\t\n'", type: .image, title: text)
    let rss = Self.text(Self.page([post]).rss)
    #expect(
      rss.contains(
        "<title>a\u{fffd}b\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}]]&gt;&amp;lt;\tc&#13;\nd\u{7f}\u{1f600}</title>"
      ))
    #expect(rss.contains("<guid isPermaLink=\"false\">\"\t\n'</guid>"))
  }

  @Test(
    arguments: [
      ("/media/a b.jpg", "https://feeds.example/media/a%20b.jpg"),
      ("//m.example/a", "https://m.example/a"), ("a/b", "https://feeds.example/a/b"),
      ("HTTPS://M.example/a", "HTTPS://M.example/a"), ("javascript:alert(1)", nil),
      ("data:image/png,x", nil), ("mailto:a@b", nil),
      ("/media/\u{e9}", "https://feeds.example/media/%C3%A9"),
    ] as [(String, String?)])
  func `a reference becomes a URL of the web, or is left out`(_ url: String, _ expected: String?) {
    let post = Post(id: "a", type: .image, thumbnail: url, media: [Media(kind: .image, url: url)])
    let item = SyndicationItem(post, home: Self.home, page: "p")
    #expect(item.post.thumbnail == expected)
    #expect(item.post.media.map(\.url) == [expected].compactMap { $0 })
  }

  @Test(arguments: [FeedFormat.jsonFeed, .rss])
  func `a server below a path is named with it`(_ format: FeedFormat) {
    let post = Post(id: "a", type: .image, media: [Media(kind: .image, url: "/media/a.png")])
    let item = SyndicationItem(post, home: "https://x.example/feeds/", page: "p")
    #expect(item.post.media[0].url == "https://x.example/feeds/media/a.png")
  }

  /// What of a post each format has a place for, as our readers give it back.
  private static func kept(_ post: Post, _ format: FeedFormat) -> Post {
    var kept = Post(id: "", type: post.type)
    kept.title = post.title
    kept.text = post.text
    kept.language = post.language
    kept.tags = post.tags
    kept.media = post.media.map { file in
      var file = file
      file.codec = nil
      file.placeholder = nil
      file.extra = nil
      if format == .jsonFeed {
        file.extra = file.alt.map { Extra(checkedJSON: "{\"title\":\"\($0)\"}") }
        (file.alt, file.poster, file.width, file.height) = (nil, nil, nil, nil)
      }
      return file
    }
    return kept
  }

  @Test(arguments: [FeedFormat.jsonFeed, .rss], TestRandom.seeds)
  func `what a format has a place for comes back through our own reader`(
    _ format: FeedFormat, _ seed: UInt64
  ) throws {
    var random = TestRandom(seed)
    func words() -> String {
      (0..<random.number(1...4)).map { _ in random.one(of: ["sea", "<b>", "a&b", "\"q\"", "é😀"]) }
        .joined(separator: " ")
    }
    func perhaps<Value>(_ value: @autoclosure () -> Value) -> Value? {
      random.once(in: 3) ? nil : value()
    }
    let posts = (0..<40).map { index in
      let media = (0..<random.number(0...2)).map { place -> Media in
        let kind = random.one(of: MediaKind.allCases)
        let isSeen = kind != .audio
        return Media(
          kind: kind, url: "https://m.example/\(index)/\(place)", alt: perhaps("A boat"),
          poster: kind.plays ? perhaps("https://m.example/p\(index)") : nil,
          mimeType: "\(kind)/x-test", width: isSeen ? perhaps(random.number(1...99)) : nil,
          height: isSeen ? perhaps(random.number(1...99)) : nil,
          durationMilliseconds: kind.plays ? perhaps(random.number(1...99_999)) : nil,
          bytes: perhaps(random.number(1...99_999)))
      }
      let types: [PostType] = [.text, .carousel]
      let single: [MediaKind: PostType] = [.image: .image, .video: .video, .audio: .audio]
      return Post(
        id: "p\(index)",
        type: media.count == 1 ? single[media[0].kind]! : types[min(1, media.count)],
        // What looks like a tag in a title, readers of RSS take for one.
        title: (perhaps(words()) ?? "t").replacing("<b>", with: "b"),
        text: perhaps("\(words())\n\n\(words())\n\(words())"),
        language: perhaps("pt-BR"),
        publishedAt: Timestamp(microseconds: Int64(index) * 86_400_000_000),
        author: perhaps(Author(name: words())), url: "https://a.example/\(index)",
        tags: perhaps(["one", "two & three"]) ?? [], media: media)
    }
    let page = Self.page(posts)
    let reading = Reading(format == .rss ? page.rss : page.jsonFeed, format)
    #expect(reading.omissions.isEmpty)
    let read = try reading.records.compactMap { line -> Post? in
      let record = try RecordDecoder().decode(line.drop { $0 != "{" }.utf8)
      guard case .post(let post, _) = record else { return nil }
      return post
    }
    try #require(read.count == posts.count, TestRandom.replay)
    for (post, back) in zip(posts, read) {
      var shown = back
      shown.id = ""
      (shown.extra, shown.thumbnail, shown.url, shown.author, shown.publishedAt) = (
        nil, nil, nil, nil, nil
      )
      shown.counters = []
      try #require(shown == Self.kept(post, format), "\(back), \(TestRandom.replay)")
      #expect(back.url == post.url && back.publishedAt == post.publishedAt)
      #expect(back.author?.name == post.author?.name)
      let id = format == .rss ? "guid" : "id"
      #expect(back.extra?.json.contains("\"\(id)\":\"\(post.id)\"") == true)
    }
  }
}
