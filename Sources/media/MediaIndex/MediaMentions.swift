/// Finds the names of files in texts in any spelling: unencoded, percent-encoded, with the escapes of JSON,
/// with HTML's `&amp;`, or with several of these combined.
///
/// A name is found wherever it follows something other than a letter or digit, whatever the context. A name
/// that was found may belong to another file with the same name; one that was not found does not occur. Names
/// are distinguished by 64-bit hashes: two names with the same hash are found together.
package struct MediaMentions: Sendable {
  /// The maximum number of nested encodings.
  private static let rounds = 3

  private var hashes: Set<UInt64> = []
  private var found: Set<UInt64> = []
  /// Whether a name has this many bytes, and whether one begins with these two.
  private var lengths = [Bool](repeating: false, count: 256)
  private var starts = [Bool](repeating: false, count: 1 << 16)
  private var longest = 0

  /// Creates a search without names.
  package init() {}

  /// Adds a name to search for, of at most 255 bytes.
  package mutating func add(_ name: String) {
    let bytes = Array(name.utf8)
    guard !bytes.isEmpty, bytes.count < lengths.count else { return }
    hashes.insert(Self.hash(bytes))
    lengths[bytes.count] = true
    longest = max(longest, bytes.count)
    // For a name of one byte, any second byte.
    for second in bytes.count > 1 ? bytes[1]...bytes[1] : 0...255 {
      starts[Int(bytes[0]) << 8 | Int(second)] = true
    }
  }

  /// Whether the name was found in one of the texts.
  package func contains(_ name: String) -> Bool { found.contains(Self.hash(Array(name.utf8))) }

  /// Searches a text.
  package mutating func look(in text: [UInt8]) {
    search(text)
    var text = text
    for _ in 0..<Self.rounds {
      guard let simpler = Self.simplified(text) else { return }
      text = simpler
      search(text)
    }
  }

  private mutating func search(_ text: [UInt8]) {
    var isBehindWord = false
    for start in text.indices {
      defer { isBehindWord = text[start].isWord }
      let second = start + 1 < text.count ? text[start + 1] : 0
      guard !isBehindWord, starts[Int(text[start]) << 8 | Int(second)] else { continue }
      var hash = Self.basis
      for (index, byte) in text[start..<min(text.count, start + longest)].enumerated() {
        hash = (hash ^ UInt64(byte)) &* Self.prime
        if lengths[index + 1], hashes.contains(hash) { found.insert(hash) }
      }
    }
  }

  // FNV-1a, which can be extended byte by byte.
  private static let basis: UInt64 = 0xcbf2_9ce4_8422_2325
  private static let prime: UInt64 = 0x100_0000_01b3

  private static func hash(_ bytes: [UInt8]) -> UInt64 {
    bytes.reduce(basis) { ($0 ^ UInt64($1)) &* prime }
  }

  /// Returns the text with one layer of escapes removed; nil if it has none.
  private static func simplified(_ text: [UInt8]) -> [UInt8]? {
    guard text.contains(where: { $0 == .backslash || $0 == .percent || $0 == .ampersand }) else {
      return nil
    }
    var simple: [UInt8] = []
    simple.reserveCapacity(text.count)
    var index = 0
    func hexadecimal(_ range: Range<Int>) -> UInt32? {
      guard range.upperBound <= text.count else { return nil }
      return UInt32(String(decoding: text[range], as: UTF8.self), radix: 16)
    }
    while index < text.count {
      let rest = text[index...]
      if text[index] == .percent, let byte = hexadecimal(index + 1..<index + 3) {
        simple.append(UInt8(truncatingIfNeeded: byte))
        index += 3
      } else if rest.starts(with: "\\u".utf8), let unit = hexadecimal(index + 2..<index + 6) {
        var scalar = Unicode.Scalar(unit)
        index += 6
        // Two escapes encode a character beyond U+FFFF (RFC 8259 section 7).
        if (0xd800...0xdbff).contains(unit), text[index...].starts(with: "\\u".utf8),
          let low = hexadecimal(index + 2..<index + 6), (0xdc00...0xdfff).contains(low)
        {
          scalar = Unicode.Scalar(0x10000 + (unit - 0xd800) << 10 + (low - 0xdc00))
          index += 6
        }
        if let scalar { simple += Array(String(Character(scalar)).utf8) }
      } else if text[index] == .backslash, rest.count > 1 {
        simple.append(text[index + 1])
        index += 2
      } else if rest.starts(with: "&amp;".utf8) {
        simple.append(.ampersand)
        index += 5
      } else {
        simple.append(text[index])
        index += 1
      }
    }
    return simple == text ? nil : simple
  }
}

extension UInt8 {
  fileprivate static let backslash = UInt8(ascii: "\\")
  fileprivate static let percent = UInt8(ascii: "%")
  fileprivate static let ampersand = UInt8(ascii: "&")

  /// Whether it is a letter, a digit, or part of a non-ASCII character.
  fileprivate var isWord: Bool {
    (0x30...0x39).contains(self) || (0x41...0x5a).contains(self & 0xdf) || self >= 0x80
  }
}
