import FeedFormats
import TestSupport
import Testing

struct RecordSplitterTests {
  /// What a splitter makes of an input: `line: text`, or `line: !error`.
  static func split(_ pieces: [[UInt8]], limit: Int = 40) -> [String] {
    var splitter = RecordSplitter(recordLimitBytes: limit)
    var records: [String] = []
    func emit(_ record: RawRecord) {
      switch record.content {
      case .success(let bytes):
        records.append("\(record.line): \(String(decoding: bytes, as: UTF8.self))")
      case .failure(let error): records.append("\(record.line): !\(error)")
      }
    }
    for piece in pieces { splitter.feed(piece, emit) }
    splitter.finish(emit)
    return records
  }

  struct Case: CustomTestStringConvertible {
    let testDescription: String
    let input: [UInt8]
    let records: [String]

    init(_ name: String, _ input: String, _ records: [String]) {
      testDescription = name
      self.input = Array(input.utf8)
      self.records = records
    }
  }

  static let cutOff = "!the input ends within the JSON array: it is incomplete"
  static let stray = "!expected a record, a comma or the end of the JSON array"
  static let tooLong = "!the record has more than 40 bytes"

  static let lines = [
    Case("nothing", "", []),
    Case("white space", " \t\r\n\n  \n", []),
    Case("a byte order mark alone", "\u{feff}", []),
    Case("one line", "{\"a\":1}\n", ["1: {\"a\":1}"]),
    Case("one line without its end", "{\"a\":1}", ["1: {\"a\":1}"]),
    Case("two lines", "{\"a\":1}\n{\"b\":2}\n", ["1: {\"a\":1}", "2: {\"b\":2}"]),
    Case("CRLF", "{\"a\":1}\r\n\r\n{\"b\":2}\r\n", ["1: {\"a\":1}\r", "3: {\"b\":2}\r"]),
    Case("blank lines", "\n\n{}\n \t\n\n{1}\n\n", ["3: {}", "6: {1}"]),
    Case("white space before the first", "  \n\t {}\n{1}", ["2: {}", "3: {1}"]),
    Case("a byte order mark", "\u{feff}{}\n{1}\n", ["1: {}", "2: {1}"]),
    Case("a byte order mark and blank lines", "\u{feff}\n\n{}\n", ["3: {}"]),
    Case("a byte order mark behind white space", " \u{feff}{}", ["1: \u{feff}{}"]),
    Case("a byte order mark further down", "{}\n\u{feff}{}\n", ["1: {}", "2: \u{feff}{}"]),
    Case("lines that are no records", "x\n[1]\n\"]\n", ["1: x", "2: [1]", "3: \"]"]),
    Case("brackets in lines", "{\n}\n{[\n", ["1: {", "2: }", "3: {["]),
    Case(
      "a line too long", "{}\n" + String(repeating: "x", count: 41) + "\n{1}\n",
      ["1: {}", "2: \(tooLong)", "3: {1}"]),
    Case(
      "a line as long as may be", String(repeating: "x", count: 40) + "\n",
      ["1: " + String(repeating: "x", count: 40)]),
    Case(
      "the last line too long", "{}\n" + String(repeating: "x", count: 99),
      ["1: {}", "2: \(tooLong)"]),
  ]

