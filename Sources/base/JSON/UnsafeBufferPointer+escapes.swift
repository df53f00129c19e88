// The bytes that a JSON text must escape (RFC 8259 section 7): quotation marks, backslashes, and bytes below
// a space.

extension UnsafeBufferPointer<UInt8> {
  /// Copies the bytes in blocks of 16, up to the first block with a byte that must be escaped.
  ///
  /// - Parameter target: memory with room for all of the bytes.
  /// - Returns: the number of bytes copied, from the first on.
  @inline(__always)
  func copyPlain(to target: UnsafeMutableRawPointer) -> Int {
    guard let base = baseAddress else { return 0 }
    let bytes = UnsafeRawPointer(base)
    var index = 0
    while index + 16 <= count {
      guard bytes.copyPlain(SIMD16<UInt8>.self, at: index, to: target) else { return index }
      index += 16
    }
    // Copies the last bytes together with some before them, or as blocks that overlap: each block lies within
    // the bytes, and is copied to its own place.
    let rest = count - index
    let isPlain =
      if rest == 0 {
        true
      } else if index > 0 {
        bytes.copyPlain(SIMD16<UInt8>.self, at: count - 16, to: target)
      } else if rest >= 8 {
        bytes.copyPlain(UInt64.self, at: 0, to: target)
          && bytes.copyPlain(UInt64.self, at: count - 8, to: target)
      } else if rest >= 4 {
        bytes.copyPlain(UInt32.self, at: 0, to: target)
          && bytes.copyPlain(UInt32.self, at: count - 4, to: target)
      } else {
        bytes.copyPlain(UInt8.self, at: 0, to: target)
          && bytes.copyPlain(UInt8.self, at: rest / 2, to: target)
          && bytes.copyPlain(UInt8.self, at: count - 1, to: target)
      }
    return isPlain ? count : index
  }

  /// The index of the first byte from `start` on that must be escaped; `count` if there is none.
  public func firstToEscape(from start: Int) -> Int {
    guard let base = baseAddress else { return 0 }
    let bytes = UnsafeRawPointer(base)
    var index = start
    // Names and tags are short: mostly their end is in the first eight bytes.
    if index + 8 <= count {
      if let first = bytes.load(UInt64.self, at: index).firstToEscape { return index + first }
      index += 8
    }
    while index + 16 <= count {
      if let first = bytes.load(SIMD16<UInt8>.self, at: index).firstToEscape {
        return index + first
      }
      index += 16
    }
    if index + 8 <= count {
      if let first = bytes.load(UInt64.self, at: index).firstToEscape { return index + first }
      index += 8
    }
    if index < count, count >= 8 {
      // The last eight bytes, without those that were checked: zeros follow, which end the search.
      let rest =
        bytes.load(UInt64.self, at: count - 8).littleEndian >> UInt64(8 * (8 + index - count))
      return Swift.min(count, index + (rest.littleEndian.firstToEscape ?? count - index))
    }
    while index < count, !self[index].hasByteToEscape { index += 1 }
    return index
  }
}

/// A block of bytes that is checked as a whole.
private protocol Block: BitwiseCopyable {
  /// Whether one of them must be escaped.
  var hasByteToEscape: Bool { get }
}

// The caller ensures that the bytes exist.
extension UnsafeRawPointer {
  @inline(__always)
  fileprivate func load<Bytes: Block>(_: Bytes.Type, at index: Int) -> Bytes {
    (self + index).loadUnaligned(as: Bytes.self)
  }

  /// Copies the block, unless a byte of it must be escaped; returns whether it did.
  @inline(__always)
  fileprivate func copyPlain<Bytes: Block>(
    _: Bytes.Type, at index: Int, to target: UnsafeMutableRawPointer
  ) -> Bool {
    let block = load(Bytes.self, at: index)
    guard !block.hasByteToEscape else { return false }
    (target + index).storeBytes(of: block, as: Bytes.self)
    return true
  }
}

extension UInt8: Block {
  @inline(__always)
  fileprivate var hasByteToEscape: Bool {
    self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\")
  }
}

extension SIMD16<UInt8>: Block {
  private static var quotes: SIMD16<UInt8> { SIMD16(repeating: UInt8(ascii: "\"")) }
  private static var backslashes: SIMD16<UInt8> { SIMD16(repeating: UInt8(ascii: "\\")) }

  /// Whether one of the sixteen bytes must be escaped.
  @inline(__always)
  fileprivate var hasByteToEscape: Bool { toEscape.x | toEscape.y != 0 }

  /// The index of the first byte that must be escaped; nil if there is none.
  @inline(__always)
  fileprivate var firstToEscape: Int? {
    let (first, second) = (toEscape.x.littleEndian, toEscape.y.littleEndian)
    if first != 0 { return first.trailingZeroBitCount / 8 }
    return second != 0 ? 8 + second.trailingZeroBitCount / 8 : nil
  }

  /// A mask: all bits of each byte that must be escaped are set, and none of the others.
  @inline(__always)
  private var toEscape: SIMD2<UInt64> {
    unsafeBitCast(
      (self .< SIMD16(repeating: 0x20)) .| (self .== Self.quotes) .| (self .== Self.backslashes),
      to: SIMD2<UInt64>.self)
  }
}

extension UInt32: Block {
  @inline(__always)
  fileprivate var hasByteToEscape: Bool { (UInt64(self) | UInt64(self) << 32).hasByteToEscape }
}

extension UInt64: Block {
  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let highBits: UInt64 = 0x8080_8080_8080_8080

  /// Whether one of the eight bytes must be escaped. For a byte below 80, a difference has its high bit set
  /// if the byte was less than the subtrahend. The borrow of such a byte may set the high bit of a later one,
  /// but never the first.
  @inline(__always)
  fileprivate var hasByteToEscape: Bool { toEscape != 0 }

  /// The index of the first byte that must be escaped; nil if there is none.
  @inline(__always)
  fileprivate var firstToEscape: Int? {
    let first = littleEndian.toEscape
    return first != 0 ? first.trailingZeroBitCount / 8 : nil
  }

  /// The high bit of the first byte that must be escaped is set, and none before it.
  @inline(__always)
  private var toEscape: UInt64 {
    let below = self &- Self.ones &* 0x20
    let isQuote = (self ^ Self.ones &* UInt64(UInt8(ascii: "\""))) &- Self.ones
    let isBackslash = (self ^ Self.ones &* UInt64(UInt8(ascii: "\\"))) &- Self.ones
    return (below | isQuote | isBackslash) & ~self & Self.highBits
  }
}
