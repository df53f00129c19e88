import Feed
import PostJSON
import Testing

/// What records hold that is not understood, and what is of form alone.
struct ExtraTests {
  private static let places:
    [(name: String, path: KeyPath<Post, Extra?> & Sendable, before: String)] = [
      ("extra", \.extra, ""), ("author.extra", \.author!.extra, #""author":{"id":"x","#),
      ("media[0].extra", \.media[0].extra, #""media":[{"kind":"audio","url":"/u","#),
    ]

  private static func json(_ place: Int, _ extra: String) -> String {
    #"{"id":"a","type":"audio","# + places[place].before + "\"extra\":" + extra
      + ["}", "}}", "}]}"][place]
  }

  /// Why a record is refused; nil where it is read.
  private static func problem(_ json: String) -> String? {
    do throws(RecordError) {
      _ = try RecordDecoder().decode(Array(json.utf8))
      return nil
    } catch {
      return error.description
    }
  }

  static let kept: [(written: String, kept: String)] = [
    (#"{"a":1}"#, #"{"a":1}"#),
    ("{ \n\t\"a\" :\r [ 1 , 2 ] }", #"{"a":[1,2]}"#),
    // Numbers as they are written, also those that no Double holds.
    (
      #"{"a":1.10,"b":-0,"c":1E+999,"d":123456789012345678901234567890.5}"#,
      #"{"a":1.10,"b":-0,"c":1E+999,"d":123456789012345678901234567890.5}"#
    ),
    // Members in their order; names that differ in their bytes alone.
    (
      "{\"z\":1,\"a\":2,\"\u{e9}\":3,\"e\u{301}\":4}",
      "{\"z\":1,\"a\":2,\"\u{e9}\":3,\"e\u{301}\":4}"
    ),
    // Texts as they are written: escapes, white space, brackets.
    (
      #"{"a b":" \u0000\u00e9\/ [ { \" \\" , "":""}"#, #"{"a b":" \u0000\u00e9\/ [ { \" \\","":""}"#
    ),
    (
      #"{"feed":"x","id":7,"extra":{"extra":null}}"#, #"{"feed":"x","id":7,"extra":{"extra":null}}"#
    ),
  ]

  @Test(arguments: 0..<3, kept.indices)
  func `an object comes out as it went in but for white space`(_ place: Int, _ index: Int) throws {
    let (written, kept) = Self.kept[index]
    let record = try RecordDecoderTests.decode(Self.json(place, written))
    guard case .post(let post, _) = record else { return #expect(Bool(false), "no post") }
    #expect(post[keyPath: Self.places[place].path]?.json == kept)
    let exported = String(decoding: record.json, as: UTF8.self)
    #expect(exported.contains("\"extra\":\(kept)"))
    #expect(try RecordDecoder().decode(record.json).json == record.json)
  }

  @Test(arguments: ["{}", "{ \n }"]) func `an empty object says nothing`(_ extra: String) throws {
    let post = try RecordDecoderTests.post(Self.json(0, extra))
    #expect(post.extra == nil)
    #expect(try RecordDecoderTests.post(#"{"id":"a","type":"text","author":{}}"#).author == nil)
  }

  @Test(arguments: 0..<3) func `what is no object, holds a key twice or is too deep is refused`(
    _ place: Int
  ) {
    let name = Self.places[place].name
    func message(_ extra: String) -> String? {
      Self.problem(Self.json(place, extra))
    }
    #expect(message("[1]") == "\(name): is not an object")
    #expect(message("null") == "\(name): is null, not an object; leave out what is unknown")
    #expect(message(#"{"a":{"b":1,"\u0062":2}}"#) == "\(name).a.b: occurs twice")
    func nested(_ depth: Int) -> String {
      String(repeating: #"{"[{":"#, count: depth - 1) + "[]"
        + String(repeating: "}", count: depth - 1)
    }
    #expect(message(nested(32)) == nil)
    #expect(message(nested(33)) == "\(name): is nested 33 levels deep, more than 32")
    // Beside each other they are not in each other.
    #expect(
      message(#"{"a":[\#(Array(repeating: "[[]]", count: 40).joined(separator: ","))]}"#) == nil)
  }

  @Test(arguments: [
    ("en", true), ("pt-BR", true), ("zh-Hant-TW", true), ("x-klingon", true), ("de-1996", true),
    ("en_US", false), ("e\u{e9}", false), ("-en", false), ("en-", false), ("en--us", false),
    ("englishest-x", false), ("1en", false), ("en us", false),
  ])
  func `a language is a tag of BCP 47 by its form`(_ tag: String, _ isTag: Bool) throws {
    let message = Self.problem(#"{"id":"a","type":"text","language":"\#(tag)"}"#)
    #expect(
      message == (isTag ? nil : "language: \"\(tag)\" is not a language tag such as en or pt-BR"))
  }

  @Test(
    arguments: [
      (##"{"color":"#6b7a3d"}"##, nil), (#"{"thumbhash":"1QcSHQQ="}"#, nil),
      ("{}", "media[0].placeholder: has neither a thumbhash nor a color"),
      (
        #"{"blurhash":"x"}"#,
        "media[0].placeholder.blurhash: unknown field; known fields: color, thumbhash"
      ),
      (#"{"color":"red"}"#, "media[0].placeholder.color: is not a colour such as #6b7a3d"),
      (#"{"thumbhash":"1QcS"}"#, "media[0].placeholder.thumbhash: is not a ThumbHash in base64"),
    ] as [(String, String?)])
  func `a placeholder is a picture, a colour, or both`(_ json: String, _ problem: String?) {
    let record =
      #"{"id":"a","type":"image","media":[{"kind":"image","url":"/u","placeholder":\#(json)}]}"#
    #expect(Self.problem(record) == problem)
  }
}
