import Feed
import PostJSON
import Testing

/// What a record may hold at the most, and one more.
struct RecordLimitTests {
  struct Limit: CustomTestStringConvertible {
    let testDescription: String
    let field: String
    let limit: Int
    /// The record whose field has this many bytes or elements.
    let json: @Sendable (Int) -> String
    let unit: String

    init(
      _ field: String, _ limit: Int, unit: String = "bytes",
      _ json: @escaping @Sendable (Int) -> String
    ) {
      testDescription = field
      self.field = field
      self.limit = limit
      self.json = json
      self.unit = unit
    }
  }

  static func x(_ count: Int) -> String { String(repeating: "x", count: count) }

  static func post(_ member: String) -> String { #"{"id":"a","type":"text",\#(member)}"# }

  static func media(_ member: String) -> String {
    post(#""media":[{"kind":"image",\#(member)}]"#)
  }

  static func list(_ count: Int, _ element: (Int) -> String) -> String {
    (0..<count).map(element).joined(separator: ",")
  }

  static let limits = [
    Limit("id", 200) { #"{"id":"\#(x($0))","type":"text"}"# },
    Limit("title", 4_096, unit: "characters") { post(#""title":"\#(x($0))""#) },
    Limit("text", 262_144) { post(#""text":"\#(x($0))""#) },
    Limit("url", 8_192) { post(#""url":"/\#(x($0 - 1))""#) },
    Limit("thumbnail", 8_192) { post(#""thumbnail":"/\#(x($0 - 1))""#) },
    Limit("author.avatar", 8_192) { post(#""author":{"avatar":"/\#(x($0 - 1))"}"#) },
    Limit("media[0].alt", 4_096, unit: "characters") { media(#""url":"/u","alt":"\#(x($0))""#) },
    Limit("media[0].poster", 8_192) { media(#""url":"/u","poster":"/\#(x($0 - 1))""#) },
    // `{"x":""}` is as long as that without the text.
    Limit("extra", 65_536) { post(#""extra":{ "x" :"\#(x($0 - 8))"}"#) },
    Limit("author.extra", 65_536) { post(#""author":{"extra":{"x":"\#(x($0 - 8))"}}"#) },
    Limit("media[0].extra", 65_536) { media(#""url":"/u","extra":{"x":"\#(x($0 - 8))"}"#) },
    Limit("author.id", 200) { post(#""author":{"id":"\#(x($0))"}"#) },
    Limit("author.name", 4_096, unit: "characters") {
      post(#""author":{"id":"a","name":"\#(x($0))"}"#)
    },
    Limit("feed.name", 100) { #"{"feed":{"name":"\#(x($0))"}}"# },
    Limit("feed.title", 4_096, unit: "characters") {
      #"{"feed":{"name":"f","title":"\#(x($0))"}}"#
    },
    Limit("feeds[0].name", 100) { post(#""feeds":[{"name":"\#(x($0))"}]"#) },
    Limit("tags[0]", 200, unit: "characters") { post(#""tags":["\#(x($0))"]"#) },
    Limit("counters.\(x(65))", 64, unit: "characters") { post(#""counters":{"\#(x($0))":1}"#) },
    Limit("media[0].url", 8_192) { media(#""url":"/\#(x($0 - 1))""#) },
    Limit("media[0].mimeType", 4_096) { media(#""url":"/u","mimeType":"\#(x($0))""#) },
    Limit("media[0].codec", 4_096) { media(#""url":"/u","codec":"\#(x($0))""#) },
    Limit("feeds", 100, unit: "elements") { count in
      post(#""feeds":[\#(list(count) { #"{"name":"f\#($0)"}"# })]"#)
    },
    Limit("tags", 100, unit: "elements") { count in
      post(#""tags":[\#(list(count) { #""t\#($0)""# })]"#)
    },
    Limit("counters", 50, unit: "elements") { count in
      post(#""counters":{\#(list(count) { #""c\#($0)":1"# })}"#)
    },
    Limit("media", 100, unit: "elements") { count in
      post(#""media":[\#(list(count) { #"{"kind":"image","url":"/u\#($0)"}"# })]"#)
    },
  ]

  @Test(arguments: limits)
  func `a field may have as much as its limit and no more`(_ limit: Limit) {
    #expect(throws: Never.self) { try RecordDecoderTests.decode(limit.json(limit.limit)) }
    #expect(
      RecordErrorTests.message(Array(limit.json(limit.limit + 1).utf8))
        == "\(limit.field): has \(limit.limit + 1) \(limit.unit), more than \(limit.limit)")
  }

  /// The longest words that people write in a tag take three bytes a character, and some take two
  /// characters a letter.
  @Test(arguments: ["\u{e01}\u{e34}\u{e48}", "\u{928}\u{947}", "\u{e9}", "\u{1f600}", "e\u{301}"])
  func `what people write is counted in characters, and no script has room for less`(
    _ letter: String
  ) throws {
    let scalars = letter.unicodeScalars.count
    let tag = String(repeating: letter, count: 200 / scalars)
    #expect(try RecordDecoderTests.post(Self.post(#""tags":["a","\#(tag)"]"#)).tags[1] == tag)
    let longer = String(repeating: letter, count: 200 / scalars + 1)
    #expect(
      RecordErrorTests.message(Array(Self.post(#""tags":["a","\#(longer)"]"#).utf8))
        == "tags[1]: has \(longer.unicodeScalars.count) characters, more than 200")
  }

  @Test func `what machines read, and names in URLs, are counted in bytes`() {
    let name = String(repeating: "\u{e9}", count: 50)
    #expect(throws: Never.self) {
      try RecordDecoderTests.decode(#"{"feed":{"name":"\#(name)"}}"#)
    }
    #expect(
      throws: RecordError(field: "feed.name", problem: "has 102 bytes, more than 100")
    ) { try RecordDecoderTests.decode(#"{"feed":{"name":"\#(name)\#u{e9}"}}"#) }
  }

  static let ranges: [(field: String, range: ClosedRange<Int>)] = [
    ("width", 1...1_000_000), ("height", 1...1_000_000),
    ("durationMs", 0...9_007_199_254_740_991), ("bytes", 0...1_099_511_627_776),
  ]

  @Test(arguments: ranges)
  func `a figure of a media file is in its range`(field: String, range: ClosedRange<Int>) {
    func json(_ value: Int) -> String { Self.media(#""url":"/u","\#(field)":\#(value)"#) }
    for value in [range.lowerBound, range.lowerBound + 1, range.upperBound] {
      #expect(throws: Never.self) { try RecordDecoderTests.decode(json(value)) }
    }
    for value in [range.lowerBound - 1, range.upperBound + 1, .max, .min] {
      #expect(
        RecordErrorTests.message(Array(json(value).utf8))
          == "media[0].\(field): \(value) is not in \(range.lowerBound)…\(range.upperBound)")
    }
  }

  @Test(arguments: [9_007_199_254_740_992, -9_007_199_254_740_992, Int.max, .min])
  func `a counter is exact in every JSON reader`(value: Int) {
    #expect(
      RecordErrorTests.message(Array(Self.post(#""counters":{"likes":\#(value)}"#).utf8))
        == "counters.likes: \(value) is not in ±9007199254740991")
  }
}
