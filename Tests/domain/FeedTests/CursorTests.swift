import Feed
import Foundation
import TestSupport
import Testing

struct CursorTests {
  static func anchor(_ random: inout TestRandom) -> Cursor.Anchor {
    switch random.number(0...4) {
    case 0: return .start
    case 1: return .end
    default:
      let key = random.once(in: 2) ? Int64.random(in: .min ... .max, using: &random) : 7
      return .position(Position(key: SortKey(rawValue: key), id: random.text(0...60)))
    }
  }

  static func view(_ random: inout TestRandom) -> Cursor.View {
    func ranking() -> Int {
      random.once(in: 3) ? random.number(0...Int.max) : random.number(0...300)
    }
    return switch random.number(0...2) {
    case 0: .ranking(ranking())
    case 1: .newer(than: ranking())
    default: .arrivals(from: ranking(), to: ranking())
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `any cursor reads back as itself, and is written as the same text`(seed: UInt64) throws {
    var random = TestRandom(seed)
    for _ in 0..<3_000 {
      let feed = random.text(0...20)
      let cursor = Cursor(
        feed: feed, view: Self.view(&random), anchor: Self.anchor(&random),
        seen: Self.anchor(&random))
      let read = try Cursor(text: cursor.text)
      try #require(read == cursor, TestRandom.replay)
      try #require(read.text == cursor.text, TestRandom.replay)
      let others = Self.text(of: try Self.content(of: cursor.text))
      try #require(others == cursor.text, TestRandom.replay)
      try #require(read.belongs(to: feed), TestRandom.replay)
      try #require(!read.belongs(to: feed + "x"), TestRandom.replay)
      // Opaque in a URL, without escapes.
      try #require(
        cursor.text.utf8.allSatisfy { Self.alphabet.contains($0) }, TestRandom.replay)
    }
  }

  static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  static let sample = Cursor(
    feed: "featured", view: .ranking(300),
    anchor: .position(Position(key: SortKey(rank: 5, publishedAt: nil), id: "xb\u{e9}")), seen: .end
  )

  /// What each byte means is a promise to the cursors that clients hold.
  @Test func `the text of version 1 is this one, on every machine`() throws {
    var bytes: [UInt8] = [1]
    // FNV-1a of "featured".
    bytes += [0xbe, 0x45, 0xae, 0xa6, 0xee, 0x3c, 0x75, 0x1b]
    bytes += [0, 0xac, 0x02]
    bytes += [2, 0, 0, 0, 0, 0, 0, 0, 5, 4, 0x78, 0x62, 0xc3, 0xa9]
    bytes += [1]
    #expect(Self.sample.text == Self.text(of: bytes))
    #expect(try Cursor(text: Self.text(of: bytes)) == Self.sample)
  }

  /// The text of these bytes with their check sum, made by other code than the cursor's.
  static func text(of content: [UInt8]) -> String {
    var sum = UInt32.max
    for byte in content {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xedb8_8320 : sum >> 1 }
    }
    let trailer = withUnsafeBytes(of: (~sum).bigEndian) { Array($0) }
    return Data(content + trailer).base64EncodedString()
      .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  static func content(of text: String) throws -> [UInt8] {
    let padding = String(repeating: "=", count: (4 - text.count % 4) % 4)
    let base64 = text.replacing("-", with: "+").replacing("_", with: "/") + padding
    return Array(try #require(Data(base64Encoded: base64)).dropLast(4))
  }

  // MARK: Damage

  static let damaged: [Cursor] = [
    sample,
    Cursor(feed: "", view: .newer(than: 1), anchor: .end, seen: .start),
    Cursor(
      feed: "videos", view: .arrivals(from: 1, to: 2),
      anchor: .position(Position(key: SortKey(rank: nil, publishedAt: .latest), id: "a")),
      seen: .position(Position(key: SortKey(rank: nil, publishedAt: nil), id: "xbfwb"))),
  ]

  /// The text as the reader takes it, or the error it gives.
  static func result(_ bytes: [UInt8]) -> Result<Cursor, CursorTextError> {
    let text = String(decoding: bytes, as: UTF8.self)
    return Result { () throws(CursorTextError) in try Cursor(text: text) }
  }

  @Test(arguments: damaged)
  func `a text with one character changed, lost or added is damaged`(_ cursor: Cursor) {
    let text = Array(cursor.text.utf8)
    let characters = Self.alphabet + Array("=+/ .%\n\0".utf8)
    var accepted: [String] = []
    func attempt(_ bytes: [UInt8]) {
      guard Self.result(bytes) != .failure(.damaged) else { return }
      accepted.append(String(decoding: bytes, as: UTF8.self))
    }
    for index in 0...text.count {
      for character in characters {
        attempt(text[..<index] + [character] + text[index...])
        guard index < text.count, text[index] != character else { continue }
        attempt(text[..<index] + [character] + text[(index + 1)...])
      }
      if index < text.count { attempt(Array(text[..<index]) + text[(index + 1)...]) }
    }
    #expect(accepted == [])
  }

  @Test(arguments: damaged) func `a text that was cut is damaged`(_ cursor: Cursor) {
    let text = Array(cursor.text.utf8)
    for length in 0..<text.count {
      #expect(Self.result(Array(text[..<length])) == .failure(.damaged))
      #expect(Self.result(Array(text[(text.count - length)...])) == .failure(.damaged))
    }
    #expect(Self.result(text + text) == .failure(.damaged))
  }

  @Test(arguments: [
    "", "A", "=", "AAAA", "AAAAAAAA", "xbfwb", "offset:3", "\u{e9}", "not a cursor",
  ])
  func `what never was a cursor is damaged`(_ text: String) {
    #expect(throws: CursorTextError.damaged) { try Cursor(text: text) }
  }

  @Test(arguments: [0, 2, 3, 255] as [UInt8])
  func `a cursor of another version is not called damaged`(version: UInt8) throws {
    var content = try Self.content(of: Self.sample.text)
    content[0] = version
    #expect(throws: CursorTextError.unknownVersion(Int(version))) {
      try Cursor(text: Self.text(of: content))
    }
  }

  /// What nobody's program wrote, but somebody made.
  struct Forgery: CustomTestStringConvertible {
    let testDescription: String
    let change: @Sendable (inout [UInt8]) -> Void

    init(_ name: String, _ change: @escaping @Sendable (inout [UInt8]) -> Void) {
      testDescription = name
      self.change = change
    }
  }

  static let forgeries = [
    Forgery("a view of no kind") { $0[9] = 3 },
    Forgery("an anchor of no kind") { $0[12] = 3 },
    Forgery("an id longer than the text") { $0[21] = 100 },
    Forgery("an id longer than any") { $0.replaceSubrange(21...21, with: [255, 255, 255, 127]) },
    Forgery("an id that is not UTF-8") { $0[24] = 0xff },
    Forgery("a ranking without an end") {
      $0.replaceSubrange(10...11, with: [UInt8](repeating: 255, count: 12))
    },
    Forgery("something behind the end") { $0.append(0) },
    Forgery("no second anchor") { $0.removeLast() },
    Forgery("no whole feed") { $0.removeLast($0.count - 5) },
  ]

  @Test(arguments: forgeries)
  func `a text with a right check sum and wrong content is damaged`(_ forgery: Forgery) throws {
    var content = try Self.content(of: Self.sample.text)
    #expect(try Cursor(text: Self.text(of: content)) == Self.sample)
    forgery.change(&content)
    #expect(throws: CursorTextError.damaged) { try Cursor(text: Self.text(of: content)) }
  }

  @Test func `a cursor belongs to its feed alone`() throws {
    let names = ["", "a", "b", "featured", "Featured", "featured ", "\u{e9}", "e\u{301}"]
    for name in names {
      let cursor = Cursor(feed: name, view: .ranking(1), anchor: .start, seen: .start)
      for other in names {
        #expect(cursor.belongs(to: other) == name.utf8.elementsEqual(other.utf8))
      }
    }
  }
}
