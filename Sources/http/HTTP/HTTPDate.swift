import CivilTime

/// A date in the format of HTTP: IMF-fixdate (RFC 9110 section 5.6.7).
public enum HTTPDate {
  /// The seconds since 1970 that a date can express: its year has four digits.
  public static let secondsSince1970 = -62_167_219_200...253_402_300_799

  /// The date this number of seconds after 1970, for example `Sun, 06 Nov 1994 08:49:37 GMT`; clamped to the
  /// dates that the format can express.
  public static func format(secondsSince1970 seconds: Int) -> String {
    let time = CivilTime(secondsSince1970: clamped(seconds))
    var text = Array("\(weekdays[time.weekday]), ".utf8)
    text.append(time.day, digits: 2)
    text += " \(months[time.month - 1]) ".utf8
    text.append(time.year, digits: 4)
    text.append(UInt8(ascii: " "))
    time.appendTimeOfDay(to: &text)
    return String(decoding: text, as: UTF8.self) + " GMT"
  }

  static func clamped(_ seconds: Int) -> Int {
    min(max(seconds, secondsSince1970.lowerBound), secondsSince1970.upperBound)
  }

  static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
}

extension HTTPDate {
  /// The seconds since 1970 of a date in the format IMF-fixdate or in one of the two obsolete formats, RFC
  /// 850's and that of `asctime` (RFC 9110 section 5.6.7); nil if it has none of these formats, or does not
  /// exist.
  ///
  /// The grammar is applied strictly, including case. The name of the day may differ from that of the date.
  /// Second 60, which the grammar permits for leap seconds, is the first second of the next minute. A year of
  /// two digits is the latest year with these digits that is at most 50 years after now.
  public static func parse(_ text: some StringProtocol, nowSecondsSince1970: Int) -> Int? {
    let scanner = Scanner(rest: Substring(text).utf8)
    return fixdate(scanner) ?? rfc850(scanner, nowSecondsSince1970) ?? asctime(scanner)
  }

  /// `Sun, 06 Nov 1994 08:49:37 GMT`
  private static func fixdate(_ start: Scanner) -> Int? {
    var scanner = start
    guard scanner.index(in: weekdays) != nil, scanner.skip(", "),
      let day = scanner.number(digits: 2), scanner.skip(" "),
      let month = scanner.index(in: months), scanner.skip(" "),
      let year = scanner.number(digits: 4), scanner.skip(" "),
      let second = scanner.secondOfDay(), scanner.skip(" GMT"), scanner.rest.isEmpty
    else { return nil }
    return seconds(year: year, month: month + 1, day: day, second: second)
  }

  /// `Sunday, 06-Nov-94 08:49:37 GMT`
  private static func rfc850(_ start: Scanner, _ nowSecondsSince1970: Int) -> Int? {
    var scanner = start
    guard scanner.index(in: longWeekdays) != nil, scanner.skip(", "),
      let day = scanner.number(digits: 2), scanner.skip("-"),
      let month = scanner.index(in: months), scanner.skip("-"),
      let yearOfCentury = scanner.number(digits: 2), scanner.skip(" "),
      let second = scanner.secondOfDay(), scanner.skip(" GMT"), scanner.rest.isEmpty
    else { return nil }
    let now = CivilTime(secondsSince1970: clamped(nowSecondsSince1970))
    let secondOfToday = now.hour * 3600 + now.minute * 60 + now.second
    let lastYear = now.year + 50
    var year = lastYear - ((lastYear - yearOfCentury) % 100 + 100) % 100
    if year == lastYear, (month + 1, day, second) > (now.month, now.day, secondOfToday) {
      year -= 100
    }
    return seconds(year: year, month: month + 1, day: day, second: second)
  }

  /// `Sun Nov  6 08:49:37 1994`
  private static func asctime(_ start: Scanner) -> Int? {
    var scanner = start
    guard scanner.index(in: weekdays) != nil, scanner.skip(" "),
      let month = scanner.index(in: months), scanner.skip(" "),
      let day = scanner.number(digits: scanner.skip(" ") ? 1 : 2), scanner.skip(" "),
      let second = scanner.secondOfDay(), scanner.skip(" "),
      let year = scanner.number(digits: 4), scanner.rest.isEmpty
    else { return nil }
    return seconds(year: year, month: month + 1, day: day, second: second)
  }

  private static let longWeekdays = [
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
  ]

  private static func seconds(year: Int, month: Int, day: Int, second: Int) -> Int? {
    CivilTime.daysSince1970(year: year, month: month, day: day).map { $0 * 86_400 + second }
  }

  /// Parses a date from its front.
  private struct Scanner {
    var rest: Substring.UTF8View

    /// Skips `text` if it comes next; returns whether it did.
    mutating func skip(_ text: String) -> Bool {
      guard rest.starts(with: text.utf8) else { return false }
      rest = rest.dropFirst(text.utf8.count)
      return true
    }

    /// Skips one of the names, and returns its index. No name begins another.
    mutating func index(in names: [String]) -> Int? {
      for (index, name) in names.enumerated() where skip(name) { return index }
      return nil
    }

    /// Reads exactly this number of digits.
    mutating func number(digits count: Int) -> Int? {
      let digits = rest.prefix(count)
      guard digits.count == count, digits.allSatisfy(\.isDigit) else { return nil }
      rest = rest.dropFirst(count)
      return digits.reduce(0) { 10 * $0 + Int($1 - 0x30) }
    }

    /// Reads `time-of-day`, two digits each for hour, minute and second, and returns the second of the day.
    mutating func secondOfDay() -> Int? {
      guard let hour = number(digits: 2), hour < 24, skip(":"),
        let minute = number(digits: 2), minute < 60, skip(":"),
        let second = number(digits: 2), second <= 60
      else { return nil }
      return 3600 * hour + 60 * minute + second
    }
  }
}
