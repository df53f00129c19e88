/// A date and time of day in UTC, by the proleptic Gregorian calendar: exact for every number of seconds
/// since 1970 that an `Int` can hold.
public struct CivilTime: Hashable, Sendable {
  /// The year; 0 is the year before 1.
  public let year: Int
  /// The month, 1 to 12.
  public let month: Int
  /// The day of the month, 1 to 31.
  public let day: Int
  /// The hour, 0 to 23.
  public let hour: Int
  /// The minute, 0 to 59.
  public let minute: Int
  /// The second, 0 to 59.
  public let second: Int
  /// The day of the week; 0 is Sunday.
  public let weekday: Int

  /// The time this number of seconds after 1970-01-01T00:00:00Z, by Howard Hinnant's `civil_from_days`: it
  /// uses eras of 400 years that begin on 1 March, so that a leap day is the last day of a year.
  public init(secondsSince1970 seconds: Int) {
    let (days, secondOfDay) = seconds.divided(by: 86_400)
    let (era, dayOfEra) = (days + Self.daysBefore1970).divided(by: Self.daysOfEra)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    hour = secondOfDay / 3600
    minute = secondOfDay / 60 % 60
    second = secondOfDay % 60
    weekday = (days + 4).divided(by: 7).remainder
  }

  /// The number of days from 1970-01-01 to a date, by Howard Hinnant's `days_from_civil`; nil if the date
  /// does not exist, or an `Int` cannot count its seconds.
  public static func daysSince1970(year: Int, month: Int, day: Int) -> Int? {
    guard years.contains(year), (1...12).contains(month),
      (1...days(inMonth: month, year: year)).contains(day)
    else { return nil }
    let monthFromMarch = month > 2 ? month - 3 : month + 9
    let (era, yearOfEra) = (month > 2 ? year : year - 1).divided(by: 400)
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * daysOfEra + dayOfEra - daysBefore1970
  }

  /// The number of days of a month, which is 1 to 12.
  public static func days(inMonth month: Int, year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The years of the first and the last second that an `Int` can count.
  private static let years = -292_277_022_657...292_277_026_596
  /// The number of days from 1 March of the year 0 to 1970-01-01.
  private static let daysBefore1970 = 719_468
  private static let daysOfEra = 146_097
}

extension Int {
  /// Divides, rounding down also below 0, so that times before 1970 fall on their day.
  fileprivate func divided(by divisor: Int) -> (quotient: Int, remainder: Int) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}

extension CivilTime {
  /// Appends the date and time in the format of RFC 3339 (section 5.6), up to the seconds:
  /// `2012-07-28T23:05:56`. If the year does not have four digits, appends its last four.
  public func append(to bytes: inout [UInt8]) {
    bytes.append(addingCapacity: Self.textBytes) { append(to: &$0) }
  }

  /// The number of bytes that `append(to:)` adds.
  public static let textBytes = 19

  /// Appends the date and time in the same format.
  public func append(to text: inout OutputSpan<UInt8>) {
    let lastOfYear = Int(year.magnitude % 10_000)
    text.append(count: Self.textBytes) { start in
      (start + 0).write(pair: lastOfYear / 100)
      (start + 2).write(pair: lastOfYear % 100)
      (start + 4).initialize(to: UInt8(ascii: "-"))
      (start + 5).write(pair: month)
      (start + 7).initialize(to: UInt8(ascii: "-"))
      (start + 8).write(pair: day)
      (start + 10).initialize(to: UInt8(ascii: "T"))
      writeTimeOfDay(to: start + 11)
    }
  }

  /// Appends the time of day: `23:05:56`.
  public func appendTimeOfDay(to bytes: inout [UInt8]) {
    bytes.append(addingCapacity: 8) { $0.append(count: 8, writeTimeOfDay) }
  }

  /// Writes eight bytes.
  private func writeTimeOfDay(to start: UnsafeMutablePointer<UInt8>) {
    start.write(pair: hour)
    (start + 2).initialize(to: UInt8(ascii: ":"))
    (start + 3).write(pair: minute)
    (start + 5).initialize(to: UInt8(ascii: ":"))
    (start + 6).write(pair: second)
  }
}

extension UnsafeMutablePointer<UInt8> {
  /// Writes the two decimal digits of a number below 100.
  @inline(__always)
  fileprivate func write(pair number: Int) {
    let number = UInt8(truncatingIfNeeded: number)
    initialize(to: UInt8(ascii: "0") &+ number / 10)
    (self + 1).initialize(to: UInt8(ascii: "0") &+ number % 10)
  }
}

extension OutputSpan<UInt8> {
  /// Appends `count` bytes, all of which `write` writes: one check of the capacity for a whole date.
  @inline(__always)
  fileprivate mutating func append(
    count: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Void
  ) {
    withUnsafeMutableBufferPointer { buffer, filled in
      precondition(count <= buffer.count - filled, "more than the capacity")
      guard let start = buffer.baseAddress else { return }
      write(start + filled)
      filled += count
    }
  }

  /// Appends the last `digits` decimal digits of a number, as ASCII.
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
  /// Appends the last `digits` decimal digits of a number, as ASCII.
  public mutating func append(_ number: Int, digits: Int) {
    append(addingCapacity: digits) { $0.append(number, digits: digits) }
  }
}
