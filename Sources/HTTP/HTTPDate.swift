/// A date as HTTP writes it: IMF-fixdate (RFC 9110 section 5.6.7).
public enum HTTPDate {
  /// The seconds since 1970 that a date can tell: its year has four digits.
  public static let secondsSince1970 = -62_167_219_200...253_402_300_799

  /// The date of so many seconds after 1970, for example `Sun, 06 Nov 1994 08:49:37 GMT`; the first or
  /// last one for seconds that no date can tell.
  public static func format(secondsSince1970 seconds: Int) -> String {
    let seconds = clamped(seconds)
    let (day, second) = daysAndSeconds(seconds)
    let date = civil(day)
    let weekday = weekdays[((day + 4) % 7 + 7) % 7]
    return "\(weekday), \(two(date.day)) \(months[date.month - 1]) \(four(date.year)) "
      + "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60)) GMT"
  }

  static func clamped(_ seconds: Int) -> Int {
    min(max(seconds, secondsSince1970.lowerBound), secondsSince1970.upperBound)
  }

  static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The day number (days since 1970-01-01) and the second of that day.
  static func daysAndSeconds(_ seconds: Int) -> (days: Int, second: Int) {
    let days = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
    return (days, seconds - days * 86_400)
  }

  /// The proleptic Gregorian date of a day number (days since 1970-01-01), by Howard Hinnant's
  /// `civil_from_days`: eras of 400 years that start on the first of March.
  static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }

  /// The day number of a proleptic Gregorian date, by Howard Hinnant's `days_from_civil`; nil if
  /// there is no such date.
  static func days(year: Int, month: Int, day: Int) -> Int? {
    let shiftedYear = month <= 2 ? year - 1 : year
    let shiftedMonth = month <= 2 ? month + 9 : month - 3
    let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
    let yearOfEra = shiftedYear - era * 400
    let dayOfYear = (153 * shiftedMonth + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    let days = era * 146_097 + dayOfEra - 719_468
    return civil(days) == (year, month, day) ? days : nil
  }

  private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  private static func four(_ number: Int) -> String {
    let text = "\(number)"
    return String(repeating: "0", count: max(0, 4 - text.count)) + text
  }
}
