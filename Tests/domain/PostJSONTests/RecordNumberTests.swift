import Feed
import PostJSON
import Testing

/// Numbers are taken exactly or not at all.
struct RecordNumberTests {
  @Test(arguments: [
    "1.5", "0.1", "1e-1", "1e-400", "9007199254740991.4", "1.000000000000000005", "-0.5e0",
    "9223372036854775808", "-9223372036854775809", "1e400", "-1e19", "1e99999999999999999999",
    "1e-99999999999999999999", "10000000000000000999",
  ])
  func `a number that is no whole one of 64 bits is refused with its field`(_ number: String) {
    let file = RecordLimitTests.media(#""url":"/u","bytes":\#(number)"#)
    #expect(
      RecordErrorTests.message(Array(file.utf8)) == "media[0].bytes: is not a whole number")
    let rank = RecordLimitTests.post(#""feeds":[{"name":"f","rank":\#(number)}]"#)
    #expect(RecordErrorTests.message(Array(rank.utf8)) == "feeds[0].rank: is not a whole number")
    let counter = RecordLimitTests.post(#""counters":{"likes":\#(number)}"#)
    #expect(
      RecordErrorTests.message(Array(counter.utf8)) == "counters.likes: is not a whole number")
  }

  @Test(arguments: [
    ("1.0", 1), ("1e6", 1_000_000), ("1.50e2", 150), ("100e-2", 1), ("0.001E+3", 1), ("-0", 0),
    ("-0.0e-400", 0), ("0e99999999999999999999", 0), ("9007199254740991.0", 9_007_199_254_740_991),
    ("0.9007199254740991e16", 9_007_199_254_740_991),
    ("9007199254740991" + String(repeating: "0", count: 40) + "e-40", 9_007_199_254_740_991),
  ])
  func `a whole number may be written as any JSON number that is exactly it`(
    _ number: String, _ value: Int
  ) throws {
    let record = RecordLimitTests.post(#""counters":{"likes":\#(number)}"#)
    #expect(try RecordDecoderTests.post(record).counters == [Counter("likes", value)])
  }
}
