import CXXHash

/// Ids for posts that have none, or one that is a URL or stands for itself only within its document: the
/// same for the same post, whenever it is read.
enum StableID {
  /// The format's name, and the hash of what tells the post from others: 128 bits, in which no two posts
  /// meet by chance.
  static func make(_ format: FeedFormat, _ parts: String...) -> String {
    // No text holds this byte, so that no two lists of parts are the same bytes.
    let bytes = Array(parts.map { Array($0.utf8) }.joined(separator: [0xff]))
    let hash = bytes.withUnsafeBytes { lookahead_xxh3_128($0.baseAddress, $0.count) }
    return "\(format.rawValue)-\(hex(hash.high))\(hex(hash.low))"
  }

  private static func hex(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// Whether an id says what it is of everywhere: a URI with a scheme (RFC 3986 section 3.1).
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
  /// A letter of ASCII.
  var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
  /// A digit of ASCII.
  var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
  /// White space of JSON, XML and HTML.
  var isSpace: Bool { self == 0x20 || (0x09...0x0d).contains(self) && self != 0x0b }
  /// A capital letter of ASCII as a small one; others as they are.
  var lowercased: UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
  }
}

extension StringProtocol {
  /// Without the white space around it; nil where nothing else is there.
  var trimmed: String? {
    let bytes = Array(utf8)
    guard let first = bytes.firstIndex(where: { !$0.isSpace }),
      let last = bytes.lastIndex(where: { !$0.isSpace })
    else { return nil }
    return String(decoding: bytes[first...last], as: UTF8.self)
  }

  /// With the capital letters of ASCII as small ones.
  var asciiLowercased: String { String(decoding: utf8.map(\.lowercased), as: UTF8.self) }
}
