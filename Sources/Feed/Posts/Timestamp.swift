/// An instant in UTC, to the microsecond.
///
/// Reads and writes the internet date and time format, RFC 3339 section 5.6. The civil-date
/// arithmetic is the proleptic Gregorian calendar's, so no time zone data base or clock is needed.
public struct Timestamp: Hashable, Comparable, Sendable {
  /// Microseconds since 1970-01-01T00:00:00Z; negative before.
  public let microseconds: Int64

  /// The instant that many microseconds after 1970-01-01T00:00:00Z.
  public init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  /// Whether the left one is earlier.
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.microseconds < right.microseconds
  }
}

/// Why a text is not a time of RFC 3339.
public enum TimestampError: Error, Equatable, Sendable {
  /// The text has not the form `2012-07-28T23:05:56Z`.
  case malformed
  /// A month, day, hour, minute, second or offset is out of its range.
  case outOfRange(String)
  /// A digit other than 0 behind the ninth after the second: no clock that is read here has such.
  case tooPrecise
}

extension Timestamp {
  /// Reads `2012-07-28T23:05:56Z`, `2012-07-28T23:05:56.250+02:00`: any offset, up to nine digits of
  /// fraction and zeros behind them. The seventh to ninth, which .NET and Go write, are rounded down: to
  /// the microsecond that had begun, before 1970 as after it.
  ///
  /// - Throws: `TimestampError`. A leap second (`:60`) is out of range: no later arithmetic here
  ///   could tell it from the next second.
  public init(rfc3339 text: some StringProtocol) throws(TimestampError) {
    var scanner = DigitScanner(Array(text.utf8))
    let year = try scanner.number(digits: 4)
    try scanner.expect("-")
    let month = try scanner.number(digits: 2)
    try scanner.expect("-")
    let day = try scanner.number(digits: 2)
    try scanner.expect("T", or: "t")
    let hour = try scanner.number(digits: 2)
    try scanner.expect(":")
    let minute = try scanner.number(digits: 2)
    try scanner.expect(":")
    let second = try scanner.number(digits: 2)
    let fraction = try scanner.fractionMicroseconds()
    let offsetMinutes = try scanner.offsetMinutes()
    try scanner.expectEnd()

    guard (1...12).contains(month) else { throw .outOfRange("month \(month)") }
    guard day >= 1, day <= Self.days(inMonth: month, year: year) else {
      throw .outOfRange("day \(day)")
    }
    guard hour < 24 else { throw .outOfRange("hour \(hour)") }
    guard minute < 60 else { throw .outOfRange("minute \(minute)") }
    guard second < 60 else { throw .outOfRange("second \(second)") }

    let days = Self.daysSinceEpoch(year: year, month: month, day: day)
    let seconds = ((days * 24 + hour) * 60 + minute - offsetMinutes) * 60 + second
    self.init(microseconds: Int64(seconds) * 1_000_000 + Int64(fraction))
    guard (Self.earliest...Self.latest).contains(self) else { throw .outOfRange("year") }
  }

  /// 0000-01-01T00:00:00Z, the first instant that RFC 3339 can write.
  public static let earliest = Timestamp(microseconds: -62_167_219_200_000_000)
  /// 9999-12-31T23:59:59.999999Z, the last instant that RFC 3339 can write.
  public static let latest = Timestamp(microseconds: 253_402_300_799_999_999)

  /// `2012-07-28T23:05:56Z`; with a fraction of three or six digits where there is one. Outside
  /// `earliest` and `latest` there is no such form.
  public var rfc3339: String {
    String(decoding: rfc3339UTF8, as: UTF8.self)
  }

