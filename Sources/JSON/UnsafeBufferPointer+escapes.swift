extension UnsafeBufferPointer<UInt8> {
  /// The index of the first byte that a JSON text must escape (RFC 8259 section 7): a quotation mark, a
  /// backslash, or what is below a space. `count` where there is none.
  @usableFromInline
  func firstToEscape(from start: Int) -> Int {
    guard let base = baseAddress else { return 0 }
    let bytes = UnsafeRawPointer(base)
    var index = start
    while index + 16 <= count, !bytes.block(at: index).hasByteToEscape { index += 16 }
    // The last bytes in one look with some of those before, or in two that overlap.
    let rest = count - index
    if rest < 16, isPlain(bytes, from: index, rest, behind: index - start) { return count }
    while index < count, !self[index].mustBeEscaped { index += 1 }
    return index
  }

  /// Whether the last bytes, fewer than sixteen, need no escape.
  ///
  /// - Parameter others: how many bytes before them do not.
  private func isPlain(
    _ bytes: UnsafeRawPointer, from index: Int, _ rest: Int, behind others: Int
  ) -> Bool {
    // Each look is at bytes from `index - others` up to `count`.
    if rest == 0 { return true }
    if others >= 16 { return !bytes.block(at: count - 16).hasByteToEscape }
    if rest >= 8 {
      return !bytes.word(at: index).hasByteToEscape && !bytes.word(at: count - 8).hasByteToEscape
    }
    if rest >= 4 {
      let (first, last) = (bytes.half(at: index), bytes.half(at: count - 4))
      return !(UInt64(first) | UInt64(last) << 32).hasByteToEscape
    }
    return !self[index].mustBeEscaped && !self[index + rest / 2].mustBeEscaped
      && !self[count - 1].mustBeEscaped
  }
}

// Bytes of which the caller knows that they are there.
extension UnsafeRawPointer {
  fileprivate func block(at index: Int) -> SIMD16<UInt8> {
    (self + index).loadUnaligned(as: SIMD16<UInt8>.self)
  }

  fileprivate func word(at index: Int) -> UInt64 { (self + index).loadUnaligned(as: UInt64.self) }

  fileprivate func half(at index: Int) -> UInt32 { (self + index).loadUnaligned(as: UInt32.self) }
}

extension UInt8 {
  fileprivate var mustBeEscaped: Bool {
    self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\")
  }
}

extension SIMD16<UInt8> {
  private static var quotes: SIMD16<UInt8> { SIMD16(repeating: UInt8(ascii: "\"")) }
  private static var backslashes: SIMD16<UInt8> { SIMD16(repeating: UInt8(ascii: "\\")) }

  /// One of the sixteen bytes must be escaped.
  @inline(__always)
  fileprivate var hasByteToEscape: Bool {
    let found =
      (self .< SIMD16(repeating: 0x20)) .| (self .== Self.quotes) .| (self .== Self.backslashes)
    // A mask has all bits of a lane set or none.
    let halves = unsafeBitCast(found, to: SIMD2<UInt64>.self)
    return halves.x | halves.y != 0
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
