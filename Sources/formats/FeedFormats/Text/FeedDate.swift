import CivilTime
import Feed

/// Times in the forms that feeds use.
enum FeedDate {
  /// Parses a time: of RFC 3339; as databases print it, with or without seconds and a zone; of RFC 822 as in
  /// RSS, with a year of two or four digits; or a number of seconds, milliseconds or microseconds since 1970.
  /// Returns nil for any other text.
  ///
  /// - Parameter zone: the time zone of times without one.
  static func time(_ text: String, _ zone: LocalTimeZone) -> Timestamp? {
    (try? Timestamp(rfc3339: text)) ?? databaseTime(text, zone) ?? number(text)
      ?? internetMessageTime(text, zone)
  }

  /// The time this number of seconds after 1970; nil if RFC 3339 cannot express it.
  static func time(secondsSince1970 seconds: Double?) -> Timestamp? {
    guard let seconds, let microseconds = Int64(exactly: (seconds * 1_000_000).rounded(.down))
    else {
      return nil
    }
    return checked(microseconds)
  }

  /// Parses a number since 1970: of seconds up to the year 5138, above that of milliseconds (from 1973 on),
  /// above those of microseconds.
  private static func number(_ text: String) -> Timestamp? {
    let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
    let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count),
      parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(\.isDigit) }),
      parts[0].utf8.count <= 17, let number = Double(text)
    else { return nil }
    switch number.magnitude {
    case ..<1e11: return time(secondsSince1970: number)
    case ..<1e14: return time(secondsSince1970: number / 1e3)
    default: return time(secondsSince1970: number / 1e6)
    }
  }

  /// `2026-10-01`, `2026-10-01 08:00`, `2011-02-15 00:00:00.25-05`, `2011-02-15T00:00:00 +0100`: PostgreSQL's,
  /// MySQL's, SQLite's and ISO 8601's forms.
  private static func databaseTime(_ text: String, _ zone: LocalTimeZone) -> Timestamp? {
    guard
      let match = text.wholeMatch(
        of: /(\d{4})-(\d\d)-(\d\d)(?:[Tt ] ?(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)? ?(.*))?/
          .asciiOnlyDigits()),
      let year = Int(match.1), let month = Int(match.2), let day = Int(match.3),
      let days = CivilTime.daysSince1970(year: year, month: month, day: day)
    else { return nil }
    let (hour, minute, second) = (
      match.4.flatMap { Int($0) } ?? 0, match.5.flatMap { Int($0) } ?? 0,
      match.6.flatMap { Int($0) } ?? 0
    )
    guard (1...12).contains(month), hour < 24, minute < 60, second < 60 else { return nil }
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second
    let fraction = match.7.map { ($0 + "000000").prefix(6) }.flatMap { Int($0) } ?? 0
    let offset: Int
    if let name = match.8, !name.isEmpty {
      guard let minutes = offsetMinutes(isHours(name) ? name + "00" : String(name)) else {
        return nil
      }
      offset = minutes * 60
    } else {
      offset = zone.offsetSeconds(seconds)
    }
    return checked(Int64(seconds - offset) * 1_000_000 + Int64(fraction))
  }

  private static func checked(_ microseconds: Int64) -> Timestamp? {
    let time = Timestamp(microseconds: microseconds)
    return (Timestamp.earliest...Timestamp.latest).contains(time) ? time : nil
  }

  /// RFC 822 section 5, RFC 5322 sections 3.3 and 4.3: `Sat, 07 Sep 2002 00:00:01 GMT`.
  private static func internetMessageTime(
    _ text: String, _ zone: LocalTimeZone
  ) -> Timestamp? {
    var words = text.utf8.split { $0.isSpace || $0 == UInt8(ascii: ",") }
      .map { String(decoding: $0, as: UTF8.self) }
    if let first = words.first, first.utf8.first?.isLetter == true { words.removeFirst() }
    guard (4...5).contains(words.count), let day = number(words[0], 1...2),
      let month = months.firstIndex(of: words[1].asciiLowercased.prefix(3)),
      let year = year(words[2]),
      let days = CivilTime.daysSince1970(year: year, month: month + 1, day: day),
      let seconds = secondsOfDay(words[3])
    else { return nil }
    let local = days * 86_400 + seconds
    let offset =
      words.count == 5 ? offsetMinutes(words[4]).map { $0 * 60 } : zone.offsetSeconds(local)
    guard let offset else { return nil }
    let (product, overflows) = Int64(local - offset)
      .multipliedReportingOverflow(by: 1_000_000)
    return overflows ? nil : checked(product)
  }

  private static let months: [Substring] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  /// RFC 5322 section 4.3: two digits below 50 are in this century; other two-digit and all three-digit
  /// years are relative to 1900.
  private static func year(_ text: String) -> Int? {
    guard let year = number(text, 2...4) else { return nil }
    switch text.utf8.count {
    case 2: return year + (year < 50 ? 2000 : 1900)
    case 3: return year + 1900
    default: return year
    }
  }

  private static func secondsOfDay(_ text: String) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map {
      number(String($0), 1...2)
    }
    guard (2...3).contains(parts.count), let hour = parts[0], let minute = parts[1],
      let second = parts.count == 3 ? parts[2] : 0, hour < 24, minute < 60, second < 60
    else { return nil }
    return hour * 3600 + minute * 60 + second
  }

  /// RFC 5322 knows North American zone names and military letters; it reads the letters as offset zero,
  /// because they were often written with the wrong sign.
  private static func offsetMinutes(_ zone: String) -> Int? {
    let hours = [
      "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
    ]
    if ["GMT", "UT", "UTC", "Z"].contains(zone) { return 0 }
    if let named = hours[zone] { return named * 60 }
    if zone.utf8.count == 1, zone.utf8.first?.isLetter == true { return 0 }
    let digits = zone.filter { $0 != ":" }
    guard digits.utf8.count == 5, let sign = digits.first, sign == "+" || sign == "-",
      let number = number(String(digits.dropFirst()), 4...4), number % 100 < 60
    else { return nil }
    return (number / 100 * 60 + number % 100) * (sign == "-" ? -1 : 1)
  }

  /// Whether an offset has hours only: `+01`.
  private static func isHours(_ zone: Substring) -> Bool {
    zone.utf8.count == 3 && (zone.hasPrefix("+") || zone.hasPrefix("-"))
  }

  private static func number(_ text: String, _ digits: ClosedRange<Int>) -> Int? {
    digits.contains(text.utf8.count) && text.utf8.allSatisfy(\.isDigit) ? Int(text) : nil
  }
}

/// The time zone of times without one, as databases print them.
package struct LocalTimeZone: Sendable {
  /// Returns how far local time is ahead of UTC, in seconds, when a local clock shows this
  /// number of seconds since 1970.
  let offsetSeconds: @Sendable (Int) -> Int

  /// Creates a zone from its offset at each local time.
  package init(offsetSeconds: @escaping @Sendable (Int) -> Int) {
    self.offsetSeconds = offsetSeconds
  }

  /// Coordinated universal time.
  package static let utc = LocalTimeZone { _ in 0 }
}
