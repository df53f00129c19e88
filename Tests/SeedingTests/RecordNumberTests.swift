import Feed
import Seeding
import Testing

/// Bug 3 of /tmp/unit-bugs.txt: put into Tests/SeedingTests once it is mended.
struct RecordNumberTests {
  @Test(arguments: ["1.5", "0.1", "1e-1", "9223372036854775808", "1e400", "-1e19"])
  func `a number that is no whole one of 64 bits is refused with its field`(_ number: String) {
    let file = RecordLimitTests.media(#""url":"u","bytes":\#(number)"#)
    #expect(
      RecordErrorTests.message(Array(file.utf8)) == "media[0].bytes: is not a whole number")
    let rank = RecordLimitTests.post(#""feeds":[{"name":"f","rank":\#(number)}]"#)
    #expect(RecordErrorTests.message(Array(rank.utf8)) == "feeds[0].rank: is not a whole number")
    let counter = RecordLimitTests.post(#""counters":{"likes":\#(number)}"#)
    #expect(RecordErrorTests.message(Array(counter.utf8)) == "counters: holds no whole number")
  }
}
