import Feed
import Testing

@Suite struct MediaVersionTests {
  @Test func `a mark is eight digits, by the content or by the text`() {
    let digest = [0x0a, 0xbc, 0xde, 0x01] + [UInt8](repeating: 9, count: 28)
    // FNV-1a as its authors define it: of the empty text its offset, of "a" e40c292c.
    let cases: [(MediaVersion, String)] = [
      (.content(sha256: digest), "0abcde01"),
      (.content(sha256: [UInt8](repeating: 0, count: 32)), "00000000"),
      (.entityTag("\"a\""), Self.fnv("etag:\"a\"")), (.unavailable, Self.fnv("unavailable:")),
      (
        .modified("Sun, 06 Nov 1994 08:49:37 GMT"),
        Self.fnv("modified:Sun, 06 Nov 1994 08:49:37 GMT")
      ),
    ]
    for (version, mark) in cases { #expect(version.mark == mark, "\(version.text)") }
    let tags = Set((0..<1_000).map { MediaVersion.entityTag("\"v\($0)\"").mark })
    #expect(tags.count == 1_000 && tags.allSatisfy { $0.utf8.count == MediaVersion.markBytes })
    #expect(
      Self.fnv("") == "811c9dc5" && Self.fnv("a") == "e40c292c" && Self.fnv("foobar") == "bf9cf968")
  }

  private static func fnv(_ text: String) -> String {
    let number = text.utf8.reduce(UInt64(2_166_136_261)) {
      (($0 ^ UInt64($1)) * 16_777_619) & 0xffff_ffff
    }
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}
