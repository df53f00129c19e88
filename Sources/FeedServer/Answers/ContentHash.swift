import CXXHash

/// What tells bytes from all others: XXH3 of 128 bits, the same on every machine.
struct ContentHash: Hashable, BitwiseCopyable, Sendable {
  let high: UInt64
  let low: UInt64

  /// The hash of the bytes.
  init(_ bytes: UnsafeRawBufferPointer) {
    let hash = lookahead_xxh3_128(bytes.baseAddress, bytes.count)
    (high, low) = (hash.high, hash.low)
  }

  /// The hash of the bytes.
  init(_ bytes: Span<UInt8>) {
    self = bytes.bytes.withUnsafeBytes { ContentHash($0) }
  }

  /// The hash of something whose parts begin and end where its bytes say: that of their hashes, in order.
  init(ofParts parts: [ContentHash]) {
    self = parts.withUnsafeBytes { ContentHash($0) }
  }

  /// In 32 digits.
  var hexadecimal: String {
    String(unsafeUninitializedCapacity: 32) { text in
      // Sixteen digits of four bits for each half.
      for index in 0..<16 {
        text[index] = Self.digit(high >> UInt64(60 - 4 * index))
        text[16 + index] = Self.digit(low >> UInt64(60 - 4 * index))
      }
      return 32
    }
  }

  /// In few characters, for what stands before something else.
  var short: String { String(high, radix: 36) + "-" + String(low, radix: 36) }

  private static func digit(_ bits: UInt64) -> UInt8 {
    let value = UInt8(truncatingIfNeeded: bits & 15)
    return value + (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
  }
}
