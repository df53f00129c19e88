import Compression
import Feed
import Foundation
import Seeding
import TestSupport
import Testing

@testable import FeedServer

/// Imports over HTTP: the seeding code on a stream.
@Suite struct ImportTests {
  private func send(
    _ client: TestClient, _ body: [UInt8], chunks: Int, _ fields: [String: String] = [:]
  ) throws -> TestAnswer {
    let all = WriteTests.authorized.merging(fields) { $1 }
      .merging(["Transfer-Encoding": "chunked"]) { $1 }
    let lines = all.map { "\($0.key): \($0.value)\r\n" }.joined()
    try client.send(Array("POST /v1/import HTTP/1.1\r\nHost: a\r\n\(lines)\r\n".utf8))
    let size = max(1, body.count / chunks)
    for start in stride(from: 0, to: body.count, by: size) {
      let piece = body[start..<min(start + size, body.count)]
      try client.send(
        Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Array("\r\n".utf8))
    }
    try client.send(Array("0\r\n\r\n".utf8))
    return try client.receive()
  }

  @Test func `a stream is imported, and the same again changes nothing`() throws {
    let service = try WriteTests.service()
    let client = try service.client()
    let records = PostGenerator(count: 5_000, seed: 3).map { $0.json + [UInt8(ascii: "\n")] }
    let body = Array(records.joined())
    let first = try send(client, body, chunks: 97, ["Content-Type": "application/x-ndjson"])
    #expect(first.status == 200, "\(first.text)")
    let posts = PostGenerator(count: 5_000, seed: 3).count {
      if case .post = $0 { true } else { false }
    }
    #expect(first.value("added", as: Int.self).map { $0 >= posts } == true)
    #expect(first.value("refused") == 0)
    // The next read sees it, on the same connection.
    let feeds: [[String: Any]] = try #require(try client.get("/v1/feeds").value("feeds"))
    #expect(feeds.compactMap { $0["total"] as? Int }.reduce(0, +) >= posts)
    let second = try send(client, body, chunks: 3)
    #expect(second.value("added") == 0 && second.value("changed") == 0)
    #expect(second.value("unchanged", as: Int.self) == first.value("added", as: Int.self))
  }

  @Test func `refused records are told by their lines and the others are there`() throws {
    let service = try WriteTests.service()
    let client = try service.client()
    let lines = [
      #"{"id":"a","type":"image","feeds":[{"name":"f","rank":1}]}"#, "nonsense", "",
      #"{"id":"b","type":"hologram"}"#,
      #"{"id":"c","type":"image","feeds":[{"name":"f","rank":2}]}"#,
    ]
    let answer = try client.request(
      "POST", "/v1/import", WriteTests.authorized, body: lines.joined(separator: "\n"))
    #expect(answer.status == 200)
    #expect(answer.value("added") == 2 && answer.value("refused") == 2)
    let refusals: [[String: Any]] = try #require(answer.value("refusals"))
    #expect(refusals.compactMap { $0["line"] as? Int } == [2, 4])
    #expect((refusals[1]["problem"] as? String)?.hasPrefix("post \"b\": type: ") == true)
    #expect(try client.get("/rp/?feed=f").itemIDs == ["a", "c"])
  }

