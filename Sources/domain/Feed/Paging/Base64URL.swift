/// Base64 with the URL-safe alphabet and no padding, RFC 4648 section 5.
///
/// Foundation's has the other alphabet only and wants padding; a page writes three cursors, so the
/// detour over it would be paid three times a request.
enum Base64URL {
  private static let alphabet: StaticString =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

  private static let values: [UInt8] = {
    var values = [UInt8](repeating: .max, count: 256)
    for value in 0..<alphabet.utf8CodeUnitCount {
      values[Int(alphabet.utf8Start[value])] = UInt8(value)
    }
    return values
  }()

  /// Appends the text of the bytes.
  static func encode(_ bytes: Span<UInt8>, to text: inout [UInt8]) {
    let count = (bytes.count * 8 + 5) / 6
    text.append(addingCapacity: count) { output in
      output.withUnsafeMutableBufferPointer { output, written in
        bytes.withUnsafeBufferPointer { write($0, to: output) }
        // As many letters as there is room for, which `write` has just filled.
        written = count
      }
    }
  }

  /// Fills the text, which has as many letters as the bytes need.
  private static func write(
    _ bytes: UnsafeBufferPointer<UInt8>, to text: UnsafeMutableBufferPointer<UInt8>
  ) {
    // Six bits choose one of the 64 letters that there are.
    func letter(_ bits: UInt32, _ shift: UInt32) -> UInt8 {
      alphabet.utf8Start[Int(bits >> shift & 63)]
    }
    var (source, target) = (0, 0)
    while source + 3 <= bytes.count {
      let high = UInt32(bytes[source]) << 16
      let bits = high | UInt32(bytes[source + 1]) << 8 | UInt32(bytes[source + 2])
      for index in 0..<4 {
        text.initializeElement(at: target + index, to: letter(bits, UInt32(18 - 6 * index)))
      }
      source += 3
      target += 4
    }
    // What is left is a letter more than its bytes.
    guard source < bytes.count else { return }
    let last = source + 1 < bytes.count ? UInt32(bytes[source + 1]) << 8 : 0
    let bits = UInt32(bytes[source]) << 16 | last
    for index in 0...bytes.count - source {
      text.initializeElement(at: target + index, to: letter(bits, UInt32(18 - 6 * index)))
    }
  }

  /// The bytes, or `nil` where the text is not the one that `encode` makes: unused bits must be zero,
  /// so that no two texts mean the same.
  static func decode(_ text: String) -> [UInt8]? {
    var text = text
    return text.withUTF8 { letters in
      // A last letter alone has not the bits of a byte.
      let rest = letters.count % 4
      guard rest != 1 else { return nil }
      let values = values.span
      // What is no letter is the only value with high bits: looked at once, at the end.
      var allBits: UInt8 = 0
      // The bits of four letters, of which the last ones may be missing.
      func bits(_ start: Int, _ count: Int) -> UInt32 {
        var bits: UInt32 = 0
        for index in 0..<count {
          let value = values[Int(letters[start + index])]
          allBits |= value
          bits |= UInt32(value & 63) << UInt32(18 - 6 * index)
        }
        return bits
      }
      var unusedBits: UInt32 = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: letters.count * 3 / 4) { bytes, count in
        // Writes the first this many bytes of three: as many in all as there is room for.
        func write(_ bits: UInt32, _ byteCount: Int) {
          for index in 0..<byteCount {
            let byte = UInt8(truncatingIfNeeded: bits >> UInt32(16 - 8 * index))
            bytes.initializeElement(at: count + index, to: byte)
          }
          count += byteCount
        }
        let wholeCount = letters.count - rest
        for start in stride(from: 0, to: wholeCount, by: 4) { write(bits(start, 4), 3) }
        guard rest > 0 else { return }
        let last = bits(wholeCount, rest)
        write(last, rest - 1)
        unusedBits = last << UInt32(8 * rest)
      }
      return allBits < 64 && unusedBits == 0 ? bytes : nil
    }
  }
}

/// The check sum of ISO 3309, as gzip and PNG have it: finds every damage of up to 32 bits in a row.
enum CRC32 {
  /// What a byte adds; behind that, what it adds with one, two and three zeros behind it.
  private static let table: [UInt32] = {
    var table: [UInt32] = (0..<256).map { byte in
      (0..<8).reduce(UInt32(byte)) { value, _ in
        value & 1 == 1 ? value >> 1 ^ 0xedb8_8320 : value >> 1
      }
    }
    for index in 0..<768 { table.append(table[index] >> 8 ^ table[Int(table[index] & 0xff)]) }
    return table
  }()

  static func checksum(_ bytes: Span<UInt8>) -> UInt32 {
    let table = table.span
    var value = UInt32.max
    var index = 0
    // Four bytes at a time, which wait for each other but once.
    while index + 4 <= bytes.count {
      value ^= UInt32(
        littleEndian: bytes.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt32.self))
      let low = table[768 + Int(value & 0xff)] ^ table[512 + Int(value >> 8 & 0xff)]
      value = low ^ table[256 + Int(value >> 16 & 0xff)] ^ table[Int(value >> 24)]
      index += 4
    }
    while index < bytes.count {
      value = value >> 8 ^ table[Int((value ^ UInt32(bytes[index])) & 0xff)]
      index += 1
    }
    return ~value
  }
}
