import CivilTime
import Glibc
import TestSupport
import Testing

@Suite struct CivilTimeTests {
  private static func text(_ seconds: Int) -> String {
    let time = CivilTime(secondsSince1970: seconds)
    return "\(time.year)-\(time.month)-\(time.day) \(time.hour):\(time.minute):\(time.second)"
  }

  @Test(arguments: [
    (0, "1970-1-1 0:0:0", 4), (-1, "1969-12-31 23:59:59", 3),
    (784_111_777, "1994-11-6 8:49:37", 0), (951_782_400, "2000-2-29 0:0:0", 2),
    (951_868_799, "2000-2-29 23:59:59", 2), (951_868_800, "2000-3-1 0:0:0", 3),
    (-2_203_891_200, "1900-3-1 0:0:0", 4), (-2_203_891_201, "1900-2-28 23:59:59", 3),
    (-62_167_219_200, "0-1-1 0:0:0", 6), (-62_167_219_201, "-1-12-31 23:59:59", 5),
    (253_402_300_799, "9999-12-31 23:59:59", 5), (253_402_300_800, "10000-1-1 0:0:0", 6),
    (.max, "292277026596-12-4 15:30:7", 0), (.min, "-292277022657-1-27 8:29:52", 0),
  ])
  func `seconds are the date and time that calendars have`(
    _ seconds: Int, _ text: String, _ weekday: Int
  ) {
    #expect(Self.text(seconds) == text)
    #expect(CivilTime(secondsSince1970: seconds).weekday == weekday)
  }

  /// The C library counts years in 32 bits.
  @Test(arguments: TestRandom.seeds) func `the C library says the same of any second that it knows`(
    seed: UInt64
  ) throws {
    var random = TestRandom(seed)
    for bits in 20...55 {
      for _ in 0..<200 {
        let seconds = random.number(-(1 << bits)...(1 << bits))
        var clock = time_t(seconds)
        var parts = tm()
        try #require(gmtime_r(&clock, &parts) != nil)
        let time = CivilTime(secondsSince1970: seconds)
        let ours = [
          time.year, time.month, time.day, time.hour, time.minute, time.second, time.weekday,
        ]
        let theirs = [
          Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday),
          Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec), Int(parts.tm_wday),
        ]
        try #require(ours == theirs, "\(seconds), \(TestRandom.replay)")
      }
    }
  }

  @Test(arguments: TestRandom.seeds) func `any second's date is counted back to its day`(
    seed: UInt64
  ) throws {
    var random = TestRandom(seed)
    let ends = [Int.min, Int.min + 1, -86_401, -86_400, -1, 0, 86_399, 86_400, .max - 1, .max]
    for seconds in ends + (0..<10_000).map({ _ in Int.random(in: .min ... .max, using: &random) }) {
      let time = CivilTime(secondsSince1970: seconds)
      let days = CivilTime.daysSince1970(year: time.year, month: time.month, day: time.day)
      let second = time.hour * 3600 + time.minute * 60 + time.second
      // The first day of all begins before the first second.
      let day =
        seconds < .min + 86_400
        ? (seconds + 86_400 - second) / 86_400 - 1 : (seconds - second) / 86_400
      try #require(days == day, "\(seconds), \(TestRandom.replay)")
    }
  }

  @Test(arguments: [
    (2023, 2, 29), (1900, 2, 29), (2024, 2, 30), (2024, 4, 31), (2024, 0, 1), (2024, 13, 1),
    (2024, 1, 0), (2024, 1, 32), (2024, -1, -1), (.max, 1, 1), (.min, 1, 1), (2024, .max, 1),
    (2024, 1, .min),
  ])
  func `there is no such date`(_ year: Int, _ month: Int, _ day: Int) {
    #expect(CivilTime.daysSince1970(year: year, month: month, day: day) == nil)
  }

  @Test func `a time is written as RFC 3339 has it`() {
    var bytes: [UInt8] = []
    CivilTime(secondsSince1970: -62_167_219_200).append(to: &bytes)
    bytes.append(UInt8(ascii: "."))
    bytes.append(1_000_450, digits: 6)
    #expect(String(decoding: bytes, as: UTF8.self) == "0000-01-01T00:00:00.000450")
  }
}
