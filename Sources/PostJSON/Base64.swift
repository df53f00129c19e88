/// Base64 with its usual alphabet and padding (RFC 4648 section 4), as ThumbHashes are written everywhere.
enum Base64 {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  /// What each letter stands for; 64 for what is none.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 64, count: 256)
    for (value, letter) in alphabet.enumerated() { values[Int(letter)] = UInt8(value) }
    return values
  }()
  private static let padding = UInt8(ascii: "=")

  static func encode(_ bytes: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for letter in 0..<4 {
        text.append(
          letter <= group.count ? alphabet[bits >> (18 - 6 * letter) & 63] : padding)
      }
    }
    return text
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
