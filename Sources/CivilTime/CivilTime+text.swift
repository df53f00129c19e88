extension CivilTime {
  /// Appends the date and the time of day as RFC 3339 has them (section 5.6), without what follows the
  /// seconds: `2012-07-28T23:05:56`. Of a year that has not four digits, the last four.
  public func append(to bytes: inout [UInt8]) {
    bytes.append(addingCapacity: Self.textBytes) { append(to: &$0) }
  }

  /// How many bytes `append(to:)` adds.
  public static let textBytes = 19

  /// Appends the same.
  public func append(to text: inout OutputSpan<UInt8>) {
    text.append(pair: year.magnitude / 100)
    text.append(pair: year.magnitude)
    text.append(UInt8(ascii: "-"))
    text.append(pair: month.magnitude)
    text.append(UInt8(ascii: "-"))
    text.append(pair: day.magnitude)
    text.append(UInt8(ascii: "T"))
    appendTimeOfDay(to: &text)
  }

  /// Appends the time of day: `23:05:56`.
  public func appendTimeOfDay(to bytes: inout [UInt8]) {
    bytes.append(addingCapacity: 8) { appendTimeOfDay(to: &$0) }
  }

  private func appendTimeOfDay(to text: inout OutputSpan<UInt8>) {
    text.append(pair: hour.magnitude)
    text.append(UInt8(ascii: ":"))
    text.append(pair: minute.magnitude)
    text.append(UInt8(ascii: ":"))
    text.append(pair: second.magnitude)
  }
}

extension OutputSpan<UInt8> {
  /// Appends the last two decimal digits of a number.
  fileprivate mutating func append(pair number: UInt) {
    let pair = UInt8(number % 100)
    append(UInt8(ascii: "0") + pair / 10)
    append(UInt8(ascii: "0") + pair % 10)
  }

  /// Appends the last so many decimal digits of a number, as ASCII.
  @inlinable
  public mutating func append(_ number: Int, digits: Int) {
    var divisor: UInt = 1
    for _ in 1..<digits { divisor *= 10 }
    while divisor > 0 {
      append(UInt8(ascii: "0") + UInt8(number.magnitude / divisor % 10))
      divisor /= 10
    }
  }
}

extension [UInt8] {
  /// Appends the last so many decimal digits of a number, as ASCII.
  public mutating func append(_ number: Int, digits: Int) {
    append(addingCapacity: digits) { $0.append(number, digits: digits) }
  }
}
