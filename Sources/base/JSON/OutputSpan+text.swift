/// Writes text in place, for parts of a document that occur many times on a page.
extension OutputSpan where Element == UInt8 {
  /// Appends the text, ASCII or UTF-8, verbatim.
  @inlinable @inline(__always)
  public mutating func append(_ text: StaticString) {
    // Both are constants, so this compiles to a few stores.
    append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends the bytes.
  @inlinable
  public mutating func append(_ bytes: Span<UInt8>) {
    bytes.withUnsafeBufferPointer { append($0) }
  }

  /// Appends the text in UTF-8, verbatim.
  @inlinable
  public mutating func append(string text: String) {
    var text = text
    text.withUTF8 { append($0) }
  }

  /// Appends a text in quotation marks; it must need no escapes.
  @inlinable
  public mutating func append(plain text: StaticString) {
    append(UInt8(ascii: "\""))
    append(text)
    append(UInt8(ascii: "\""))
  }

  @inlinable @inline(__always)
  mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
    withUnsafeMutableBufferPointer { buffer, count in
      precondition(bytes.count <= buffer.count - count, "more than the capacity")
      guard let start = buffer.baseAddress, let source = bytes.baseAddress else { return }
      // Behind the existing bytes, and within the capacity, which was just checked.
      (start + count).initialize(from: source, count: bytes.count)
      count += bytes.count
    }
  }

  /// Appends the name of a member, after a comma unless it is the first of its object. It must need no
  /// escapes.
  @inlinable @inline(__always)
  public mutating func append(key name: StaticString, isFirst: Bool = false) {
    if !isFirst { append(UInt8(ascii: ",")) }
    append(UInt8(ascii: "\""))
    append(name)
    append(UInt8(ascii: "\""))
    append(UInt8(ascii: ":"))
  }

  /// Appends a text in quotation marks. If one of its bytes must be escaped, appends only some of the bytes
  /// before that one, and no closing quotation mark.
  ///
  /// - Returns: the number of bytes of the text that were appended.
  @inline(__always)
  mutating func append(quoted text: UnsafeBufferPointer<UInt8>) -> Int {
    append(UInt8(ascii: "\""))
    let plain = withUnsafeMutableBufferPointer { buffer, count in
      precondition(text.count <= buffer.count - count, "more than the capacity")
      guard let start = buffer.baseAddress else { return 0 }
      // Behind the existing bytes, and within the capacity, which was just checked.
      let plain = text.copyPlain(to: UnsafeMutableRawPointer(start + count))
      count += plain
      return plain
    }
    if plain == text.count { append(UInt8(ascii: "\"")) }
    return plain
  }

  /// Appends all digits of the number in lower-case hexadecimal.
  @inlinable
  public mutating func append<Number: FixedWidthInteger & UnsignedInteger>(
    hexadecimal number: Number
  ) {
    let digits = Number.bitWidth / 4
    withUnsafeMutableBufferPointer { buffer, count in
      precondition(digits <= buffer.count - count, "more than the capacity")
      guard let start = buffer.baseAddress else { return }
      // From the last digit to the first, within the capacity, which was just checked.
      var rest = number
      for index in stride(from: digits, to: 0, by: -1) {
        let digit = UInt8(truncatingIfNeeded: rest) & 15
        (start + count + index - 1)
          .initialize(to: digit &+ (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10))
        rest &>>= 4
      }
      count += digits
    }
  }

  /// Appends a member after a comma, or nothing if the value is `nil`. Its name must need no escapes.
  @inlinable @inline(__always)
  public mutating func append(member name: StaticString, _ value: Int?) {
    guard let value else { return }
    append(key: name)
    append(decimal: value)
  }

  /// The maximum number of characters of a whole number.
  @inlinable public static var decimalCapacity: Int { 20 }

  /// Appends a whole number in decimal.
  @inlinable
  public mutating func append(decimal value: Int) {
    // Most weights and places have one digit.
    if 0..<10 ~= value { return append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value)) }
    if value < 0 { append(UInt8(ascii: "-")) }
    var rest = value.magnitude
    let length = rest.decimalDigits
    withUnsafeMutableBufferPointer { buffer, count in
      precondition(length <= buffer.count - count, "more than the capacity")
      guard let start = buffer.baseAddress else { return }
      // From the last digit to the first, two at a time, within the capacity, which was just checked.
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

/// The numbers below 100, with two digits each.
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
  /// The number of its decimal digits.
  @inlinable
  var decimalDigits: Int {
    var (digits, rest) = (0, self)
    while rest >= 100_000_000 {
      digits += 8
      rest /= 100_000_000
    }
    if rest < 10_000 {
      return digits + (rest < 100 ? rest < 10 ? 1 : 2 : rest < 1_000 ? 3 : 4)
    }
    return digits + (rest < 1_000_000 ? rest < 100_000 ? 5 : 6 : rest < 10_000_000 ? 7 : 8)
  }
}