  static let arrays = [
    Case("an empty array", "[]", []),
    Case("an empty array with white space", " \n[ \r\n\t]\n \n", []),
    Case("one element", "[{\"a\":1}]", ["1: {\"a\":1}"]),
    Case("elements of one line", "[{},{1} , {2}]", ["1: {}", "1: {1}", "1: {2}"]),
    Case(
      "elements of several lines", "[\n  {\n\"a\":1},\r\n\n  {}\n]\n",
      ["2: {\n\"a\":1}", "5: {}"]),
    Case("a byte order mark", "\u{feff}[{}]", ["1: {}"]),
    Case("nested brackets", "[{[{}],[[]],{}},{[1]}]", ["1: {[{}],[[]],{}}", "1: {[1]}"]),
    Case(
      "brackets and quotes in texts", #"[{"a":"]}\"}[{\\"},{"\\\"}":"{"}]"#,
      [#"1: {"a":"]}\"}[{\\"}"#, #"1: {"\\\"}":"{"}"#]),
    Case("commas in elements", "[{1,2},{3}]", ["1: {1,2}", "1: {3}"]),
    Case("cut off before an element", "[", ["1: \(cutOff)"]),
    Case("cut off in an element", "[{},\n{\"a\"", ["1: {}", "2: \(cutOff)"]),
    Case("cut off in a text", "[{\"]", ["1: \(cutOff)"]),
    Case("cut off behind an element", "[{}\n\n", ["1: {}", "3: \(cutOff)"]),
    Case("cut off behind a comma", "[{},", ["1: {}", "1: \(cutOff)"]),
    Case("text behind the array", "[{}]\nx", ["1: {}", "2: \(stray)"]),
    Case("a record behind the array", "[{}]\n{}\n{}", ["1: {}", "2: \(stray)"]),
    Case("a second array", "[{}]\n\n[{}]", ["1: {}", "3: \(stray)"]),
    Case("a comma behind the array", "[],", ["1: \(stray)"]),
    Case("no comma between elements", "[{}\n{}]", ["1: {}", "2: \(stray)"]),
    Case("a comma before the end", "[{},\n]", ["1: {}", "2: \(stray)"]),
    Case("two commas", "[{},,{}]", ["1: {}", "1: \(stray)"]),
    Case("a comma at the start", "[,{}]", ["1: \(stray)"]),
    Case("an element that is no object", "[{},\n1,{}]", ["1: {}", "2: \(stray)"]),
    Case("an array in the array", "[[{}]]", ["1: \(stray)"]),
    Case("a text in the array", "[\"{}\"]", ["1: \(stray)"]),
    Case(
      "an element too long", "[{},\n{\"a\":\"}" + String(repeating: "x", count: 40) + "\"},{1}]",
      ["1: {}", "2: \(tooLong)", "2: {1}"]),
    Case(
      "an element as long as may be", "[{" + String(repeating: "x", count: 38) + "},{1}]",
      ["1: {" + String(repeating: "x", count: 38) + "}", "1: {1}"]),
  ]

  @Test(
    arguments: [[0xef, 0x7b, 0x7d], [0xef, 0xbb, 0x7b, 0x7d], [0xef], [0xef, 0xbb]] as [[UInt8]])
  func `a piece of a byte order mark belongs to the record`(_ input: [UInt8]) {
    let record = "1: " + String(decoding: input, as: UTF8.self)
    #expect(Self.split([input]) == [record])
    #expect(Self.split(input.map { [$0] }) == [record])
  }

  @Test(arguments: lines + arrays)
  func `an input is cut into its records however it arrives`(_ expected: Case) {
    let input = expected.input
    #expect(Self.split([input]) == expected.records, "whole")
    #expect(Self.split(input.map { [$0] }) == expected.records, "byte by byte")
    for cut in 0...input.count {
      let pieces = [Array(input[..<cut]), [], Array(input[cut...])]
      #expect(Self.split(pieces) == expected.records, "cut at \(cut)")
    }
  }

  @Test(arguments: TestRandom.seeds) func `random inputs mean the same however they are cut`(
    seed: UInt64
  ) {
    var random = TestRandom(seed)
    let tokens = [
      "{", "}", "[", "]", ",", "\"", "\\", "\n", "\r\n", " ", "{\"a\":1}", "\u{feff}", "\u{e9}",
      "x",
    ].map { Array($0.utf8) }
    for _ in 0..<2_000 {
      let start = random.one(of: [[], [UInt8(ascii: "[")]])
      let input = start + (0..<random.number(0...30)).flatMap { _ in random.one(of: tokens) }
      let whole = Self.split([input], limit: 12)
      #expect(Self.split(input.map { [$0] }, limit: 12) == whole, TestRandom.replay)
      let cut = random.number(0...input.count)
      let pieces = [Array(input[..<cut]), Array(input[cut...])]
      #expect(Self.split(pieces, limit: 12) == whole, "cut at \(cut), \(TestRandom.replay)")
    }
  }

  @Test func `an error of the receiver stops the splitter`() {
    struct Stop: Error {}
    var splitter = RecordSplitter(recordLimitBytes: 40)
    var count = 0
    #expect(throws: Stop.self) {
      try splitter.feed(Array("{}\n{}\n".utf8)) { _ in
        count += 1
        throw Stop()
      }
    }
    #expect(count == 1)
  }
}
