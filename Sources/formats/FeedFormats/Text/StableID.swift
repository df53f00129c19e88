import CXXHash

/// Ids for posts without one, or whose id is a URL or unique only within its document: the same post gets the
/// same id whenever it is read.
enum StableID {
  /// The format's name and a 128-bit hash of the parts that identify the post; two posts
  /// do not collide by chance.
  static func make(_ format: FeedFormat, _ parts: String...) -> String {
    // No string contains this byte, so different lists of parts are different bytes.
    let bytes = Array(parts.map { Array($0.utf8) }.joined(separator: [0xff]))
    let hash = bytes.withUnsafeBytes { lookahead_xxh3_128($0.baseAddress, $0.count) }
    return "\(format.rawValue)-\(hex(hash.high))\(hex(hash.low))"
  }

  private static func hex(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// Whether an id is unique everywhere: a URI with a scheme (RFC 3986 section 3.1).
  static func isGlobal(_ id: String) -> Bool {
    guard let colon = id.utf8.firstIndex(of: UInt8(ascii: ":")), let first = id.utf8.first,
      first.isLetter
    else { return false }
    return id.utf8[..<colon].dropFirst().allSatisfy {
      $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-")
        || $0 == UInt8(ascii: ".")
    }
  }
}

extension UInt8 {
  /// Whether it is an ASCII letter.
  var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
  /// Whether it is an ASCII digit.
  var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
  /// Whether it is white space in JSON, XML and HTML.
  var isSpace: Bool { self == 0x20 || (0x09...0x0d).contains(self) && self != 0x0b }
  /// An ASCII capital letter in lower case; other bytes unchanged.
  var lowercased: UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
  }
}

extension StringProtocol {
  /// The text without surrounding white space; nil if nothing else is left.
  var trimmed: String? {
    let bytes = Array(utf8)
    guard let first = bytes.firstIndex(where: { !$0.isSpace }),
      let last = bytes.lastIndex(where: { !$0.isSpace })
    else { return nil }
    return String(decoding: bytes[first...last], as: UTF8.self)
  }

  /// The text with ASCII capital letters in lower case.
  var asciiLowercased: String { String(decoding: utf8.map(\.lowercased), as: UTF8.self) }
}
