import HTTP
import Testing

struct MessageLimitsTests {
  static let limits = MessageLimits(
    requestLineBytes: 20, headerBlockBytes: 40, headerFields: 3, bodyBytes: 10, chunkLineBytes: 8,
    chunkExtensionBytes: 8, trailerBlockBytes: 12, trailerFields: 1)
  static let chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:chunked\r\n\r\n"

  /// A message at the limit, and the same one past it with the status that it is refused with.
  static let cases: [(within: String, beyond: String, status: String)] = [
    ("GET /123456 HTTP/1.1\r\nHost: a\r\n\r\n", "GET /1234567 HTTP/1.1\r\n", "414"),
    (
      "GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 28))\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 29))\r\n", "431"
    ),
    (
      "GET / HTTP/1.1\r\nHost: a\r\nX:\r\nX:\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nX:\r\nX:\r\nX:\r\n", "431"
    ),
    (
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n0123456789",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n", "413"
    ),
    (
      chunked + "5\r\n01234\r\n5\r\n01234\r\n0\r\n\r\n", chunked + "5\r\n01234\r\n6\r\n01234", "413"
    ),
    (chunked + "1;abcdef\r\na\r\n0\r\n\r\n", chunked + "1;abcdefg\r\n", "400"),
    (
      chunked + "1;abc\r\na\r\n1;abc\r\na\r\n0\r\n\r\n",
      chunked + "1;abc\r\na\r\n1;abcd\r\na\r\n", "400"
    ),
    (chunked + "0\r\nT: 456789012\r\n\r\n", chunked + "0\r\nT: 4567890123\r\n", "431"),
    (chunked + "0\r\nT: 1\r\n\r\n", chunked + "0\r\nT: 1\r\nU: 2\r\n", "431"),
  ]

  @Test(arguments: cases.indices)
  func `a message at a limit passes and one past it is refused`(_ index: Int) {
    let (within, beyond, status) = Self.cases[index]
    for pieces in cuts(Array(within.utf8)) {
      let results = parsed(pieces, limits: Self.limits)
      #expect(results.count == 1 && results[0].contains("|"), "\(results)")
    }
    for pieces in cuts(Array(beyond.utf8)) {
      #expect(parsed(pieces, limits: Self.limits).last?.hasPrefix(status) == true)
    }
  }

  @Test func `a line without an end is refused when it passes its limit`() {
    let line = Array("GET /\(String(repeating: "a", count: 20))".utf8)
    #expect(parsed([line], limits: Self.limits).last?.hasPrefix("414") == true)
    let head = Array("GET / HTTP/1.1\r\nX: \(String(repeating: "a", count: 60))".utf8)
    #expect(parsed([head], limits: Self.limits).last?.hasPrefix("431") == true)
  }
}
