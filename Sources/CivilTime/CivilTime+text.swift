extension CivilTime {
  /// Appends the date and the time of day as RFC 3339 has them (section 5.6), without what follows the
  /// seconds: `2012-07-28T23:05:56`. Of a year that has not four digits, the last four.
  public func append(to bytes: inout [UInt8]) {
    bytes.append(year, digits: 4)
    bytes.append(UInt8(ascii: "-"))
    bytes.append(month, digits: 2)
    bytes.append(UInt8(ascii: "-"))
    bytes.append(day, digits: 2)
    bytes.append(UInt8(ascii: "T"))
    appendTimeOfDay(to: &bytes)
  }

  /// Appends the time of day: `23:05:56`.
  public func appendTimeOfDay(to bytes: inout [UInt8]) {
    bytes.append(hour, digits: 2)
    bytes.append(UInt8(ascii: ":"))
    bytes.append(minute, digits: 2)
    bytes.append(UInt8(ascii: ":"))
    bytes.append(second, digits: 2)
  }
}

extension [UInt8] {
  /// Appends the last so many decimal digits of a number, as ASCII.
  public mutating func append(_ number: Int, digits: Int) {
    if digits == 2 {
      let pair = UInt8(number.magnitude % 100)
      append(UInt8(ascii: "0") + pair / 10)
      append(UInt8(ascii: "0") + pair % 10)
      return
    }
    var divisor: UInt = 1
    for _ in 1..<digits { divisor *= 10 }
    while divisor > 0 {
      append(UInt8(ascii: "0") + UInt8(number.magnitude / divisor % 10))
      divisor /= 10
    }
  }
}
