extension Span where Element == UInt8 {
  /// Whether the bytes of `range` are exactly `text`.
  func equals(_ range: Range<Int>, _ text: StaticString) -> Bool {
    guard range.count == text.utf8CodeUnitCount else { return false }
    return text.withUTF8Buffer { expected in
      for offset in 0..<expected.count where self[range.lowerBound + offset] != expected[offset] {
        return false
      }
      return true
    }
  }

  /// Whether the bytes of `range` are `text` but for the case of ASCII letters; `text` is lower
  /// case.
  func equalsIgnoringCase(_ range: Range<Int>, _ text: StaticString) -> Bool {
    guard range.count == text.utf8CodeUnitCount else { return false }
    return text.withUTF8Buffer { expected in
      for offset in 0..<expected.count
      where self[range.lowerBound + offset].asciiLowercased != expected[offset] {
        return false
      }
      return true
    }
  }

  /// A copy of the bytes of `range`.
  func copy(_ range: Range<Int>) -> [UInt8] {
    // The buffer does not leave the closure: `Array` copies it.
    extracting(range).withUnsafeBufferPointer { Array($0) }
  }

  /// The bytes of `range` as text; what is not UTF-8 is replaced.
  func text(_ range: Range<Int>) -> String {
    // The buffer does not leave the closure: `String` copies it.
    extracting(range).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
  }
}
