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

  /// Whether the bytes of `range` equal `text`, regardless of the case of ASCII letters; `text` must be lower
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

  /// The index of the first such byte from `start` on; `count` if there is none.
  func firstIndex(of byte: UInt8, from start: Int) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    var index = start
    while index + 8 <= count {
      // Checks eight bytes at once. A matching byte becomes 0, and then a borrow sets its high bit; the
      // borrow may set that of a later byte, but not of an earlier one.
      let rest =
        UInt64(
          littleEndian: self.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
        ^ ones &* UInt64(byte)
      let found = (rest &- ones) & ~rest & ones << 7
      if found != 0 { return index + found.trailingZeroBitCount / 8 }
      index += 8
    }
    while index < count, self[index] != byte { index += 1 }
    return index
  }

  /// A copy of the bytes of `range`.
  func copy(_ range: Range<Int>) -> [UInt8] {
    // The buffer does not leave the closure: `Array` copies its bytes.
    extracting(range).withUnsafeBufferPointer { Array($0) }
  }

  /// The bytes of `range` as text; invalid UTF-8 is replaced.
  func text(_ range: Range<Int>) -> String {
    // The buffer does not leave the closure: `String` copies its bytes.
    extracting(range).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
  }
}
