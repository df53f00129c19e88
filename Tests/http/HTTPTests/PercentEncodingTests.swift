import HTTP
import Testing

struct PercentEncodingTests {
  @Test(arguments: [
    ("", ""), ("abc", "abc"), ("a%20b", "a b"), ("a+b", "a+b"), ("%2525", "%25"),
    ("%c3%A4", "\u{e4}"), ("\u{e4}", "\u{e4}"), ("%2F", "/"),
  ])
  func `text is decoded exactly once`(_ encoded: String, _ decoded: String) throws {
    #expect(try PercentEncoding.decode(encoded) == decoded)
  }

  @Test(arguments: [
    ("ab%", PercentEncodingError.Reason.malformedEscape, 2), ("%4", .malformedEscape, 0),
    ("%zz", .malformedEscape, 0), ("a%%41", .malformedEscape, 1), ("%41%00", .nul, 3),
    ("a%20%c3", .invalidUTF8, 4), ("%c0%af", .invalidUTF8, 0), ("%ed%a0%80", .invalidUTF8, 0),
  ])
  func `what cannot be decoded is refused and located`(
    _ encoded: String, _ reason: PercentEncodingError.Reason, _ offset: Int
  ) {
    #expect(throws: PercentEncodingError(reason: reason, offset: offset)) {
      try PercentEncoding.decode(encoded)
    }
  }

  @Test(arguments: ["", "a b", "a/b?c#d&e=f+g", "\u{e4}\u{1f600}", "100%", "a:b@c;d,e"])
  func `what is encoded decodes to itself`(_ text: String) throws {
    for place in [PercentEncoding.Place.pathSegment, .queryValue] {
      let encoded = PercentEncoding.encode(text, for: place)
      #expect(try PercentEncoding.decode(encoded) == text)
      #expect(!encoded.contains("/") && !encoded.contains("?") && !encoded.contains("#"))
    }
    #expect(PercentEncoding.encode("a:b c&d", for: .pathSegment) == "a:b%20c&d")
    #expect(PercentEncoding.encode("a:b c&d", for: .queryValue) == "a%3Ab%20c%26d")
  }

  @Test(arguments: [
    ("/", [""]), ("/a", ["a"]), ("/a/", ["a", ""]), ("//a", ["", "a"]), ("/a%2Fb/c", ["a/b", "c"]),
    ("/a%20b/%2e%2e", ["a b", ".."]),
  ])
  func `a path is split before its segments are decoded`(
    _ path: String, _ segments: [String]
  ) throws {
    #expect(try PathSegments.split(path) == segments)
  }

  @Test func `a malformed path says where`() {
    #expect(throws: PercentEncodingError(reason: .malformedEscape, offset: 4)) {
      try PathSegments.split("/ab/%x")
    }
  }
}

struct QueryTests {
  @Test(arguments: [
    ("", [[String]]()), ("a=1", [["a", "1"]]),
    ("a=1&b=2&a=3", [["a", "1"], ["b", "2"], ["a", "3"]]),
    ("a", [["a", ""]]), ("a=&=b", [["a", ""], ["", "b"]]), ("a=b=c", [["a", "b=c"]]),
    ("&a=1&&", [["a", "1"]]), ("a+b=c%2Bd+e", [["a b", "c+d e"]]),
    ("%61=%C3%A4", [["a", "\u{e4}"]]),
  ])
  func `parameters are read as forms write them`(_ raw: String, _ expected: [[String]]) throws {
    #expect(try Query.parse(raw).map { [$0.name, $0.value] } == expected)
  }

  @Test(arguments: [("a=1&limit=%x", "limit"), ("%zz=1", "%zz"), ("b%20c=%00", "b c")])
  func `a malformed parameter is named`(_ raw: String, _ name: String) throws {
    let error = #expect(throws: Query.Malformed.self) { try Query.parse(raw) }
    #expect(error?.parameter == name)
  }
}
