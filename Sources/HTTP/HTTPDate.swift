import CivilTime

/// A date as HTTP writes it: IMF-fixdate (RFC 9110 section 5.6.7).
public enum HTTPDate {
  /// The seconds since 1970 that a date can tell: its year has four digits.
  public static let secondsSince1970 = -62_167_219_200...253_402_300_799

  /// The date of so many seconds after 1970, for example `Sun, 06 Nov 1994 08:49:37 GMT`; the first or
  /// last one for seconds that no date can tell.
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
