import Testing

import PrefetchClient

struct RangeAnswerTests {
  private static let tag = ("ETag", "\"a\"")

  private func answer(
    _ status: Int, _ fields: [(String, String)], _ start: Int = 10, _ end: Int? = 20
  ) throws(RangeStoreError) -> RangeAnswer {
    try RangeAnswer(
      status: status, fields: TransportFields(fields.map { (name: $0.0, value: $0.1) }),
      start: start, end: end)
  }

  @Test(
    arguments: [
      ("bytes 10-19/100", 10, 20, 100), ("Bytes 10-14/100", 10, 15, 100),
      ("bytes 10-19/20", 10, 20, 20), ("bytes 10-19/*", 10, 20, nil),
    ] as [(String, Int, Int, Int?)])
  func `a single range that was asked for is taken`(
    text: String, start: Int, end: Int, bytes: Int?
  ) throws {
    let answer = try answer(206, [("Content-Range", text), Self.tag])
    #expect(answer.start == start && answer.end == end && answer.fileBytes == bytes)
    #expect((answer.version == nil) == (bytes == nil))
  }

  @Test(arguments: [
    "bytes 11-19/100", "bytes 10-20/100", "bytes 9-19/100", "bytes 10-19/19", "bytes 19-10/100",
    "bytes 10-19/x", "bytes */100", "items 10-19/100", "bytes 10-19", "bytes 10-/100",
    "bytes +10-19/100", "bytes 10-19/99999999999999999999",
  ])
  func `what contradicts the request or itself is refused`(text: String) {
    #expect(throws: RangeStoreError.self) { try answer(206, [("Content-Range", text), Self.tag]) }
  }

  @Test func `lengths have to agree, and codings are refused`() {
    let range = ("Content-Range", "bytes 10-19/100")
    #expect(throws: RangeStoreError.self) { try answer(206, [range, ("Content-Length", "9")]) }
    #expect(throws: RangeStoreError.self) {
      try answer(206, [range, ("Content-Encoding", "gzip")])
    }
    #expect(throws: RangeStoreError.self) { try answer(206, []) }
    #expect(throws: Never.self) { try answer(206, [range, ("Content-Encoding", "identity")]) }
  }

  @Test func `a whole file, an end and a status are what they are`() throws {
    let whole = try answer(200, [("Content-Length", "100"), Self.tag])
    #expect(whole.start == 0 && whole.end == 100)
    #expect(whole.version == FileVersion(validator: .entityTag("\"a\""), bytes: 100))
    #expect(try answer(200, [Self.tag]).version == nil)
    #expect(throws: RangeStoreError.beyondEnd(fileBytes: 5)) {
      try answer(416, [("Content-Range", "bytes */5")])
    }
    #expect(throws: RangeStoreError.status(503, retryAfterMilliseconds: 2_000)) {
      try answer(503, [("Retry-After", "2")])
    }
  }

  @Test func `only strong validators are kept under`() {
    func validator(_ fields: [(String, String)]) -> FileVersion.Validator? {
      FileVersion.Validator(TransportFields(fields.map { (name: $0.0, value: $0.1) }))
    }
    let (old, later) = ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:38 GMT")
    #expect(validator([("etag", "\"x\"")]) == .entityTag("\"x\""))
    #expect(validator([("ETag", "W/\"x\"")]) == nil && validator([("ETag", "x")]) == nil)
    #expect(validator([("Last-Modified", old), ("Date", later)]) == .modified(old))
    #expect(validator([("Last-Modified", old), ("Date", old)]) == nil)
    #expect(validator([("Last-Modified", old)]) == nil)
    #expect(validator([("Last-Modified", "yesterday"), ("Date", later)]) == nil)
  }

  @Test func `no byte is under way twice, and a distant reader takes over the rest`() {
    var table = TransferTable()
    func want(_ position: Int, _ end: Int, _ reading: Int) -> Transfer? {
      table.want(
        position, to: end, of: "a", by: reading, priority: .ahead, joinBytes: 100)
    }
    let first = want(0, 10_000, 1)
    let joined = want(50, 10_000, 2)
    #expect(joined == nil)
    let second = want(5_000, 10_000, 3)
    #expect(table[first?.id ?? 0]?.end == 5_000)
    #expect(second?.position == 5_000 && second?.end == 10_000)
    #expect(want(4_000, 9_000, 4)?.end == 5_000)
    #expect(table[first?.id ?? 0]?.end == 4_000)
    // Of a transfer that two want nothing ends with the first.
    #expect(table.leave(1).isEmpty && table.leave(2).map(\.id) == [first?.id])
  }

  @Test func `a link is measured only while something is on its way`() {
    var meter = LinkMeter()
    meter.answered(afterMilliseconds: 200, at: 1_000)
    #expect(meter.arrived(50_000, at: 1_100) == nil)
    let half = meter.arrived(50_000, at: 2_000)
    #expect(half?.kilobitsPerSecond == 800 && half?.roundTripMilliseconds == 200)
    #expect(meter.ended(at: 2_000) == nil)
    // A long while later: the pause is no bandwidth.
    meter.answered(afterMilliseconds: 900, at: 60_000)
    _ = meter.arrived(20_000, at: 60_100)
    #expect(meter.ended(at: 60_200)?.kilobitsPerSecond == 800)
  }
}
