import JSON
import TestSupport
import Testing

/// What is JSON, what is not, and what is said about it.
struct JSONDocumentTests {
  struct Refusal: CustomTestStringConvertible {
    let text: String
    let problem: JSONError.Problem
    let words: String
    let path: String

    init(_ text: String, _ problem: JSONError.Problem, _ words: String, in path: String = "") {
      (self.text, self.problem, self.words, self.path) = (text, problem, words, path)
    }

    var testDescription: String { String(text.prefix(60)) }
  }

  static let refusals = [
    Refusal("", .unexpectedEnd, "unexpected end of the text at column 1"),
    Refusal(" \n ", .unexpectedEnd, "unexpected end of the text at line 2, column 2"),
    Refusal("\u{feff}{}", .byteOrderMark, "unexpected byte order mark at column 1"),
    Refusal("{} x", .textBehindEnd, "unexpected text after the value at column 4"),
    Refusal("{}{}", .textBehindEnd, "unexpected text after the value at column 3"),
    Refusal("1 2", .textBehindEnd, "unexpected text after the value at column 3"),
    Refusal("{} \0", .textBehindEnd, "unexpected text after the value at column 4"),
    Refusal("[1,]", .trailingComma, "trailing comma at column 4"),
    Refusal(#"{"a":1,}"#, .trailingComma, "trailing comma at column 8"),
    Refusal(
      #"{"a":{"b":[1,2 ,]}}"#, .trailingComma, "trailing comma at column 17",
      in: "a.b"),
    Refusal("[,1]", .noValue, "expected a value at column 2"),
    Refusal("[1,,2]", .noValue, "expected a value at column 4"),
    Refusal("[1 2]", .noCommaOrEnd("]"), "expected a comma or ] at column 4"),
    Refusal("[1}", .noCommaOrEnd("]"), "expected a comma or ] at column 3"),
    Refusal(#"{"a":1 "b":2}"#, .noCommaOrEnd("}"), "expected a comma or } at column 8"),
    Refusal(#"{"a" 1}"#, .noColon, "expected a colon at column 6"),
    Refusal("{'a':1}", .noKey, "expected a name in quotation marks at column 2"),
    Refusal("{a:1}", .noKey, "expected a name in quotation marks at column 2"),
    Refusal("{1:1}", .noKey, "expected a name in quotation marks at column 2"),
    Refusal("{", .unexpectedEnd, "unexpected end of the text at column 2"),
    Refusal("[1", .unexpectedEnd, "unexpected end of the text at column 3"),
    Refusal(#"{"a""#, .unexpectedEnd, "unexpected end of the text at column 5"),
    Refusal(#""abc"#, .unexpectedEnd, "unexpected end of the text at column 5"),
    Refusal(#""\"#, .unexpectedEnd, "unexpected end of the text at column 2"),
    Refusal("nul", .unexpectedEnd, "unexpected end of the text at column 4"),
    Refusal("[nulL]", .noValue, "expected a value at column 2"),
    Refusal("True", .noValue, "expected a value at column 1"),
    Refusal("NaN", .noValue, "expected a value at column 1"),
    Refusal("// c\n{}", .noValue, "expected a value at column 1"),
    Refusal("[\n1,\n+1]", .noValue, "expected a value at line 3, column 1"),
    Refusal("01", .malformedNumber, "malformed number at column 1"),
    Refusal("-", .malformedNumber, "malformed number at column 1"),
    Refusal("[1.]", .malformedNumber, "malformed number at column 2"),
    Refusal(".5", .noValue, "expected a value at column 1"),
    Refusal("1e", .malformedNumber, "malformed number at column 1"),
    Refusal("1e+", .malformedNumber, "malformed number at column 1"),
    Refusal("0x10", .textBehindEnd, "unexpected text after the value at column 2"),
    Refusal(
      "\"a\nb\"", .controlCharacter, "unescaped control character at column 3"),
    Refusal(
      "\"a\0\"", .controlCharacter, "unescaped control character at column 3"),
    Refusal(#"["é\x"]"#, .unknownEscape, "unknown escape sequence at column 4"),
    Refusal(#""\u12g4""#, .unknownEscape, "unknown escape sequence at column 2"),
    Refusal(#""\u12"#, .unknownEscape, "unknown escape sequence at column 2"),
    Refusal(#""\ud800""#, .loneSurrogate, "unpaired surrogate at column 2"),
    Refusal(#""\udc00""#, .loneSurrogate, "unpaired surrogate at column 2"),
    Refusal(#""\ud800\ud800""#, .loneSurrogate, "unpaired surrogate at column 2"),
    Refusal(#""\ud800x""#, .loneSurrogate, "unpaired surrogate at column 2"),
    Refusal(
      #"{"a":1,"a":1}"#, .duplicateKey, "duplicate key at column 8", in: "a"),
    Refusal(
      #"{"\u0061":1,"a":2}"#, .duplicateKey, "duplicate key at column 13",
      in: "a"),
    Refusal(
      #"{"a":2,"\u0061":1}"#, .duplicateKey, "duplicate key at column 8", in: "a"
    ),
    Refusal(
      #"{"é":2,"\u00e9":1}"#, .duplicateKey, "duplicate key at column 8", in: "é"
    ),
    Refusal(#"{"":2,"":1}"#, .duplicateKey, "duplicate key at column 7", in: ""),
    Refusal(
      #"{"a":[0,{"b":{},"c":[],"b":1}]}"#, .duplicateKey,
      "duplicate key at column 24", in: "a[1].b"),
  ]

  static func error(_ bytes: [UInt8], depthLimit: Int = 64) -> JSONError? {
    do throws(JSONError) {
      _ = try JSONDocument(bytes, depthLimit: depthLimit)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: refusals)
  func `what is no JSON is refused with what is wrong and where`(_ refusal: Refusal) {
    let error = Self.error(Array(refusal.text.utf8))
    #expect(error?.problem == refusal.problem)
    #expect(error?.description == refusal.words)
    #expect(error?.path.description == refusal.path)
  }

  /// With few keys and with many, which are looked for in another way.
  @Test(arguments: [1, 2, 15, 16, 17, 18, 500])
  func `a key that is there twice is found among any number of others`(_ count: Int) {
    for twice in Set([0, count / 2, count - 1]) {
      let keys = (0..<count).map { #""k\#($0)":[{"k":\#($0)}]"# }
      #expect(Self.error(Array("{\(keys.joined(separator: ","))}".utf8)) == nil)
      let text = "[{" + (keys + [#""\u006b\#(twice)":0"#]).joined(separator: ",") + "}]"
      let error = Self.error(Array(text.utf8))
      #expect(error?.problem == .duplicateKey)
      #expect(error?.path.description == "[0].k\(twice)")
    }
  }

  @Test func `keys that only look the same are two`() throws {
    let document = try JSONDocument(Array(#"{"\u00e9":1,"e\u0301":2}"#.utf8))
    #expect(document.root.member("\u{e9}")?.wholeNumber == 1)
    #expect(document.root.member("e\u{301}")?.wholeNumber == 2)
    #expect(document.root.member("e") == nil)
  }

  @Test(
    arguments: [
      [0xff], [0x22, 0xff, 0x22], [0x22, 0xc0, 0x80, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22],
      [0x22, 0xe9, 0x22],
      [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22], [0x22, 0xf0, 0x8f, 0xbf, 0xbf, 0x22],
      [0x22, 0xe2, 0x82], [0x5b, 0x80],
      [0x22, 0xe2, 0x28, 0xa1, 0x22], [0x22, 0xf0, 0x9f, 0x98, 0x22],
      // UTF-16 and UTF-32, with and without a mark.
      [0xff, 0xfe, 0x7b, 0, 0x7d, 0], [0xfe, 0xff, 0, 0x7b, 0, 0x7d], [0x7b, 0, 0x7d, 0],
      [0, 0x7b, 0, 0x7d],
      [0x7b, 0, 0, 0], [0, 0, 0, 0x7b],
    ] as [[UInt8]])
  func `what is not UTF-8 is said to be none`(_ bytes: [UInt8]) {
    #expect(Self.error(bytes)?.problem == .notUTF8)
  }

  @Test(arguments: [0, 1, 2, 64]) func `lists and objects stand in each other as deep as the limit`(
    _ limit: Int
  ) {
    for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
      func nested(_ depth: Int) -> [UInt8] {
        Array(
          (String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth))
            .utf8)
      }
      #expect(Self.error(nested(limit), depthLimit: limit) == nil)
      #expect(Self.error(nested(limit + 1), depthLimit: limit)?.problem == .tooDeep(limit: limit))
      #expect(
        Self.error(Array(String(repeating: open, count: 100_000).utf8), depthLimit: limit) != nil)
    }
    // Beside each other they are not deep.
    #expect(
      limit < 2
        || Self.error(Array("[\(Array(repeating: "[]", count: 200).joined(separator: ","))]".utf8))
          == nil
    )
  }

  @Test func `a document is read as it stands`() throws {
    let text =
      #" {"a" : [1, -2.50 ,"x\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é😀",true,false,null,{}, []], "":{"c":"d"}} "#
    let root = try JSONDocument(Array(text.utf8)).root
    #expect(root.kind == .object)
    #expect(root.members.map(\.name) == ["a", ""])
    let elements = try #require(root.member("a")).elements.map { $0 }
    #expect(
      elements.map(\.kind) == [.number, .number, .text, .boolean, .boolean, .null, .object, .array])
    #expect(elements[0].wholeNumber == 1)
    #expect(elements[1].wholeNumber == nil)
    #expect(elements[2].text == "x\"\\/\u{8}\u{c}\n\r\t\u{e9}\u{1f600}\u{e9}\u{1f600}")
    #expect(elements[2].path.description == "a[2]")
    #expect(elements[7].path.description == "a[7]")
    #expect(root.member("")?.member("c")?.text == "d")
    #expect(root.member("")?.member("c")?.path.steps == [.key(""), .key("c")])
    #expect(root.text == nil && root.wholeNumber == nil && elements[2].members.map(\.name).isEmpty)
  }

  @Test func `a name of any length takes little room in a path`() throws {
    let name = String(repeating: "n\u{301}", count: 1 << 19)
    let error = try #require(Self.error(Array("{\"\(name)\":{\"\(name)\":1,\"\(name)\":2}}".utf8)))
    #expect(error.path.description.unicodeScalars.count == 203)
    #expect(error.path.description.unicodeScalars.suffix(2).elementsEqual(["\u{301}", "…"]))
  }
}
