/// Base64 with its usual alphabet and padding (RFC 4648 section 4), as ThumbHashes are written everywhere.
enum Base64 {
  fileprivate static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  /// What each letter stands for; 64 for what is none.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 64, count: 256)
    for (value, letter) in alphabet.enumerated() { values[Int(letter)] = UInt8(value) }
    return values
  }()
  fileprivate static let padding = UInt8(ascii: "=")

  /// How many letters so many bytes have.
  static func count(_ byteCount: Int) -> Int { (byteCount + 2) / 3 * 4 }

  static func encode(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8](capacity: count(bytes.count)) { $0.append(base64: bytes) }
  }

  /// The bytes; `nil` where the text is not the one that `encode` makes of them.
  static func decode(_ text: String) -> [UInt8]? {
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
    // Missing padding, or too much, and bits that are left over.
    return encode(bytes) == letters ? bytes : nil
  }
}

extension OutputSpan<UInt8> {
  /// Appends the bytes in Base64.
  mutating func append(base64 bytes: [UInt8]) {
    let alphabet = Base64.alphabet
    var start = 0
    while start < bytes.count {
      let count = min(3, bytes.count - start)
      var bits = 0
      for index in 0..<3 { bits = bits << 8 | (index < count ? Int(bytes[start + index]) : 0) }
      for letter in 0..<4 {
        append(letter <= count ? alphabet[bits >> (18 - 6 * letter) & 63] : Base64.padding)
      }
      start += 3
    }
  }
}
