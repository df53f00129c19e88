import HTTP
import TestSupport
import Testing

struct HTTPDateTests {
  /// 2026-07-28 12:00:00
  static let now = 1_785_240_000

  @Test(arguments: [
    ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
    ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
    ("Sun Nov  6 08:49:37 1994", 784_111_777),
    ("Sun Nov 06 08:49:37 1994", 784_111_777),
    ("Wed Nov 16 08:49:37 1994", 784_975_777),
    ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
    ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
    ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
    ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
    ("Tuesday, 29-Feb-00 00:00:00 GMT", 951_782_400),
    ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
    ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200),
    // A leap second is the first second of the next day.
    ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
    // The wrong day of the week.
    ("Mon, 06 Nov 1994 08:49:37 GMT", 784_111_777),
  ])
  func `a date is read in each of the three forms`(_ text: String, _ seconds: Int) {
    #expect(HTTPDate.parse(text, nowSecondsSince1970: Self.now) == seconds)
    #expect(HTTPDate.parse("(\(text))".dropFirst().dropLast(), nowSecondsSince1970: 0) != nil)
  }

  @Test(arguments: [
    "", " ", "GMT", "0", "784111777", "1994-11-06T08:49:37Z",
    // No such date or time.
    "Thu, 30 Feb 2023 00:00:00 GMT", "Wed, 29 Feb 2023 00:00:00 GMT",
    "Thu, 29 Feb 1900 00:00:00 GMT", "Sun, 31 Apr 2023 00:00:00 GMT",
    "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 32 Dec 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
    "Sun, 06 Nov 1994 08:49:61 GMT", "Sunday, 29-Feb-23 08:49:37 GMT",
    "Sun Feb 30 08:49:37 1994", "Sun Nov  0 08:49:37 1994",
    // Not quite one of the forms.
    "sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:37 gmt", "Sun, 06 Nov 1994 08:49:37 UTC",
    "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49:37",
    "Sun, 06 Nov 1994 08:49:37 GMT ", " Sun, 06 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:37 GMTX", "Sun, 6 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 01994 08:49:37 GMT",
    "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun 06 Nov 1994 08:49:37 GMT",
    "Sun,06 Nov 1994 08:49:37 GMT", "Sun,  06 Nov 1994 08:49:37 GMT", "06 Nov 1994 08:49:37 GMT",
    "Xyz, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Xyz 1994 08:49:37 GMT",
    "Sun, 06 November 1994 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov -994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT",
    "Sun, 06-Nov-94 08:49:37 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT",
    "Sunday, 06-Nov-1994 08:49:37 GMT", "Sunday, 6-Nov-94 08:49:37 GMT",
    "Sunday, 06-Nov-94 08:49:37", "Sun Nov 6 08:49:37 1994", "Sun Nov   6 08:49:37 1994",
    "Sun Nov  16 08:49:37 1994", "Sun Nov  6 08:49:37 94", "Sun Nov  6 08:49:37 1994 GMT",
    "Sun, Nov  6 08:49:37 1994", "Sun, \u{0660}6 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
  ])
  func `what is no date is not read as one`(_ text: String) {
    #expect(HTTPDate.parse(text, nowSecondsSince1970: Self.now) == nil)
  }

  @Test(arguments: [
    // Now, the two digits, and the year that they mean.
    ("Tue, 28 Jul 2026 12:00:00 GMT", "28-Jul-26 12:00:00", 2026),
    ("Tue, 28 Jul 2026 12:00:00 GMT", "28-Jul-75 12:00:00", 2075),
    ("Tue, 28 Jul 2026 12:00:00 GMT", "28-Jul-76 12:00:00", 2076),
    ("Tue, 28 Jul 2026 12:00:00 GMT", "28-Jul-76 12:00:01", 1976),
    ("Tue, 28 Jul 2026 12:00:00 GMT", "29-Jul-76 00:00:00", 1976),
    ("Tue, 28 Jul 2026 12:00:00 GMT", "01-Aug-76 00:00:00", 1976),
    ("Tue, 28 Jul 2026 12:00:00 GMT", "27-Jul-76 23:59:59", 2076),
    ("Tue, 28 Jul 2026 12:00:00 GMT", "30-Jun-76 23:59:59", 2076),
    ("Tue, 28 Jul 2026 12:00:00 GMT", "28-Jul-77 12:00:00", 1977),
    ("Tue, 28 Jul 2026 12:00:00 GMT", "31-Dec-99 23:59:59", 1999),
    ("Tue, 28 Jul 2026 12:00:00 GMT", "01-Jan-00 00:00:00", 2000),
    ("Fri, 01 Jan 1999 00:00:00 GMT", "01-Jan-02 00:00:00", 2002),
    ("Fri, 01 Jan 1999 00:00:00 GMT", "02-Jan-49 00:00:00", 1949),
    ("Fri, 01 Jan 1999 00:00:00 GMT", "01-Jan-49 00:00:00", 2049),
    ("Thu, 01 Jan 2050 00:00:00 GMT", "01-Jan-00 00:00:00", 2100),
    ("Thu, 29 Feb 2024 00:00:00 GMT", "01-Mar-74 00:00:00", 1974),
    ("Thu, 29 Feb 2024 00:00:00 GMT", "28-Feb-74 00:00:00", 2074),
    ("Thu, 01 Jan 1970 00:00:00 GMT", "31-Dec-69 23:59:59", 1969),
  ])
  func `two digits are the latest year no more than fifty years ahead`(
    _ now: String, _ date: String, _ year: Int
  ) throws {
    let now = try #require(HTTPDate.parse(now, nowSecondsSince1970: 0))
    let long = "Sunday, \(date) GMT"
    let seconds = try #require(HTTPDate.parse(long, nowSecondsSince1970: now))
    #expect(HTTPDate.format(secondsSince1970: seconds).split(separator: " ")[3] == "\(year)")
    // The day and the time are as they were written.
    let expected =
      "Sun, "
      + date.replacing("-", with: " ").replacing(
        " \(date.dropFirst(7).prefix(2)) ", with: " \(year) ") + " GMT"
    #expect(HTTPDate.parse(expected, nowSecondsSince1970: now) == seconds)
  }

  @Test func `seconds that no date can tell are the first or last that one can`() {
    let cases: [(seconds: Int, date: String)] = [
      (.min, "Sat, 01 Jan 0000 00:00:00 GMT"), (-62_167_219_201, "Sat, 01 Jan 0000 00:00:00 GMT"),
      (-62_167_219_200, "Sat, 01 Jan 0000 00:00:00 GMT"),
      (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
      (253_402_300_800, "Fri, 31 Dec 9999 23:59:59 GMT"), (.max, "Fri, 31 Dec 9999 23:59:59 GMT"),
    ]
    for (seconds, date) in cases {
      #expect(HTTPDate.format(secondsSince1970: seconds) == date)
      // A year of two digits is read beside any clock.
      _ = HTTPDate.parse("Sunday, 06-Nov-94 08:49:37 GMT", nowSecondsSince1970: seconds)
    }
  }

  @Test(arguments: TestRandom.seeds) func `what is written is read as it was, in each form`(
    seed: UInt64
  ) {
    let long = [
      "Sun": "Sunday", "Mon": "Monday", "Tue": "Tuesday", "Wed": "Wednesday", "Thu": "Thursday",
      "Fri": "Friday", "Sat": "Saturday",
    ]
    var random = TestRandom(seed)
    for _ in 0..<5000 {
      let seconds = random.number(0...253_402_300_799)
      let fixdate = HTTPDate.format(secondsSince1970: seconds)
      // "Sun,", "06", "Nov", "1994", "08:49:37", "GMT"
      let words = fixdate.split(separator: " ")
      let weekday = String(words[0].dropLast())
      let day = words[1].hasPrefix("0") && random.chance(50) ? " \(words[1].dropFirst())" : words[1]
      let asctime = "\(weekday) \(words[2]) \(day) \(words[4]) \(words[3])"
      let rfc850 =
        "\(long[weekday]!), \(words[1])-\(words[2])-\(words[3].suffix(2)) \(words[4]) GMT"
      // Within 49 years of the date, either way.
      let now = seconds + random.number(-1_546_000_000...1_546_000_000)
      for text in [fixdate, asctime, rfc850] {
        #expect(
          HTTPDate.parse(text, nowSecondsSince1970: now) == seconds,
          "\(text) at \(now); \(TestRandom.replay)")
      }
    }
  }

  @Test func `every day of four centuries is read as it was written`() {
    let years = TestRandom.some(40, of: Array(0..<400))
    for day in years.flatMap({ $0 * 146_097 / 400..<($0 + 1) * 146_097 / 400 }) {
      let text = HTTPDate.format(secondsSince1970: day * 86_400)
      if HTTPDate.parse(text, nowSecondsSince1970: 0) != day * 86_400 {
        Issue.record("\(text) is not day \(day)")
      }
    }
  }
}
