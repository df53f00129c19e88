extension UnsafeBufferPointer<UInt8> {
  /// The index of the first byte that a JSON text must escape (RFC 8259 section 7): a quotation mark, a
  /// backslash, or what is below a space. `count` where there is none.
  func firstToEscape(from start: Int) -> Int {
    var index = start
    while index + 8 <= count {
      if word(at: index).hasByteToEscape { break }
      index += 8
    }
    // The last bytes in one look with some of those before.
    if index + 8 > count, count - start >= 8, !word(at: count - 8).hasByteToEscape { return count }
    while index < count, !self[index].mustBeEscaped { index += 1 }
    return index
  }

  /// Eight bytes, of which the caller knows that they are there.
  private func word(at index: Int) -> UInt64 {
    UnsafeRawPointer(baseAddress! + index).loadUnaligned(as: UInt64.self)
  }
}

extension UInt8 {
  fileprivate var mustBeEscaped: Bool {
    self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\")
  }
}

extension UInt64 {
  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let highBits: UInt64 = 0x8080_8080_8080_8080

  /// One of the eight bytes must be escaped. Of a byte below 80, a difference has its high bit set if the byte
  /// was less than what was taken from it; behind such a byte a borrow may set another one, but never the first.
  fileprivate var hasByteToEscape: Bool {
    let below = self &- Self.ones &* 0x20
    let isQuote = (self ^ Self.ones &* UInt64(UInt8(ascii: "\""))) &- Self.ones
    let isBackslash = (self ^ Self.ones &* UInt64(UInt8(ascii: "\\"))) &- Self.ones
    return (below | isQuote | isBackslash) & ~self & Self.highBits != 0
  }
}
