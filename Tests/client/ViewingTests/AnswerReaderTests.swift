import TestSupport
import Testing

import PrefetchClient
@testable import Viewing

struct AnswerReaderTests {
  private static let answers = [
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \"a\"\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nA: b\r\n\r\n",
    "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 206 Partial\r\ncontent-length:5\r\n\r\nhello",
  ]

  /// What a reader makes of the text, given in pieces of these sizes.
  private func read(_ text: String, _ random: inout TestRandom) throws -> [String] {
    var reader = AnswerReader()
    var events: [String] = []
    var body = ""
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let piece = rest.prefix(random.number(1...9))
      rest = rest.dropFirst(piece.count)
      reader.append(piece)
      while let event = try reader.next() {
        switch event {
        case .head(let head): events.append("\(head.status)")
        case .body(let bytes): body += String(decoding: bytes, as: UTF8.self)
        case .end(let keeps):
          events += [body, keeps ? "keeps" : "closes"]
          body = ""
        }
      }
    }
    return events
  }

  @Test(arguments: TestRandom.seeds)
  func `answers are read the same in whatever pieces they come`(seed: UInt64) throws {
    var random = TestRandom(seed)
    for _ in 0..<200 {
      for answer in Self.answers {
        let events = try read(answer + answer, &random)
        let status = answer.contains("206") ? "206" : "200"
        #expect(events == [status, "hello", "keeps", status, "hello", "keeps"], TestRandom.replay)
      }
    }
  }

  @Test(arguments: [
    "HTTP/2 200\r\n\r\n", "nothing\r\n\r\n", "HTTP/1.1 20 x\r\n\r\n",
    "HTTP/1.1 200 OK\r\n: x\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 1e3\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
  ])
  func `what is no answer is refused`(text: String) throws {
    var random = TestRandom(1)
    #expect(throws: TransportError.self) { try read(text, &random) }
  }

  @Test func `an answer that ends with its connection is whole only where it has no length`() throws
  {
    var reader = AnswerReader()
    reader.append(Array("HTTP/1.1 200 OK\r\n\r\nhel".utf8)[...])
    while try reader.next() != nil {}
    guard case .end(keeps: false) = try reader.close() else {
      Issue.record("it has ended")
      return
    }
    var cut = AnswerReader()
    cut.append(Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel".utf8)[...])
    while try cut.next() != nil {}
    #expect(throws: TransportError.self) { try cut.close() }
  }
}
