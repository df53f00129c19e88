/// Text that is written where it is to stand, for pieces of a document that come many times a page.
extension OutputSpan where Element == UInt8 {
  /// Appends the text, which is ASCII or UTF-8, as it is.
  @inlinable
  public mutating func append(_ text: StaticString) {
    text.withUTF8Buffer { text in
      withUnsafeMutableBufferPointer { buffer, count in
        precondition(text.count <= buffer.count - count, "more than the capacity")
        // So many bytes behind the ones that are there: within the capacity, as just looked.
        for index in 0..<text.count {
          buffer.initializeElement(at: count &+ index, to: text[index])
        }
        count += text.count
      }
    }
  }

  /// Appends a whole number in decimal, twenty characters at the most.
  @inlinable
  public mutating func append(decimal value: Int) {
    if value < 0 { append(UInt8(ascii: "-")) }
    append(magnitude: value.magnitude)
  }

  /// Eight digits fit a register, where they are collected from the last to the first.
  @inlinable
  mutating func append(magnitude: UInt) {
    var rest = magnitude
    if rest >= 100_000_000 {
      append(magnitude: rest / 100_000_000)
      rest = rest % 100_000_000 + 100_000_000
    }
    var digits: UInt64 = 0
    var count = 0
    // A leading one stands for the zeros behind the higher digits, and is not written.
    while rest > 0, count < 8 {
      digits = digits << 8 | UInt64(rest % 10) | 0x30
      rest /= 10
      count += 1
    }
    if count == 0 { return append(UInt8(ascii: "0")) }
    for _ in 0..<count {
      append(UInt8(truncatingIfNeeded: digits))
      digits >>= 8
    }
  }
}