  @Test func `what refusals quote is bounded, however long the names in the records are`() throws {
    let service = try WriteTests.service()
    let client = try service.client()
    let name = String(repeating: "n", count: 900_000)
    let body = (0..<12).map { #"{"id":"p\#($0)","type":"image","\#(name)\#($0)":1}"# + "\n" }
      .joined()
    let answer = try send(client, Array(body.utf8), chunks: 40)
    #expect(answer.status == 200 && answer.value("refused") == 12)
    #expect(answer.body.count < 12 * 500)
  }

  @Test func `more refusals than can be told are counted`() throws {
    let service = try WriteTests.service()
    let client = try service.client()
    let body = String(repeating: "x\n", count: 5_000)
    let answer = try client.request("POST", "/v1/import", WriteTests.authorized, body: body)
    #expect(answer.value("refused") == 5_000)
    #expect(answer.value("refusals", as: [Any].self)?.count == 100)
  }

  @Test func `what refusals quote is bounded, each and all together`() throws {
    let service = try WriteTests.service()
    let client = try TestClient(port: service.port, timeoutSeconds: 600)
    func answer(_ line: String, times: Int) throws -> TestAnswer {
      let body = String(repeating: line + "\n", count: times)
      return try client.request("POST", "/v1/import", WriteTests.authorized, body: body)
    }
    // The least and the most that a name may have, in letters of one byte and of four, and in one that
    // JSON writes with six.
    for name in ["x", "\u{1f600}", #"\u0001"#] {
      let long = String(repeating: name, count: 100_000 / name.utf8.count)
      let line = #"{"id":"a","type":"image","\#(long)":1}"#
      let told = try answer(line, times: 120)
      #expect(told.status == 200 && told.value("refused") == 120)
      #expect(told.body.count < 200_000, "\(name): \(told.body.count)")
      let refusals: [[String: Any]] = try #require(told.value("refusals"))
      #expect(!refusals.isEmpty && refusals.first?["line"] as? Int == 1)
    }
    // Short ones are told whole.
    let short = try answer(#"{"id":"a","type":"sound"}"#, times: 120)
    #expect(short.value("refusals", as: [Any].self)?.count == 100)
    let single = try client.request(
      "PUT", "/v1/items/a", WriteTests.authorized,
      body: #"{"type":"image","\#(String(repeating: "x", count: 1_000_000))":1}"#)
    #expect(single.status == 422 && single.body.count < 4000, "\(single.body.count)")
  }

  @Test func `a text is cut between characters' bytes and says how long it was`() {
    let cases: [(text: String, limit: Int, short: String)] = [
      ("", 0, ""), ("", 3, ""), ("abc", 3, "abc"), ("abcd", 3, "abc… (4 bytes)"),
      ("a\u{1f600}b", 4, "a… (6 bytes)"), ("a\u{1f600}b", 5, "a\u{1f600}… (6 bytes)"),
      ("e\u{301}x", 1, "e… (4 bytes)"), ("\u{1f600}", 3, "… (4 bytes)"),
    ]
    for (text, limit, short) in cases {
      #expect(Array(text.shortened(toBytes: limit).utf8) == Array(short.utf8), "\(text) \(limit)")
    }
  }

  @Test func `an array, an empty body and no body are imports, too`() throws {
    let service = try WriteTests.service()
    let client = try service.client()
    let array = #"[{"id":"a","type":"image"},{"id":"b","type":"image"}]"#
    let cases: [(body: String?, added: Int)] = [(array, 2), ("", 0), (nil, 0), ("\n\n", 0)]
    for (body, added) in cases {
      let answer = try client.request(
        "POST", "/v1/import",
        WriteTests.authorized.merging(["Content-Type": "application/json"]) { $1 }, body: body)
      #expect(answer.status == 200 && answer.value("added") == added, "\(answer.text)")
    }
  }

  @Test func `an import that is cut short leaves whole batches and a server that goes on`() throws {
    let service = try RunningServer([SeedRecord]()) {
      $0.writeTokens = .only(WriteTests.token)
      $0.seeder.batchRecords = 10
    }
    do {
      let client = try service.client()
      let lines = WriteTests.authorized.map { "\($0.key): \($0.value)\r\n" }.joined()
      try client.send(
        Array("POST /v1/import HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\(lines)\r\n".utf8))
      for number in 0..<25 {
        try client.send(
          Array(#"{"id":"p\#(number)","type":"image","feeds":[{"name":"f","rank":1}]}"#.utf8)
            + [10])
      }
    }
    let client = try service.client()
    func count() throws -> Int { try client.get("/rp/?feed=f").itemIDs.count }
    try eventually { try count() >= 20 }
    #expect(try count() == 20)
    let again = (0..<25).map { #"{"id":"p\#($0)","type":"image","feeds":[{"name":"f","rank":1}]}"# }
    let answer = try client.request(
      "POST", "/v1/import", WriteTests.authorized, body: again.joined(separator: "\n"))
    #expect(answer.value("added") == 5 && answer.value("unchanged") == 20)
  }

  @Test func `a stream that is too long is refused`() throws {
    let service = try RunningServer([SeedRecord]()) {
      $0.writeTokens = .only(WriteTests.token)
      $0.importBytes = 1000
    }
    let announced = try service.client().request(
      "POST", "/v1/import", WriteTests.authorized, body: String(repeating: "\n", count: 1001))
    #expect(announced.status == 413)
    let chunked = try send(service.client(), [UInt8](repeating: 10, count: 1001), chunks: 3)
    #expect(chunked.status == 413)
    #expect(chunked.value("type") == "urn:lookahead:problem:limit-exceeded")
  }

  private static func gzipped(_ text: String) throws -> [UInt8] {
    var bytes: [UInt8] = []
    let encoder = try GzipEncoder()
    try encoder.encode(Array(text.utf8)) { bytes += $0 }
    try encoder.finish { bytes += $0 }
    return bytes
  }

  @Test(arguments: [["Content-Encoding": "gzip"], [:]], [1, 9])
  func `a compressed body is imported, and one that is cut short or stands for too much is refused`(
    _ fields: [String: String], _ chunks: Int
  ) throws {
    let service = try RunningServer {
      $0.writeTokens = .only(WriteTests.token)
      $0.seeder.decompressedLimitBytes = 10_000
      $0.maximumImports = 8
    }
    let record = #"{"id":"a","type":"image","feeds":[{"name":"f"}]}"# + "\n"
    let bytes = try Self.gzipped(record)
    let answer = try send(service.client(), bytes, chunks: chunks, fields)
    #expect(answer.status == 200 && answer.value("added") == 1, "\(answer.text)")
    let cut = try send(service.client(), Array(bytes.dropLast(2)), chunks: chunks, fields)
    #expect(cut.status == 400 && cut.text.contains("is incomplete"), "\(cut.text)")
    let much = try Self.gzipped(String(repeating: "\n", count: 10_001))
    let bomb = try send(service.client(), much, chunks: chunks, fields)
    #expect(bomb.status == 400 && bomb.text.contains("more than 10000 bytes"), "\(bomb.text)")
  }

  @Test func `a foreign type and a coding are refused before the body is read`() throws {
    let service = try WriteTests.service()
    for fields in [
      ["Content-Type": "application/x-www-form-urlencoded"], ["Content-Encoding": "br"],
    ] {
      let answer = try service.client().request(
        "POST", "/v1/import", WriteTests.authorized.merging(fields) { $1 }, body: "{}")
      #expect(answer.status == 415)
    }
  }
}
