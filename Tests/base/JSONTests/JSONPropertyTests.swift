import JSON
import TestSupport
import Testing

/// Random texts, of which Foundation has another opinion.
struct JSONPropertyTests {
  private static let pieces = [
    "{", "}", "[", "]", ",", ":", "\"", "\\", "\"a\"", "\"b\"", "\"\\u0061\"", "\"\u{e9}\"",
    "\"e\u{301}\"",
    "\"\\u00e9\"", "\"\\ud83d\\ude00\"", "\"\\ud83d\"", "1", "-0", "1.0", "1e3", "100e-2", "0.5",
    "1e-400", "1e400",
    "9007199254740993", "01", "true", "false", "null", " ", "\n", "\t", "\u{feff}", "\0",
    "\u{2028}", "\u{1f600}",
  ].map { Array($0.utf8) }

  /// A valid text, most of the time.
  private static func value(_ random: inout TestRandom, depth: Int = 0) -> String {
    switch random.number(depth < 4 ? 0...5 : 2...5) {
    case 0:
      return "["
        + (0..<random.number(0...4)).map { _ in value(&random, depth: depth + 1) }
        .joined(separator: " ,") + "]"
    case 1:
      return "{"
        + (0..<random.number(0...4)).map { index in
          "\"\(index)\(random.one(of: ["", "\u{e9}", "e\u{301}", "\\n"]))\":"
            + value(&random, depth: depth + 1)
        }.joined(separator: ",\n") + "}"
    case 2: return random.one(of: ["true", "false", "null", "1e2", "-0.0", "12.5e-1", "2E+0"])
    case 3: return "\(random.number(-9_007_199_254_740_992...9_007_199_254_740_992))"
    default:
      var writer = JSONWriter()
      writer.string(random.text(0...12))
      return String(decoding: writer.bytes, as: UTF8.self)
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `what is read, Foundation reads as the same, whatever was done to the text`(seed: UInt64)
    throws
  {
    var random = TestRandom(seed)
    var read = 0
    for _ in 0..<4_000 {
      var bytes = Array(Self.value(&random).utf8)
      for _ in 0..<(random.chance(60) ? random.number(0...3) : 0) {
        let place = random.number(0...bytes.count)
        if random.chance(70) {
          bytes.insert(contentsOf: random.one(of: Self.pieces), at: place)
        } else if place < bytes.count {
          bytes[place] = UInt8(random.number(0...255))
        }
      }
      let fault = JSONProperties.fault(in: bytes)
      try #require(fault == nil, TestRandom.replay)
      if JSONDocumentTests.error(bytes) == nil { read += 1 }
    }
    // Neither everything nor nothing.
    #expect((1_000...3_900).contains(read))
  }

  @Test(arguments: TestRandom.seeds)
  func `any bytes are read or refused, with a place within them`(seed: UInt64) throws {
    var random = TestRandom(seed)
    for _ in 0..<4_000 {
      let bytes = (0..<random.number(0...12)).flatMap { _ in random.one(of: Self.pieces) }
      guard let error = JSONDocumentTests.error(bytes) else { continue }
      try #require((0...bytes.count).contains(error.byteOffset), TestRandom.replay)
      try #require(error.line >= 1 && error.column >= 1, TestRandom.replay)
      let before = bytes[..<error.byteOffset]
      try #require(error.line == 1 + before.filter { $0 == 0x0a }.count, TestRandom.replay)
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `what the writer writes, the reader reads`(seed: UInt64) throws {
    var random = TestRandom(seed)
    for _ in 0..<2_000 {
      let text = random.text(0...40)
      var writer = JSONWriter()
      writer.array {
        $0.string(text)
        $0.integer(random.number(Int.min...Int.max))
      }
      let elements = try JSONDocument(writer.bytes).root.elements.map { $0 }
      try #require(elements[0].text?.utf8.elementsEqual(text.utf8) == true, TestRandom.replay)
      try #require(elements[1].wholeNumber != nil, TestRandom.replay)
    }
  }
}
