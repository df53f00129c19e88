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

  /// Appends a text in quotation marks, in which nothing must be escaped.
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
      // This many bytes behind those that are there: within the capacity, as just looked.
      (start + count).initialize(from: source, count: bytes.count)
      count += bytes.count
    }
  }

  /// Appends the name of a member behind a comma, unless it is its object's first. It must need no escape.
  @inlinable @inline(__always)
  public mutating func append(key name: StaticString, isFirst: Bool = false) {
    if !isFirst { append(UInt8(ascii: ",")) }
    append(UInt8(ascii: "\""))
    append(name)
    append(UInt8(ascii: "\""))
    append(UInt8(ascii: ":"))
  }

  /// Appends a text in quotation marks, or where a byte of it must be escaped, some of the bytes before that,
  /// without the closing one.
  ///
  /// - Returns: how many bytes of the text were appended.
  @inline(__always)
  mutating func append(quoted text: UnsafeBufferPointer<UInt8>) -> Int {
    append(UInt8(ascii: "\""))
    let plain = withUnsafeMutableBufferPointer { buffer, count in
      precondition(text.count <= buffer.count - count, "more than the capacity")
      guard let start = buffer.baseAddress else { return 0 }
      // Behind the bytes that are there, within the capacity, as just looked.
      let plain = text.copyPlain(to: UnsafeMutableRawPointer(start + count))
      count += plain
      return plain
    }
    if plain == text.count { append(UInt8(ascii: "\"")) }
    return plain
  }

  /// Appends the number in hexadecimal: all its digits, in lower case.
  @inlinable
  public mutating func append<Number: FixedWidthInteger & UnsignedInteger>(
    hexadecimal number: Number
  ) {
    let digits = Number.bitWidth / 4
    withUnsafeMutableBufferPointer { buffer, count in
      precondition(digits <= buffer.count - count, "more than the capacity")
      guard let start = buffer.baseAddress else { return }
      // From the last digit to the first, within the capacity, as just looked.
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

  /// Appends a member behind others, left out where the value is unknown. Its name must need no escape.
  @inlinable @inline(__always)
  public mutating func append(member name: StaticString, _ value: Int?) {
    guard let value else { return }
    append(key: name)
    append(decimal: value)
  }

  /// How many characters a whole number has at the most.
  @inlinable public static var decimalCapacity: Int { 20 }

  /// Appends a whole number in decimal.
  @inlinable
  public mutating func append(decimal value: Int) {
    // As most weights and places are.
    if 0..<10 ~= value { return append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value)) }
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
