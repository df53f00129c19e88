/// Text that is written where it is to stand, for pieces of a document that come many times a page.
extension OutputSpan where Element == UInt8 {
  /// Appends the text, which is ASCII or UTF-8, as it is.
  @inlinable @inline(__always)
  public mutating func append(_ text: StaticString) {
    // Constants both: what is left of this is a few stores.
    append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends the bytes.
  @inlinable
  public mutating func append(_ bytes: Span<UInt8>) {
    bytes.withUnsafeBufferPointer { append($0) }
  }

  /// Appends the text in UTF-8, as it is.
  @inlinable
  public mutating func append(string text: String) {
    var text = text
    text.withUTF8 { append($0) }
  }

  @inlinable @inline(__always)
  mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
    withUnsafeMutableBufferPointer { buffer, count in
      precondition(bytes.count <= buffer.count - count, "more than the capacity")
      guard let start = buffer.baseAddress, let source = bytes.baseAddress else { return }
      // So many bytes behind the ones that are there: within the capacity, as just looked.
      (start + count).initialize(from: source, count: bytes.count)
      count += bytes.count
    }
  }

  /// Appends the number in hexadecimal: all its digits, in lower case.
  @inlinable
  public mutating func append<Number: FixedWidthInteger & UnsignedInteger>(
    hexadecimal number: Number
  ) {
    var position = Number.bitWidth
    while position > 0 {
      position -= 4
      let digit = UInt8(truncatingIfNeeded: number &>> Number(truncatingIfNeeded: position)) & 15
      append(digit &+ (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10))
    }
  }

  /// Appends a whole number in decimal, twenty characters at the most.
  @inlinable
  public mutating func append(decimal value: Int) {
    if value < 0 { append(UInt8(ascii: "-")) }
    var rest = value.magnitude
    let length = rest.decimalDigits
    withUnsafeMutableBufferPointer { buffer, count in
      precondition(length <= buffer.count - count, "more than the capacity")
      guard let start = buffer.baseAddress else { return }
      // From the last digit to the first, two at a time, within the capacity, as just looked.
      var position = start + count + length
      while rest >= 100 {
        let quotient = rest / 100
        position -= 2
        position.initialize(from: digitPairs + Int(2 * (rest - 100 * quotient)), count: 2)
        rest = quotient
      }
      if rest >= 10 {
        (position - 2).initialize(from: digitPairs + Int(2 * rest), count: 2)
      } else {
        (position - 1).initialize(to: UInt8(truncatingIfNeeded: rest) | 0x30)
      }
      count += length
    }
  }
}

/// The numbers below a hundred in two digits each.
@inlinable
var digitPairs: UnsafePointer<UInt8> {
  let pairs: StaticString = """
    00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748\
    49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697\
    9899
    """
  return pairs.utf8Start
}

extension UInt {
  /// How many digits it has in decimal.
  @inlinable
  var decimalDigits: Int {
    var (digits, rest) = (1, self)
    while rest >= 1000 {
      digits += 3
      rest /= 1000
    }
    return rest >= 100 ? digits + 2 : rest >= 10 ? digits + 1 : digits
  }
}
