import Feed
import TestSupport
import Testing

struct TimestampTests {
  struct Valid: CustomTestStringConvertible {
    let text: String
    let microseconds: Int64
    let canonical: String

    init(_ text: String, _ microseconds: Int64, _ canonical: String? = nil) {
      self.text = text
      self.microseconds = microseconds
      self.canonical = canonical ?? text
    }

    var testDescription: String { text }
  }

  static let valid = [
    Valid("1970-01-01T00:00:00Z", 0),
    Valid("2012-07-28T23:05:56Z", 1_343_516_756_000_000),
    Valid("2012-07-28t23:05:56z", 1_343_516_756_000_000, "2012-07-28T23:05:56Z"),
    // Offsets.
    Valid("2012-07-29T01:05:56+02:00", 1_343_516_756_000_000, "2012-07-28T23:05:56Z"),
    Valid("2012-07-28T18:35:56-04:30", 1_343_516_756_000_000, "2012-07-28T23:05:56Z"),
    Valid("2012-07-28T23:05:56+00:00", 1_343_516_756_000_000, "2012-07-28T23:05:56Z"),
    Valid("2012-07-28T23:05:56-00:00", 1_343_516_756_000_000, "2012-07-28T23:05:56Z"),
    Valid("1970-01-01T23:59:00+23:59", 0, "1970-01-01T00:00:00Z"),
    Valid("1970-01-01T00:00:00-23:59", 86_340_000_000, "1970-01-01T23:59:00Z"),
    // Seven to nine digits, as .NET and Go write: down to the microsecond that had begun.
    Valid("2012-07-28T23:05:56.1234567Z", 1_343_516_756_123_456, "2012-07-28T23:05:56.123456Z"),
    Valid("2012-07-28T23:05:56.123456789Z", 1_343_516_756_123_456, "2012-07-28T23:05:56.123456Z"),
    Valid("2012-07-28T23:05:56.9999999Z", 1_343_516_756_999_999, "2012-07-28T23:05:56.999999Z"),
    Valid("2012-07-28T23:05:56.000000999Z", 1_343_516_756_000_000, "2012-07-28T23:05:56Z"),
    Valid(
      "2012-07-28T23:05:56.123456789000000Z", 1_343_516_756_123_456, "2012-07-28T23:05:56.123456Z"),
    Valid("1969-12-31T23:59:59.9999999Z", -1, "1969-12-31T23:59:59.999999Z"),
    Valid("1969-12-31T23:59:59.000000001Z", -1_000_000, "1969-12-31T23:59:59Z"),
    Valid("9999-12-31T23:59:59.999999999Z", 253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
    // Fractions: written with three digits or six.
    Valid("1970-01-01T00:00:00.1Z", 100_000, "1970-01-01T00:00:00.100Z"),
    Valid("1970-01-01T00:00:00.12Z", 120_000, "1970-01-01T00:00:00.120Z"),
    Valid("1970-01-01T00:00:00.123Z", 123_000),
    Valid("1970-01-01T00:00:00.1234Z", 123_400, "1970-01-01T00:00:00.123400Z"),
    Valid("1970-01-01T00:00:00.12345Z", 123_450, "1970-01-01T00:00:00.123450Z"),
    Valid("1970-01-01T00:00:00.123456Z", 123_456),
    Valid("1970-01-01T00:00:00.000001Z", 1),
    Valid("1970-01-01T00:00:00.0Z", 0, "1970-01-01T00:00:00Z"),
    Valid("1970-01-01T00:00:00.123456000Z", 123_456, "1970-01-01T00:00:00.123456Z"),
    Valid("1970-01-01T01:00:00.5+01:00", 500_000, "1970-01-01T00:00:00.500Z"),
    // Before 1970.
    Valid("1969-12-31T23:59:59Z", -1_000_000),
    Valid("1969-12-31T23:59:59.999999Z", -1),
    Valid("1969-12-31T23:59:59.500Z", -500_000),
    Valid("1900-03-01T00:00:00Z", -2_203_891_200_000_000),
    // Leap years.
    Valid("2000-02-29T00:00:00Z", 951_782_400_000_000),
    Valid("2024-02-29T12:00:00Z", 1_709_208_000_000_000),
    Valid("2024-12-31T23:59:59Z", 1_735_689_599_000_000),
    // The ends.
    Valid("0000-01-01T00:00:00Z", -62_167_219_200_000_000),
    Valid("0000-02-29T00:00:00Z", -62_162_121_600_000_000),
    Valid("0000-01-01T00:01:00+00:01", -62_167_219_200_000_000, "0000-01-01T00:00:00Z"),
    Valid("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
    Valid("9999-12-31T22:59:59-01:00", 253_402_300_799_000_000, "9999-12-31T23:59:59Z"),
  ]

  @Test(arguments: valid)
  func `a time is read as its instant and written in UTC`(_ valid: Valid) throws {
    let timestamp = try Timestamp(rfc3339: valid.text)
    #expect(timestamp.microseconds == valid.microseconds)
    #expect(timestamp.rfc3339 == valid.canonical)
    #expect(timestamp.rfc3339UTF8 == Array(valid.canonical.utf8))
  }

  static let invalid: [(String, TimestampError)] = [
    ("", .malformed),
    ("2012-07-28", .malformed),
    ("2012-07-28T23:05:56", .malformed),
    ("2012-07-28 23:05:56Z", .malformed),
    ("2012-07-28T23:05Z", .malformed),
    ("2012-7-28T23:05:56Z", .malformed),
    ("12-07-28T23:05:56Z", .malformed),
    ("+2012-07-28T23:05:56Z", .malformed),
    ("-012-07-28T23:05:56Z", .malformed),
    ("12012-07-28T23:05:56Z", .malformed),
    ("2012/07/28T23:05:56Z", .malformed),
    ("20120728T230556Z", .malformed),
    ("2012-07-28T23:05:56ZZ", .malformed),
    (" 2012-07-28T23:05:56Z", .malformed),
    ("2012-07-28T23:05:56Z ", .malformed),
    ("2012-07-28T23:05:56Z\0", .malformed),
    ("２012-07-28T23:05:56Z", .malformed),
    ("2012-07-28T23:05:56.Z", .malformed),
    ("2012-07-28T23:05:56,5Z", .malformed),
    ("2012-07-28T23:05:56+0200", .malformed),
    ("2012-07-28T23:05:56+02", .malformed),
    ("2012-07-28T23:05:56+2:00", .malformed),
    ("2012-07-28T23:05:56+02:00Z", .malformed),
    ("2012-07-28T23:05:56\u{2212}02:00", .malformed),
    ("2012-07-28T23:05:56.1234567891Z", .tooPrecise),
    ("2012-07-28T23:05:56.0000000001Z", .tooPrecise),
    ("2012-07-28T23:05:56.00000000000000000000001Z", .tooPrecise),
    ("2012-00-28T23:05:56Z", .outOfRange("month 0")),
    ("2012-13-28T23:05:56Z", .outOfRange("month 13")),
    ("2012-07-00T23:05:56Z", .outOfRange("day 0")),
    ("2012-07-32T23:05:56Z", .outOfRange("day 32")),
    ("2012-04-31T23:05:56Z", .outOfRange("day 31")),
    ("2012-06-31T23:05:56Z", .outOfRange("day 31")),
    ("2012-09-31T23:05:56Z", .outOfRange("day 31")),
    ("2012-11-31T23:05:56Z", .outOfRange("day 31")),
    ("2012-02-30T23:05:56Z", .outOfRange("day 30")),
    ("2011-02-29T23:05:56Z", .outOfRange("day 29")),
    ("1900-02-29T23:05:56Z", .outOfRange("day 29")),
    ("2100-02-29T23:05:56Z", .outOfRange("day 29")),
    ("2012-07-28T24:00:00Z", .outOfRange("hour 24")),
    ("2012-07-28T23:60:00Z", .outOfRange("minute 60")),
    ("2012-06-30T23:59:60Z", .outOfRange("second 60")),
    ("2012-07-28T23:05:56+24:00", .outOfRange("offset")),
    ("2012-07-28T23:05:56-00:60", .outOfRange("offset")),
    ("0000-01-01T00:00:00+00:01", .outOfRange("year")),
    ("9999-12-31T23:59:59-00:01", .outOfRange("year")),
  ]

  @Test(arguments: invalid)
  func `what is no time of RFC 3339 is refused, with the reason`(
    _ text: String, _ error: TimestampError
  ) {
    #expect(throws: error) { try Timestamp(rfc3339: text) }
  }

  @Test(arguments: TestRandom.seeds) func `any instant of the range is written and read back`(
    seed: UInt64
  ) throws {
    var random = TestRandom(seed)
    let units: [Int64] = [1, 1_000, 1_000_000, 86_400_000_000]
    for _ in 0..<5_000 {
      let exact = Int64.random(
        in: Timestamp.earliest.microseconds...Timestamp.latest.microseconds, using: &random)
      let unit = random.one(of: units)
      let timestamp = Timestamp(microseconds: exact / unit * unit)
      try #require(
        Timestamp(rfc3339: timestamp.rfc3339) == timestamp, "\(exact), \(TestRandom.replay)")
    }
  }

  @Test func `the calendar's turning points of each year follow one another by its rules`() throws {
    var days: Int64 = -719_528
    func expect(_ date: String, _ days: Int64) throws {
      let timestamp = Timestamp(microseconds: days * 86_400_000_000)
      try #require(timestamp.rfc3339 == date + "T00:00:00Z")
      try #require(Timestamp(rfc3339: timestamp.rfc3339) == timestamp)
    }
    for year in 0...9999 {
      let isLeap = year % 400 == 0 || (year % 4 == 0 && year % 100 != 0)
      let name = String(repeating: "0", count: 4 - String(year).count) + String(year)
      try expect(name + "-01-01", days)
      try expect(name + (isLeap ? "-02-29" : "-02-28"), days + (isLeap ? 59 : 58))
      try expect(name + "-03-01", days + (isLeap ? 60 : 59))
      days += isLeap ? 366 : 365
      try expect(name + "-12-31", days - 1)
    }
  }

  @Test func `earlier instants are less`() throws {
    let texts = [
      "0000-01-01T00:00:00Z", "1969-12-31T23:59:59.999999Z", "1970-01-01T00:00:00Z",
      "1970-01-01T00:00:00.000001Z", "9999-12-31T23:59:59.999999Z",
    ]
    let timestamps = try texts.map { try Timestamp(rfc3339: $0) }
    #expect(timestamps.shuffled().sorted() == timestamps)
    #expect(Set(timestamps).count == texts.count)
    #expect(timestamps.first == .earliest)
    #expect(timestamps.last == .latest)
  }
}
