import HTTP
import TestSupport
import Testing

struct BearerTests {
  @Test(arguments: [
    ("Bearer abc", "abc"), ("bearer abc", "abc"), ("BEARER abc", "abc"), ("bEaReR abc", "abc"),
    ("Bearer    abc", "abc"), ("Bearer mF_9.B5f-4.1JqM", "mF_9.B5f-4.1JqM"),
    ("Bearer aZ09-._~+/", "aZ09-._~+/"), ("Bearer a=", "a="), ("Bearer a===", "a==="),
    ("Bearer Bearer", "Bearer"),
  ])
  func `the token is what follows the scheme`(_ value: String, _ token: String) {
    #expect(Bearer.credentials(["Authorization": value]) == token)
    #expect(Bearer.credentials(["X": "Bearer x", "authorization": value]) == token)
  }

  @Test(arguments: [
    "", "Bearer", "Bearer ", "Bearer  ", "Bearer\tabc", "Bearer \tabc", "Bearerabc", "Bear abc",
    "Basic abc", "Basic Bearer abc", "abc", " Bearer abc", "Bearer abc ", "Bearer a b",
    "Bearer a,b", "Bearer =", "Bearer =a", "Bearer a=b", "Bearer a=b=", "Bearer \"abc\"",
    "Bearer a:b", "Bearer a\u{e9}", "Bearer \u{ff41}", "Bearer abc, Bearer abc",
    "Bearer realm=\"a\"",
  ])
  func `what is no bearer token is none`(_ value: String) {
    #expect(Bearer.credentials(["Authorization": value]) == nil)
  }

  @Test func `no token is read from no field or from two`() {
    #expect(Bearer.credentials([:]) == nil)
    #expect(Bearer.credentials(["Proxy-Authorization": "Bearer a"]) == nil)
    #expect(Bearer.credentials(["Authorization": "Bearer a", "authorization": "Bearer a"]) == nil)
    #expect(Bearer.credentials(["Authorization": "Basic a", "Authorization": "Bearer a"]) == nil)
  }

  @Test(arguments: [
    ("a", "a", true), ("abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyz", true),
    ("a", "b", false), ("a", "A", false), ("", "a", false), ("a", "", false), ("", "", false),
    ("a", "aa", false), ("aa", "a", false), ("ab", "abab", false), ("abab", "ab", false),
    ("abc", "abd", false), ("xbc", "abc", false), ("abca", "abc", false), ("a=", "a", false),
    // Equal as text, not as bytes.
    ("\u{e9}", "e\u{301}", false),
  ])
  func `tokens match when they are equal byte by byte`(
    _ presented: String, _ expected: String, _ isMatch: Bool
  ) {
    #expect(Bearer.matches(presented, expected) == isMatch)
  }

  @Test(arguments: TestRandom.seeds) func `one bit of difference anywhere is a difference`(
    seed: UInt64
  ) {
    var random = TestRandom(seed)
    for _ in 0..<200 {
      let token = (0..<random.number(1...80)).map { _ in UInt8(random.number(0x20...0x7e)) }
      let expected = String(decoding: token, as: UTF8.self)
      #expect(Bearer.matches(expected, expected), TestRandom.replay)
      for index in token.indices {
        var other = token
        other[index] ^= 1 << UInt8(random.number(0...6))
        let presented = String(decoding: other, as: UTF8.self)
        #expect(!Bearer.matches(presented, expected), "at \(index); \(TestRandom.replay)")
      }
    }
  }
}
