import Foundation
import JSON
import TestSupport
import Testing

struct JSONWriterTests {
  static func text(_ write: (inout JSONWriter) -> Void) -> String {
    var writer = JSONWriter()
    write(&writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  // MARK: Texts

  static let strings: [(String, String)] = [
    ("", #""""#),
    ("a", #""a""#),
    ("\"", #""\"""#),
    ("\\", #""\\""#),
    ("/", #""/""#),
    ("\\\"\\", #""\\\"\\""#),
    ("\u{8}\t\n\u{c}\r", #""\b\t\n\f\r""#),
    ("\0", #""\u0000""#),
    ("a\u{1}b\u{1f}c", #""a\u0001b\u001fc""#),
    ("\u{b}\u{e}\u{1a}", #""\u000b\u000e\u001a""#),
    (" \u{7f}", "\" \u{7f}\""),
    ("\u{e9}", "\"\u{e9}\""),
    ("e\u{301}", "\"e\u{301}\""),
    ("\u{2028}\u{2029}\u{feff}", "\"\u{2028}\u{2029}\u{feff}\""),
    ("\u{1f600}\u{10ffff}", "\"\u{1f600}\u{10ffff}\""),
    ("start\nmiddle\nend", #""start\nmiddle\nend""#),
    ("\n\n", #""\n\n""#),
  ]

  @Test(arguments: strings)
  func `a text has only the escapes that it must have`(_ value: String, _ expected: String) {
    let bytes = Array(expected.utf8)
    #expect(Array(Self.text { $0.string(value) }.utf8) == bytes)
    #expect(
      Array(
        Self.text {
          $0.object {
            $0.key(text: value); $0.null()
          }
        }.utf8)
        == Array("{".utf8) + bytes + Array(":null}".utf8))
  }

  @Test func `every control character is escaped and nothing else of ASCII but two`() {
    for byte in UInt8(0)...0x7f {
      let written = Self.text { $0.string(String(Unicode.Scalar(byte))) }
      let isEscaped = byte < 0x20 || byte == 0x22 || byte == 0x5c
      #expect(written.utf8.contains(0x5c) == isEscaped)
      #expect(written.utf8.allSatisfy { $0 >= 0x20 })
      #expect(isEscaped || written.utf8.count == 3)
    }
  }

  /// Texts are looked through sixteen bytes at a time, and their ends by eight, four and one.
  @Test func `an escape is found at every place of a text of any length`() {
    for length in 0..<70 {
      let plain = (0..<length).map { UInt8(ascii: "a") + UInt8($0 % 26) }
      #expect(Self.text { $0.string(utf8: plain.span) }.utf8.count == length + 2)
      for place in 0..<length {
        for (byte, escape) in [
          (UInt8(0x22), #"\""#), (UInt8(0x5c), #"\\"#), (UInt8(0x1f), #"\u001f"#),
        ] {
          var text = plain
          text[place] = byte
          let written = Self.text { $0.object { $0.member("name", utf8: text.span) } }
          let expected =
            #"{"name":""#.utf8 + plain[..<place] + Array(escape.utf8) + plain[(place + 1)...]
          #expect(Array(written.utf8) == expected + Array("\"}".utf8))
        }
      }
      for byte in [0x20, 0x21, 0x23, 0x5b, 0x5d, 0x7f, 0xc3, 0xff] as [UInt8] {
        let text = [UInt8](repeating: byte, count: length)
        var writer = JSONWriter()
        writer.string(utf8: text.span)
        #expect(writer.bytes == [0x22] + text + [0x22])
      }
    }
  }

  @Test func `a member is written behind a comma, unless it is the first`() {
    let none: [UInt8] = []
    let written = Self.text {
      $0.object { writer in
        writer.member("a", utf8: none.span)
        writer.member("b", 7)
        writer.member("c", nil as Int?)
        writer.member("d", "\n")
        writer.member("e", capacity: 4) { $0.append("null") }
        writer.literal(capacity: 40) { text in
          text.append(member: "f", -1)
          text.append(member: "g", nil)
        }
        writer.member("h", nil as String?)
        writer.member("i", Int.min)
        writer.member("j", plain: Array("k".utf8).span)
        writer.object("l") { $0.array("m") { $0.integer(1) } }
        writer.array("n") { _ in }
      }
    }
    #expect(
      written
        == #"{"a":"","b":7,"d":"\n","e":null,"f":-1,"i":-9223372036854775808,"#
        + #""j":"k","l":{"m":[1]},"n":[]}"#)
  }

  /// Texts are looked through in blocks.
  @Test func `an escape is found at every place of a long text`() {
    for place in 0..<40 {
      for (byte, escape) in [
        ("\"", #"\""#), ("\\", #"\\"#), ("\n", #"\n"#), ("\u{1f}", #"\u001f"#),
      ] {
        // Beside bytes that differ in one bit, or have the highest.
        let before = String(repeating: "\u{e9}", count: place / 2) + (place % 2 == 0 ? "" : "#")
        let after = String(repeating: " ]\u{a0}", count: 5)
        let expected = "\"" + before + escape + after + "\""
        #expect(Array(Self.text { $0.string(before + byte + after) }.utf8) == Array(expected.utf8))
        let utf8 = Array((before + byte + after).utf8)
        #expect(Self.text { $0.string(utf8: utf8.span) } == expected)
        #expect(
          Self.text {
            $0.string { writer in
              writer.piece(utf8: utf8.span)
              writer.piece(".1")
            }
          } == expected.dropLast() + ".1\"")
      }
    }
  }

  @Test(arguments: TestRandom.seeds) func `any text is read back by another reader`(seed: UInt64)
    throws
  {
    var random = TestRandom(seed)
    for _ in 0..<1_000 {
      let key = random.text(0...8)
      let values = (0..<random.number(0...4)).map { _ in random.text(0...40) }
      var writer = JSONWriter(capacity: random.number(0...64))
      writer.object { writer in
        writer.key(text: key)
        writer.array { writer in
          for value in values { writer.string(value) }
        }
      }
      let read = try JSONSerialization.jsonObject(with: Data(writer.bytes)) as? [String: [String]]
      let object = try #require(read, TestRandom.replay)
      try #require(object.count == 1, TestRandom.replay)
      try #require(object.keys.first.map { Array($0.utf8) } == Array(key.utf8), TestRandom.replay)
      try #require(
        object.values.first?.map { Array($0.utf8) } == values.map { Array($0.utf8) },
        TestRandom.replay)
    }
  }

  // MARK: Numbers

  static let integers: [(Int, String)] = [
    (0, "0"), (9, "9"), (10, "10"), (-1, "-1"), (-10, "-10"), (1_000, "1000"),
    (99_999_999, "99999999"), (100_000_000, "100000000"), (1_000_000_007, "1000000007"),
    (-70_000_000_100_000_000, "-70000000100000000"),
    (9_007_199_254_740_991, "9007199254740991"), (.max, "9223372036854775807"),
    (.min, "-9223372036854775808"),
  ]

  @Test(arguments: integers)
  func `a whole number is written in full`(_ value: Int, _ expected: String) {
    #expect(Self.text { $0.integer(value) } == expected)
  }

  @Test func `documents stand side by side, and pieces of them where others are`() {
    var opened = JSONWriter()
    for id in ["a", "b"] {
      opened.beginDocument()
      opened.object { writer in writer.member("id", id) }
    }
    #expect(String(decoding: opened.bytes, as: UTF8.self) == #"{"id":"a"}{"id":"b"}"#)
    let text = Self.text { writer in
      writer.array { writer in
        writer.literal(opened.bytes.span.extracting(0..<9))
        writer.literal(#","m":"#)
        writer.literal(capacity: 40) { text in
          text.append(decimal: -20)
          text.append("},")
          text.append(opened.bytes.span.extracting(10..<20))
        }
        writer.integer(7)
      }
    }
    #expect(text == #"[{"id":"a","m":-20},{"id":"b"},7]"#)
  }

  @Test func `a number has as many digits as it needs`() {
    var values = [0, Int.max, Int.min]
    for power in 1...18 {
      let value = (0..<power).reduce(1) { value, _ in value * 10 }
      values += [value - 1, value, value + 1, -value, 1 - value]
    }
    for value in values {
      #expect(Self.text { $0.literal(capacity: 20) { $0.append(decimal: value) } } == "\(value)")
    }
  }

  static let numbers: [(Double, String)] = [
    (0, "0"), (-0.0, "-0"), (1, "1"), (-1, "-1"), (0.5, "0.5"), (-0.25, "-0.25"), (100, "100"),
    (0.1 + 0.2, "0.30000000000000004"), (1e15, "1000000000000000"), (1e21, "1e+21"),
    (1e-7, "1e-07"), (.greatestFiniteMagnitude, "1.7976931348623157e+308"),
    (.leastNonzeroMagnitude, "5e-324"),
  ]

  @Test(arguments: numbers)
  func `a number is written as short as it reads back`(_ value: Double, _ expected: String) {
    #expect(Self.text { $0.number(value) } == expected)
  }

  @Test(arguments: TestRandom.seeds) func `any number is read back as the same by another reader`(
    seed: UInt64
  ) throws {
    var random = TestRandom(seed)
    for _ in 0..<2_000 {
      let value = Double(bitPattern: random.next())
      guard value.isFinite else { continue }
      let written = Self.text { $0.array { $0.number(value) } }
      let read = try JSONDecoder().decode([Double].self, from: Data(written.utf8))
      try #require(read == [value], "\(value), \(TestRandom.replay)")
    }
  }

  // MARK: Nesting

  @Test func `commas stand between values and members, and nowhere else`() {
    #expect(Self.text { $0.object { _ in } } == "{}")
    #expect(Self.text { $0.array { _ in } } == "[]")
    #expect(Self.text { $0.boolean(true) } == "true")
    #expect(
      Self.text {
        $0.array {
          $0.integer(1)
          $0.string("a")
          $0.array { _ in }
          $0.object { _ in }
          $0.boolean(false)
          $0.null()
          $0.number(1.5)
          $0.raw(Array("{\"x\":[]}".utf8))
          $0.array { $0.array { $0.integer(2) } }
        }
      } == #"[1,"a",[],{},false,null,1.5,{"x":[]},[[2]]]"#)
    #expect(
      Self.text {
        $0.object {
          $0.key("a")
          $0.object {
            $0.key(text: "b")
            $0.array { $0.null() }
          }
          $0.key(text: "c")
          $0.raw(Array("7".utf8))
          $0.key("d")
          $0.boolean(true)
        }
      } == #"{"a":{"b":[null]},"c":7,"d":true}"#)
  }

  @Test func `a member whose value is unknown is left out with its comma`() {
    #expect(
      Self.text {
        $0.object {
          $0.member("a", nil as String?)
          $0.member("b", "")
          $0.member("c", nil as Int?)
          $0.member("d", 0)
          $0.member("e", nil as Int?)
        }
      } == #"{"b":"","d":0}"#)
  }

  @Test func `an error of a body passes through`() {
    struct Stop: Error {}
    var writer = JSONWriter()
    #expect(throws: Stop.self) {
      try writer.object { _ in throw Stop() }
    }
  }
}
