import Feed
import PostJSON
import Testing

/// Each bad record, with the field and the words that a person gets to see.
struct RecordErrorTests {
  struct Case: CustomTestStringConvertible {
    let json: String
    let message: String

    init(_ json: String, _ message: String) {
      self.json = json
      self.message = message
    }

    /// A post with one more member.
    init(with member: String, _ message: String) {
      self.init(#"{"id":"a","type":"text",\#(member)}"#, message)
    }

    /// A post with one media file of these members.
    init(media members: String, _ message: String) {
      self.init(with: #""media":[{"kind":"image","url":"/u"},{\#(members)}]"#, message)
    }

    var testDescription: String { String(json.prefix(80)) }
  }

  /// The fields of a record, as an unknown one is answered.
  static let known =
    "known fields: author, counters, extra, feed, feeds, id, language, media, publishedAt, tags, text, "
    + "thumbnail, title, type, url, visibleFrom, visibleUntil"

  static let missing = [
    Case("{}", "id: is missing"),
    Case(#"{"type":"text"}"#, "id: is missing"),
    Case(#"{"id":"a"}"#, "type: is missing"),
    Case(#"{"feed":{}}"#, "feed.name: is missing"),
    Case(with: #""feeds":[{"rank":1}]"#, "feeds[0].name: is missing"),
    Case(media: #""url":"/u""#, "media[1].kind: is missing"),
    Case(media: #""kind":"image""#, "media[1].url: is missing"),
    Case(#"{"id":"","type":"text"}"#, "id: is empty"),
    Case(#"{"feed":{"name":""}}"#, "feed.name: is empty"),
    Case(with: #""feeds":[{"name":""}]"#, "feeds[0].name: is empty"),
    Case(with: #""author":{"id":""}"#, "author.id: is empty"),
    Case(media: #""kind":"image","url":"""#, "media[1].url: is empty"),
    Case(with: #""counters":{"":1}"#, "counters: has an empty name"),
  ]

  static let unknown = [
    Case(with: #""titel":"x""#, "titel: unknown field; \(known)"),
    Case(
      #"{"feed":{"name":"f","rank":1}}"#,
      "feed.rank: unknown field; known fields: name, title"),
    Case(#"{"feed":{"name":"f"},"id":"a"}"#, "id: unknown field; known fields: feed"),
    Case(
      with: #""feed":"news""#,
      #"feed: is a text; write "feeds":[{"name":"news"}] to put a post into the feed, or "#
        + #"{"feed":{"name":"news"}} for a record of the feed itself"#),
    Case(
      with: #""feeds":[{"name":"f"},"x"]"#,
      #"feeds[1]: is a text; name the feed in an object: "feeds":[{"name":"x"}]"#),
    Case(
      with: #""feeds":[{"name":"f"},{"name":"g","title":"G"}]"#,
      "feeds[1].title: unknown field; known fields: after, before, name, rank"),
    Case(
      with: #""author":{"id":"a","url":"/u"}"#,
      "author.url: unknown field; known fields: avatar, extra, id, name"),
    Case(
      media: #""kind":"image","url":"/u","size":1"#,
      "media[1].size: unknown field; known fields: alt, bytes, codec, durationMs, extra, height, "
        + "kind, mimeType, placeholder, poster, url, width"),
  ]

  static let wrongType = [
    Case("[]", "is not an object"),
    Case("1", "is not an object"),
    Case("\"a\"", "is not an object"),
    Case("null", "is null, not an object; leave out what is unknown"),
    Case(#"{"id":1,"type":"text"}"#, "id: is not a text"),
    Case(#"{"id":"a","type":true}"#, "type: is not a text"),
    Case(#"{"feed":7}"#, "feed: is not an object"),
    Case(#"{"feed":{"name":["f"]}}"#, "feed.name: is not a text"),
    Case(with: #""title":{"a":1}"#, "title: is not a text"),
    Case(with: #""publishedAt":1343516756"#, "publishedAt: is not a text"),
    Case(with: #""author":"Ann""#, "author: is not an object"),
    Case(with: #""author":[]"#, "author: is not an object"),
    Case(with: #""feeds":{"name":"f"}"#, "feeds: is not a list"),
    Case(with: #""feeds":[1]"#, "feeds[0]: is not an object"),
    Case(
      with: #""feeds":[{"name":"f","rank":"1"}]"#,
      #"feeds[0].rank: "1" is not a number, top or bottom"#),
    Case(with: #""feeds":[{"name":"f","rank":[]}]"#, "feeds[0].rank: is not a whole number"),
    Case(
      with: #""feeds":[{"name":"f","rank":1,"before":"b"}]"#,
      "feeds[0].before: cannot be combined with rank"),
    Case(
      with: #""feeds":[{"name":"f","after":"a","before":"b"}]"#,
      "feeds[0].before: cannot be combined with after"),
    Case(with: #""feeds":[{"name":"f","after":""}]"#, "feeds[0].after: is empty"),
    Case(
      with: #""feeds":[{"name":"g"},{"name":"f","rank":"top"}]"#,
      #"feeds: has a relative place in "f", which only single writes of an item support: use a rank"#
    ),
    Case(with: #""tags":"a,b""#, "tags: is not a list"),
    Case(with: #""tags":["a",2]"#, "tags[1]: is not a text"),
    Case(with: #""counters":[1]"#, "counters: is not an object"),
    Case(with: #""counters":{"likes":"3"}"#, "counters.likes: is not a whole number"),
    Case(with: #""counters":{"likes":true}"#, "counters.likes: is not a whole number"),
    Case(with: #""media":{"kind":"image"}"#, "media: is not a list"),
    Case(with: #""media":["u"]"#, "media[0]: is not an object"),
    Case(
      media: #""kind":"image","url":"/u","width":"640""#, "media[1].width: is not a whole number"),
    Case(media: #""kind":"image","url":7"#, "media[1].url: is not a text"),
  ]

  static let null = [
    Case(#"{"id":null,"type":"text"}"#, "id: is null, not a text; leave out what is unknown"),
    Case(#"{"feed":null}"#, "feed: is null, not an object; leave out what is unknown"),
    Case(with: #""title":null"#, "title: is null, not a text; leave out what is unknown"),
    Case(with: #""author":null"#, "author: is null, not an object; leave out what is unknown"),
    Case(with: #""tags":null"#, "tags: is null, not a list; leave out what is unknown"),
    Case(with: #""tags":[null]"#, "tags[0]: is null, not a text; leave out what is unknown"),
    Case(with: #""feeds":[null]"#, "feeds[0]: is null, not an object; leave out what is unknown"),
    Case(with: #""counters":null"#, "counters: is null, not an object; leave out what is unknown"),
    Case(
      with: #""counters":{"likes":null}"#,
      "counters.likes: is null, not a whole number; leave out what is unknown"),
    Case(
      media: #""kind":"image","url":"/u","bytes":null"#,
      "media[1].bytes: is null, not a whole number; leave out what is unknown"),
  ]

  static let values = [
    Case(
      #"{"id":"a","type":"gif"}"#,
      #"type: "gif" is not one of image, video, carousel, webapp, ad, text, audio"#),
    Case(
      #"{"id":"a","type":"Image"}"#,
      #"type: "Image" is not one of image, video, carousel, webapp, ad, text, audio"#),
    Case(
      #"{"id":"a","type":"\#(String(repeating: "x", count: 60))"}"#,
      "type: \"\(String(repeating: "x", count: 40))…\" is not one of "
        + "image, video, carousel, webapp, ad, text, audio"),
    Case(
      media: #""kind":"sound","url":"/u""#,
      #"media[1].kind: "sound" is not one of image, video, audio"#),
    Case(
      with: #""publishedAt":"yesterday""#,
      #"publishedAt: "yesterday" is not an RFC 3339 time such as 2012-07-28T23:05:56Z"#),
    Case(
      with: #""publishedAt":"2012-02-30T00:00:00Z""#,
      #"publishedAt: "2012-02-30T00:00:00Z" has no such day 30"#),
    Case(
      with: #""publishedAt":"2012-02-20T00:00:00.1234567891Z""#,
      #"publishedAt: "2012-02-20T00:00:00.1234567891Z" has more than nine decimals"#),
    Case(
      with: #""visibleFrom":"2026-02-30T00:00:00Z""#,
      #"visibleFrom: "2026-02-30T00:00:00Z" has no such day 30"#),
    Case(
      with: #""visibleFrom":"2026-05-01T08:00:00+02:00","visibleUntil":"2026-05-01T06:00:00Z""#,
      "visibleUntil: is not later than visibleFrom: the item would never be visible"),
    Case(
      with: #""feeds":[{"name":"f"},{"name":"g"},{"name":"f","rank":1}]"#,
      #"feeds: names the feed "f" twice"#),
    Case(#"{"id":"a\nb","type":"text"}"#, "id: contains a control character"),
    Case(#"{"id":"a\u007f","type":"text"}"#, "id: contains a control character"),
    Case(#"{"id":"a\u0000","type":"text"}"#, "id: contains a NUL character"),
    Case(
      #"{"id":".","type":"text"}"#,
      #"id: is ".", which a URL cannot contain: clients take it for a folder"#),
    Case(
      #"{"id":"..","type":"text"}"#,
      #"id: is "..", which a URL cannot contain: clients take it for a folder"#),
    Case(
      #"{"feed":{"name":".."}}"#,
      #"feed.name: is "..", which a URL cannot contain: clients take it for a folder"#),
    Case(
      with: #""feeds":[{"name":"."}]"#,
      #"feeds[0].name: is ".", which a URL cannot contain: clients take it for a folder"#),
    Case(#"{"feed":{"name":"a\tb"}}"#, "feed.name: contains a control character"),
    Case(with: #""feeds":[{"name":"\u001b"}]"#, "feeds[0].name: contains a control character"),
    Case(with: #""counters":{"a\n":1}"#, "counters.a\n: contains a control character"),
    Case(with: #""title":"a\u0000b""#, "title: contains a NUL character"),
    Case(with: #""tags":["a","b\u0000"]"#, "tags[1]: contains a NUL character"),
    Case(media: #""kind":"image","url":"\u0000""#, "media[1].url: contains a NUL character"),
  ]

  static let strictness = [
    Case(#"{"id":"a","type":"text","type":"text"}"#, "type: occurs twice"),
    Case(#"{"id":"a","type":"text","\u0069d":"b"}"#, "id: occurs twice"),
    Case(with: #""counters":{"likes":1,"likes":2}"#, "counters.likes: occurs twice"),
    Case(with: #""feeds":[{"name":"f"},{"name":"g","name":"h"}]"#, "feeds[1].name: occurs twice"),
    Case(media: #""kind":"image","url":"/u","\u0075rl":"v""#, "media[1].url: occurs twice"),
    Case(with: #""tags":["a",]"#, "is not JSON: trailing comma at column 37"),
    Case(#"{"id":"a","type":"text",}"#, "is not JSON: trailing comma at column 25"),
    Case(with: #""title":"\ud800""#, "is not JSON: unpaired surrogate at column 34"),
    Case("\u{feff}{}", "is not JSON: unexpected byte order mark at column 1"),
    Case(
      with: #""extra":"# + String(repeating: "[", count: 64) + String(repeating: "]", count: 64),
      "is nested more than 64 levels deep"),
    Case(
      with: "\"" + String(repeating: "n", count: 1 << 20) + "\":1",
      String(repeating: "n", count: 100) + "…: unknown field; \(known)"),
    Case(
      with: "\"counters\":{\"" + String(repeating: "n", count: 1 << 20) + "\":1}",
      "counters." + String(repeating: "n", count: 100) + "…: has 1048576 characters, more than 64"),
  ]

  @Test(arguments: [
    ("media/trip/1.jpg", "/media/trip/1.jpg"), ("trip/1.jpg", "/media/trip/1.jpg"),
    ("./1.jpg", "/media/./1.jpg"), (" /media/1.jpg", "/media/ /media/1.jpg"),
    ("?a", "/media/?a"), ("1:2", "/media/1:2"), (":", "/media/:"),
    ("trip /a:b", "/media/trip /a:b"),
    ("é:1", "/media/é:1"),
  ])
  func `a relative URL is refused wherever a record has one`(_ url: String, _ path: String) {
    let problem =
      "\"\(url)\" is a relative URL; write a path that begins with a slash, such as \"\(path)\", or a URL "
      + "with a scheme"
    for (record, field) in Self.records(naming: url) {
      #expect(Self.message(Array(record.json.utf8)) == "\(field): \(problem)")
    }
  }

  @Test func `a URL of a host alone is refused, since clients know different schemes`() {
    for (record, field) in Self.records(naming: "//cdn.example/1.jpg") {
      #expect(
        Self.message(Array(record.json.utf8))
          == "\(field): \"//cdn.example/1.jpg\" has no scheme; write \"https://cdn.example/1.jpg\"")
    }
  }

  @Test(arguments: ["/", "/ü b", "https://a/b", "HTTP://a", "data:,a", "x-y.z+1:a", "a:"])
  func `a URL has a scheme or is a path on the server`(_ url: String) {
    for (record, _) in Self.records(naming: url) {
      #expect(throws: Never.self) { try RecordDecoderTests.decode(record.json) }
    }
  }

  private static func records(naming url: String) -> [(record: Case, field: String)] {
    [
      (Case(with: #""url":"\#(url)""#, ""), "url"),
      (Case(with: #""thumbnail":"\#(url)""#, ""), "thumbnail"),
      (Case(with: #""author":{"avatar":"\#(url)"}"#, ""), "author.avatar"),
      (Case(media: #""kind":"video","url":"\#(url)""#, ""), "media[1].url"),
      (Case(media: #""kind":"video","url":"/u","poster":"\#(url)""#, ""), "media[1].poster"),
    ]
  }

  /// Names of canonically equivalent letters are two.
  @Test func `names that differ in their bytes are not there twice`() throws {
    let post = try RecordDecoderTests.post(
      #"{"id":"a","type":"text","counters":{"\#u{e9}":1,"e\#u{301}":2},"#
        + #""feeds":[{"name":"\#u{e9}"},{"name":"e\#u{301}"}]}"#)
    #expect(post.counters.map(\.value) == [2, 1])
    #expect(post.counters.map { $0.name.utf8.count } == [3, 2])
  }

  private static func utf16(_ text: String, isBigEndian: Bool) -> [UInt8] {
    text.utf16.flatMap { unit -> [UInt8] in
      let bytes = [UInt8(truncatingIfNeeded: unit), UInt8(truncatingIfNeeded: unit >> 8)]
      return isBigEndian ? bytes.reversed() : bytes
    }
  }

  private static let otherForms: [[UInt8]] = [
    utf16(#"{"id":"a"}"#, isBigEndian: false), utf16(#"{"id":"a"}"#, isBigEndian: true),
    [0xff, 0xfe] + utf16("{}", isBigEndian: false), [0xfe, 0xff] + utf16("{}", isBigEndian: true),
    [0x7b, 0, 0, 0, 0x7d, 0, 0, 0], [0, 0, 0, 0x7b, 0, 0, 0, 0x7d],
  ]

  @Test(arguments: otherForms)
  func `what is another form of Unicode than UTF-8 is not UTF-8`(_ bytes: [UInt8]) {
    #expect(Self.message(bytes) == "is not UTF-8")
  }

  @Test(arguments: missing + unknown + wrongType + null + values + strictness)
  func `a bad record is refused with its field and the reason`(_ bad: Case) {
    #expect(Self.message(Array(bad.json.utf8)) == bad.message)
  }

  static func message(_ bytes: [UInt8]) -> String {
    do {
      return "read as \(try RecordDecoder().decode(bytes))"
    } catch {
      return error.description
    }
  }

  @Test(arguments: [
    "", " ", "{", "{'id':'a'}", "{\"id\":\"a\" \"type\":\"text\"}", "{}{}",
    "{} x",
    "{\"id\":\"a\nb\"}", "nul", "{\"id\":\"\\x\"}", "{\"id\":\"\\ud800\"}", "{\"a\":+1}",
    "{\"a\":.5}", "{\"a\":NaN}", "// c\n{}",
  ])
  func `what is not JSON is said to be none`(_ text: String) {
    let message = Self.message(Array(text.utf8))
    #expect(message.hasPrefix("is not JSON"), "\(message)")
  }

  @Test(arguments: [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe9]] as [[UInt8]])
  func `what is not UTF-8 is said to be none`(_ bytes: [UInt8]) {
    let json = Array("{\"id\":\"".utf8) + bytes + Array("\",\"type\":\"text\"}".utf8)
    #expect(Self.message(json) == "is not UTF-8")
  }
}
