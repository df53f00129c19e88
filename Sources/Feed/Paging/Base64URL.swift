/// Base64 with the URL-safe alphabet and no padding, RFC 4648 section 5.
///
/// Foundation's has the other alphabet only and wants padding; a page writes three cursors, so the
/// detour over it would be paid three times a request.
enum Base64URL {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  private static let values: [UInt8] = {
    var values = [UInt8](repeating: .max, count: 256)
    for (value, letter) in alphabet.enumerated() { values[Int(letter)] = UInt8(value) }
    return values
  }()

  static func encode(_ bytes: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    text.append(addingCapacity: (bytes.count * 8 + 5) / 6) { text in
      alphabet.withUnsafeBufferPointer { alphabet in
        // Three bytes are four letters, and what is left is a letter more than its bytes.
        var source = 0
        func write(_ letters: Int, of bits: UInt32) {
          for letter in 0..<letters {
            text.append(alphabet[Int(bits >> UInt32(18 - 6 * letter) & 63)])
          }
        }
        while source + 3 <= bytes.count {
          let high = UInt32(bytes[source]) << 16
          write(4, of: high | UInt32(bytes[source + 1]) << 8 | UInt32(bytes[source + 2]))
          source += 3
        }
        switch bytes.count - source {
        case 1: write(2, of: UInt32(bytes[source]) << 16)
        case 2: write(3, of: UInt32(bytes[source]) << 16 | UInt32(bytes[source + 1]) << 8)
        default: break
        }
      }
    }
    return text
  }

  /// The bytes, or `nil` where the text is not the one that `encode` makes: unused bits must be zero,
  /// so that no two texts mean the same.
  static func decode(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count * 3 / 4)
    var buffer: UInt32 = 0
    var bits = 0
    for letter in text.utf8 {
      let value = values[Int(letter)]
      guard value != .max else { return nil }
      buffer = buffer << 6 | UInt32(value)
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
      }
    }
    guard bits < 6, buffer & (1 << UInt32(bits) - 1) == 0 else { return nil }
    return bytes
  }
}

/// The check sum of ISO 3309, as gzip and PNG have it: finds every damage of up to 32 bits in a row.
enum CRC32 {
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in
      value & 1 == 1 ? value >> 1 ^ 0xedb8_8320 : value >> 1
    }
  }

  static func checksum(_ bytes: Span<UInt8>) -> UInt32 {
    let table = table.span
    var value = UInt32.max
    for index in bytes.indices {
      value = value >> 8 ^ table[Int((value ^ UInt32(bytes[index])) & 0xff)]
    }
    return ~value
  }
}
