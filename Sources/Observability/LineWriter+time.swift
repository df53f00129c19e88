extension LineWriter {
  /// A time as RFC 3339 has it (section 5.6), UTC, with milliseconds: `2026-11-21T05:19:46.123Z`.
  ///
  /// Nanoseconds in 64 bits reach from the year 1677 to 2262.
  mutating func time(_ nanosecondsSince1970: Int) {
    let (seconds, nanoseconds) = Self.divide(nanosecondsSince1970, by: 1_000_000_000)
    let (days, second) = Self.divide(seconds, by: 86_400)
    let date = Self.date(days)
    digits(date.year, 4)
    syntax("-")
    digits(date.month, 2)
    syntax("-")
    digits(date.day, 2)
    syntax("T")
    digits(second / 3600, 2)
    syntax(":")
    digits(second / 60 % 60, 2)
    syntax(":")
    digits(second % 60, 2)
    syntax(".")
    digits(nanoseconds / 1_000_000, 3)
    syntax("Z")
  }

  private mutating func digits(_ number: Int, _ count: Int) {
    var divisor = count == 4 ? 1000 : count == 3 ? 100 : 10
    for _ in 0..<count {
      append(digit: number / divisor % 10)
      divisor /= 10
    }
  }

  /// Rounds down, also before 1970.
  private static func divide(_ number: Int, by divisor: Int) -> (quotient: Int, remainder: Int) {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }

  /// The Gregorian date of a day number (days since 1970-01-01), by Howard Hinnant's
  /// `civil_from_days`: eras of 400 years that start on the first of March.
  private static func date(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let (era, dayOfEra) = divide(days + 719_468, by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
}
