/// Base64 with the URL-safe alphabet and no padding, RFC 4648 section 5.
///
/// Foundation only has the other alphabet, with padding. A page writes three cursors, so a conversion would
/// cost three times per request.
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

  /// Appends the encoded bytes.
  static func encode(_ bytes: Span<UInt8>, to text: inout [UInt8]) {
    let count = (bytes.count * 8 + 5) / 6
    text.append(addingCapacity: count) { output in
      output.withUnsafeMutableBufferPointer { output, written in
        bytes.withUnsafeBufferPointer { write($0, to: output) }
        // `write` has initialized all `count` letters.
        written = count
      }
    }
  }

  /// Fills `text`, whose capacity is exactly the encoded size.
  private static func write(
    _ bytes: UnsafeBufferPointer<UInt8>, to text: UnsafeMutableBufferPointer<UInt8>
  ) {
    // Six bits index one of the 64 letters.
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
    // The remaining bytes need one letter more than their number.
    guard source < bytes.count else { return }
    let last = source + 1 < bytes.count ? UInt32(bytes[source + 1]) << 8 : 0
    let bits = UInt32(bytes[source]) << 16 | last
    for index in 0...bytes.count - source {
      text.initializeElement(at: target + index, to: letter(bits, UInt32(18 - 6 * index)))
    }
  }

  /// Decodes a text, or returns `nil` if `encode` does not make it: unused bits must be zero, so that no
  /// two texts have the same meaning.
  static func decode(_ text: String) -> [UInt8]? {
    var text = text
    return text.withUTF8 { letters in
      // A single last letter has fewer bits than a byte.
      let rest = letters.count % 4
      guard rest != 1 else { return nil }
      let values = values.span
      // Only the value of an invalid letter has high bits: checked once, at the end.
      var allBits: UInt8 = 0
      // Returns the bits of up to four letters.
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
        // Writes the first `byteCount` of three bytes; the calls together write exactly the capacity.
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

/// The CRC-32 of ISO 3309, as in gzip and PNG: detects every burst error of up to 32 bits.
enum CRC32 {
  /// The remainders of single bytes; after them, those of a byte that one, two and three zeros follow.
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
    // Four bytes per step (slicing-by-4): the lookups of one step do not depend on each other.
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
