import Feed

/// What must hold of a cursor, whatever text it is read from.
enum CursorProperties {
  /// What does not hold, as a sentence.
  ///
  /// The input is a text where its first byte is `t`. Otherwise it is what a text holds, and gets
  /// the check sum that a fuzzer would not find: forgeries.
  static func fault(in input: [UInt8]) -> String? {
    let input = FuzzInput(input)
    let text =
      input.choice == UInt8(ascii: "t")
      ? String(decoding: input.content, as: UTF8.self) : base64URL(input.content.sealed)
    guard let cursor = try? Cursor(text: text) else { return nil }
    guard cursor.text == text else {
      return "\(text) is written anew as \(cursor.text)"
    }
    guard let again = try? Cursor(text: cursor.text), again == cursor else {
      return "\(cursor) is not read back from \(cursor.text)"
    }
    let rankings = cursor.rankings(beside: -1)
    return rankings.allSatisfy { $0 >= 0 } ? nil : "\(cursor) has a ranking below zero"
  }

  /// RFC 4648 section 5, a second time: by numbers of all bits, slowly.
  private static func base64URL(_ bytes: [UInt8]) -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    let bits: [Int] = bytes.flatMap { byte in (0..<8).map { Int(byte >> (7 - $0) & 1) } }
    return String(
      stride(from: 0, to: bits.count, by: 6).map { (start: Int) -> Character in
        let six = bits[start..<min(start + 6, bits.count)]
        return letters[six.reduce(0) { $0 << 1 | $1 } << (6 - six.count)]
      })
  }
}

extension [UInt8] {
  /// The bytes with their CRC-32 (ISO 3309), computed bit by bit.
  fileprivate var sealed: [UInt8] {
    var sum = UInt32.max
    for byte in self {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xedb8_8320 : sum >> 1 }
    }
    return self + (0..<4).map { UInt8(truncatingIfNeeded: ~sum >> UInt32(24 - 8 * $0)) }
  }
}
