import TestSupport
import Testing

@testable import MediaProbe

/// Answers are read as HTTP has them, and no other way.
struct RangeAnswerTests {
  private static func answer(_ text: String) throws(RemoteError) -> RangeAnswer {
    try RangeAnswer(Array(text.replacing("\n", with: "\r\n").utf8))
  }

  @Test func `status, fields and body are told apart, whatever came before`() throws {
    let answer = try Self.answer(
      "HTTP/1.1 103 Early Hints\nLink: <x>\n\nHTTP/1.1 206 Partial\n"
        + "ETAG: \"a\" \nContent-Range: bytes 0-1/3\n\nab")
    #expect(answer.status == 206)
    #expect(try answer.field("etag") == "\"a\"")
    #expect(try answer.field("link") == nil)
    let (range, size) = try answer.contentRange()
    #expect(range == 0..<2 && size == 3)
    #expect(answer.body.elementsEqual("ab".utf8))
  }

  @Test(arguments: [
    "", "HTTP/1.1 200 OK\n", "HTTP/1.1\n\n", "HTTP/1.1 2000 OK\n\n", "FTP/1.1 200 OK\n\n",
    "HTTP/1.1 abc OK\n\n", "HTTP/1.1 100 Continue\n\n", "HTTP/1.1 200 OK\nno colon\n\n",
  ])
  func `what is no answer is an error`(text: String) {
    #expect(throws: RemoteError.self) { try Self.answer(text) }
  }

  @Test(arguments: TestRandom.seeds)
  func `damaged answers are read or refused`(seed: UInt64) {
    var random = TestRandom(seed)
    let whole = Array(
      "HTTP/1.1 100 C\r\n\r\nHTTP/1.1 206 P\r\nContent-Range: bytes 0-1/3\r\nETag: \"a\"\r\n\r\nab"
        .utf8)
    for _ in 0..<2_000 {
      var bytes = Array(whole.prefix(random.number(0...whole.count)))
      for _ in 0..<random.number(0...4) where !bytes.isEmpty {
        bytes[random.number(0...bytes.count - 1)] = random.one(of: whole + [0, 0xff])
      }
      guard let answer = try? RangeAnswer(bytes) else { continue }
      if let (range, size) = try? answer.contentRange() {
        #expect(range.upperBound <= size && !range.isEmpty, TestRandom.replay)
      }
      if let place = try? answer.field("etag") { _ = try? MediaURL(place) }
    }
  }

  @Test(arguments: [
    "bytes 0-1/*", "bytes */3", "bytes 2-1/3", "bytes 0-3/3", "bytes -1/3", "items 0-1/3",
    "bytes 0-1/99999999999999999999", "0-1/3", "bytes 0-1/3\nContent-Range: bytes 0-1/4",
  ])
  func `a range that is none is an error`(text: String) throws {
    let answer = try Self.answer("HTTP/1.1 206 P\nContent-Range: \(text)\n\n")
    #expect(throws: RemoteError.self) { try answer.contentRange() }
  }
}
