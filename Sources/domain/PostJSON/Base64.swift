/// Base64 with the standard alphabet and padding (RFC 4648 section 4), the usual form of ThumbHashes.
package enum Base64 {
  private static let alphabet: StaticString =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

  /// Returns the letter for six bits.
  fileprivate static func letter(_ bits: Int) -> UInt8 {
    precondition(bits >= 0 && bits < 64, "more than six bits")
    return alphabet.utf8Start[bits]
  }

  /// The value of each letter; 64 for an invalid one.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 64, count: 256)
    for value in 0..<64 { values[Int(letter(value))] = UInt8(value) }
    return values
  }()
  fileprivate static let padding = UInt8(ascii: "=")

  /// Returns the number of letters for this many bytes.
  static func count(_ byteCount: Int) -> Int { (byteCount + 2) / 3 * 4 }

  /// Returns the bytes as Base64.
  package static func encode(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8](capacity: count(bytes.count)) { $0.append(base64: bytes) }
  }

  /// Decodes a text; `nil` if it is not what `encode` makes of the bytes.
  package static func decode(_ text: String) -> [UInt8]? {
    let letters = Array(text.utf8)
    var bytes: [UInt8] = []
    var (bits, count) = (0, 0)
    for letter in letters.prefix(while: { $0 != padding }) {
      let value = values[Int(letter)]
      guard value < 64 else { return nil }
      bits = (bits << 6 | Int(value)) & 0xffff
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> count))
      }
    }
    // Rejects missing or surplus padding, and nonzero unused bits.
    return encode(bytes) == letters ? bytes : nil
  }
}

extension OutputSpan<UInt8> {
  /// Appends the bytes in Base64.
  mutating func append(base64 bytes: [UInt8]) {
    var start = 0
    while start + 3 <= bytes.count {
      let bits = Int(bytes[start]) << 16 | Int(bytes[start + 1]) << 8 | Int(bytes[start + 2])
      append(Base64.letter(bits >> 18))
      append(Base64.letter(bits >> 12 & 63))
      append(Base64.letter(bits >> 6 & 63))
      append(Base64.letter(bits & 63))
      start += 3
    }
    guard start < bytes.count else { return }
    let hasTwo = start + 2 == bytes.count
    let bits = Int(bytes[start]) << 10 | (hasTwo ? Int(bytes[start + 1]) << 2 : 0)
    append(Base64.letter(bits >> 12))
    append(Base64.letter(bits >> 6 & 63))
    append(hasTwo ? Base64.letter(bits & 63) : Base64.padding)
    append(Base64.padding)
  }
}