  /// The bytes of `rfc3339`, all ASCII.
  public var rfc3339UTF8: [UInt8] {
    let secondsTotal = microseconds.flooredQuotient(dividingBy: 1_000_000)
    let fraction = Int(microseconds - secondsTotal * 1_000_000)
    let days = Int(secondsTotal.flooredQuotient(dividingBy: 86_400))
    let secondOfDay = Int(secondsTotal) - days * 86_400
    let (year, month, day) = Self.civil(daysSinceEpoch: days)

    var bytes: [UInt8] = []
    bytes.reserveCapacity(27)
    func append(_ value: Int, digits: Int) {
      var divisor = 1
      for _ in 1..<digits { divisor *= 10 }
      while divisor > 0 {
        bytes.append(UInt8(48 + value / divisor % 10))
        divisor /= 10
      }
    }
    append(year, digits: 4)
    bytes.append(UInt8(ascii: "-"))
    append(month, digits: 2)
    bytes.append(UInt8(ascii: "-"))
    append(day, digits: 2)
    bytes.append(UInt8(ascii: "T"))
    append(secondOfDay / 3600, digits: 2)
    bytes.append(UInt8(ascii: ":"))
    append(secondOfDay / 60 % 60, digits: 2)
    bytes.append(UInt8(ascii: ":"))
    append(secondOfDay % 60, digits: 2)
    if fraction != 0 {
      bytes.append(UInt8(ascii: "."))
      if fraction % 1000 == 0 {
        append(fraction / 1000, digits: 3)
      } else {
        append(fraction, digits: 6)
      }
    }
    bytes.append(UInt8(ascii: "Z"))
    return bytes
  }

  private static func isLeap(_ year: Int) -> Bool {
    (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
  }

  private static func days(inMonth month: Int, year: Int) -> Int {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Days from 1970-01-01. Years are counted from March, so that a leap day is a year's last.
  private static func daysSinceEpoch(year: Int, month: Int, day: Int) -> Int {
    let shifted = month > 2 ? year : year - 1
    let era = Int64(shifted).flooredQuotient(dividingBy: 400)
    let yearOfEra = shifted - Int(era) * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return Int(era) * 146_097 + dayOfEra - 719_468
  }

  private static func civil(daysSinceEpoch days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = Int(Int64(shifted).flooredQuotient(dividingBy: 146_097))
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }
}

extension Int64 {
  /// The quotient rounded towards minus infinity, so that instants before 1970 fall on their day.
  fileprivate func flooredQuotient(dividingBy divisor: Int64) -> Int64 {
    let quotient = self / divisor
    return self % divisor < 0 ? quotient - 1 : quotient
  }
}

/// Reads the fixed-width fields of a time.
private struct DigitScanner {
  let bytes: [UInt8]
  var position = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  private var next: UInt8? {
    position < bytes.count ? bytes[position] : nil
  }

  mutating func number(digits: Int) throws(TimestampError) -> Int {
    var value = 0
    for _ in 0..<digits {
      guard let byte = next, byte >= 48, byte <= 57 else { throw .malformed }
      value = value * 10 + Int(byte - 48)
      position += 1
    }
    return value
  }

  mutating func expect(_ scalar: Unicode.Scalar, or other: Unicode.Scalar? = nil)
    throws(TimestampError)
  {
    guard let byte = next,
      byte == UInt8(ascii: scalar) || other.map({ UInt8(ascii: $0) }) == byte
    else { throw .malformed }
    position += 1
  }

  func expectEnd() throws(TimestampError) {
    guard position == bytes.count else { throw .malformed }
  }

  mutating func fractionMicroseconds() throws(TimestampError) -> Int {
    guard next == UInt8(ascii: ".") else { return 0 }
    position += 1
    var value = 0
    var digits = 0
    while let byte = next, byte >= 48, byte <= 57 {
      position += 1
      digits += 1
      if digits <= 6 {
        value = value * 10 + Int(byte - 48)
      } else if digits > 9, byte != 48 {
        throw .tooPrecise
      }
    }
    guard digits > 0 else { throw .malformed }
    while digits < 6 {
      value *= 10
      digits += 1
    }
    return value
  }

  mutating func offsetMinutes() throws(TimestampError) -> Int {
    guard let byte = next else { throw .malformed }
    position += 1
    switch byte {
    case UInt8(ascii: "Z"), UInt8(ascii: "z"): return 0
    case UInt8(ascii: "+"), UInt8(ascii: "-"):
      let hours = try number(digits: 2)
      try expect(":")
      let minutes = try number(digits: 2)
      guard hours < 24, minutes < 60 else { throw .outOfRange("offset") }
      return (byte == UInt8(ascii: "-") ? -1 : 1) * (hours * 60 + minutes)
    default: throw .malformed
    }
  }
}
