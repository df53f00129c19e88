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
