import Foundation
import Glibc
import HTTP
import Synchronization
import Testing

@testable import HTTPServer

/// Bodies of sizes around every multiple of the stream's and the buffer's, at every pace of client and
/// reader: each comes whole, and the connection goes on.
struct BodyPaceTests {
  enum Framing: CaseIterable { case length, chunks, oneByteChunks }

  /// How the client sends.
  enum Sending: CaseIterable {
    /// Head and body in one go.
    case together
    /// The body behind the head, and its last byte alone.
    case lastByteAlone
    /// With the next request behind it.
    case pipelined
    /// And then says that it sends nothing more.
    case halfClosing
  }

  /// How the application reads.
  enum Reading: CaseIterable {
    case atOnce
    /// Each time only when the stream is full, or all has come.
    case whenFull
  }

  struct Buffers {
    let stream: Int
    let read: Int

    /// 0, 1, and one less and one more than each multiple.
    func sizes(multiples: ClosedRange<Int>) -> [Int] {
      var sizes: Set = [0, 1]
      for multiple in multiples {
        for bytes in [stream, read, stream + read] {
          sizes.formUnion([bytes * multiple - 1, bytes * multiple, bytes * multiple + 1])
        }
      }
      return sizes.sorted()
    }
  }

  /// Reads as its request says, and answers with how many bytes came.
  static let reader = ClosureHandler(policy: { _ in .stream(maximumBytes: 1 << 30) }) {
    request, responder in
    guard let body = responder.body else { return responder.respond(Response(.ok, text: "none")) }
    let total = request.fields["X-Total"].flatMap { Int($0) } ?? 0
    let bufferBytes = request.fields["X-Full"].flatMap { Int($0) }
    Thread.detachNewThread {
      var count = 0
      while true {
        if let bufferBytes, total - count >= bufferBytes { while !body.isFull { usleep(50) } }
        guard let chunk = try? body.read() else { break }
        count += chunk.count
      }
      responder.respond(Response(.ok, text: "\(count)"))
    }
  }

  static func message(
    _ size: Int, _ framing: Framing, _ reading: Reading, _ buffers: Buffers
  ) -> (head: [UInt8], body: [UInt8]) {
    let content = [UInt8](repeating: 0x61, count: size)
    let body: [UInt8]
    let field: String
    switch framing {
    case .length:
      (field, body) = ("Content-Length: \(size)", content)
    case .chunks, .oneByteChunks:
      let length = framing == .chunks ? 1000 : 1
      field = "Transfer-Encoding: chunked"
      body = BodyStreamTests.chunked(
        stride(from: 0, to: size, by: length).map { Array(content[$0..<min(size, $0 + length)]) })
    }
    let full = reading == .whenFull ? "X-Full: \(buffers.stream)\r\n" : ""
    let head = "POST / HTTP/1.1\r\nHost: a\r\nX-Total: \(size)\r\n\(full)\(field)\r\n\r\n"
    return (Array(head.utf8), body)
  }

  /// Sends one body for each combination, and reads its answer; says how many there were.
  static func sendAll(
    _ buffers: Buffers, _ sizes: [Int], framings: [Framing], port: UInt16
  ) throws -> Int {
    var client = Client(port)
    var count = 0
    for size in sizes {
      for framing in framings {
        for sending in Sending.allCases {
          for reading in Reading.allCases {
            let (head, body) = message(size, framing, reading, buffers)
            switch sending {
            case .together, .halfClosing: client.send(head + body)
            case .pipelined:
              client.send(head + body + Array("GET /next HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
            case .lastByteAlone:
              client.send(head)
              client.send(Array(body.dropLast()))
              client.send(Array(body.suffix(1)))
            }
            if sending == .halfClosing { client.finishSending() }
            let isEmpty = size == 0 && framing == .length
            let said: Comment = "\(size) bytes, \(framing), \(sending), \(reading), \(buffers)"
            try #require(client.answer()?.text == (isEmpty ? "none" : "\(size)"), said)
            if sending == .pipelined { try #require(client.answer()?.text == "none", said) }
            if sending == .halfClosing { client = Client(port) }
            count += 1
          }
        }
      }
    }
    return count
  }

  @Test func `a thousand bodies around every multiple of small buffers come whole`() throws {
    var count = 0
    for buffers in [Buffers(stream: 256, read: 64), Buffers(stream: 48, read: 192)] {
      try withServer(Self.reader) {
        $0.streamBufferBytes = buffers.stream
        $0.readBufferBytes = buffers.read
        $0.bodyReadTimeoutMilliseconds = 9_000
      } _: { _, port in
        count += try Self.sendAll(
          buffers, buffers.sizes(multiples: 1...4), framings: Framing.allCases, port: port)
      }
    }
    #expect(count >= 1000)
  }

  @Test func `two hundred bodies around multiples of the usual buffers come whole`() throws {
    let defaults = ServerConfiguration()
    let buffers = Buffers(stream: defaults.streamBufferBytes, read: defaults.readBufferBytes)
    try withServer(Self.reader) {
      $0.bodyReadTimeoutMilliseconds = 9_000
    } _: { _, port in
      let count = try Self.sendAll(
        buffers, buffers.sizes(multiples: 1...2), framings: [.length, .chunks], port: port)
      #expect(count >= 200)
    }
  }

  @Test func `all that was sent before a half-close is answered, however many wait`() throws {
    let handler = ClosureHandler(policy: { _ in .collect(maximumBytes: 1000) }) {
      request, responder in
      guard request.path.hasSuffix("0") else {
        return responder.respond(Response(.ok, text: request.path))
      }
      Thread.detachNewThread { responder.respond(Response(.ok, text: request.path)) }
    }
    for depth in [1, 3, 64] {
      try withServer(handler) {
        $0.pipeliningDepth = depth
        $0.readBufferBytes = 100
      } _: { _, port in
        let client = Client(port)
        client.send(
          (0..<100).map { index in
            let method = index % 7 == 3 ? "POST" : "GET"
            return "\(method) /\(index) HTTP/1.1\r\nHost: a\r\n\r\n"
          }.joined())
        client.finishSending()
        for index in 0..<100 { try #require(client.answer()?.text == "/\(index)") }
        #expect(client.isClosed())
      }
    }
  }

  @Test func `what waits is taken in one step, however small its pieces were`() throws {
    let rooms = Mutex(0)
    let body = BodyStream(bufferBytes: 1_000_000) { rooms.withLock { $0 += 1 } }
    for _ in 0..<1_200_000 { body.append([1]) }
    #expect(body.isFull)
    #expect(try body.read()?.count == 1_200_000)
    #expect(rooms.withLock { $0 } == 1)
    body.end(StreamEnd(rest: [2]))
    #expect(try body.read() == [2])
    #expect(try body.read() == nil)
    #expect(try body.read() == nil)
    #expect(rooms.withLock { $0 } == 1)
  }

  @Test func `a body in chunks of one byte is handed over by reads and not by chunks`()
    throws
  {
    let reads = Mutex(0)
    let handler = ClosureHandler(policy: { _ in .stream(maximumBytes: 1 << 30) }) { _, responder in
      guard let body = responder.body else { return }
      Thread.detachNewThread {
        var count = 0
        while let chunk = try? body.read() {
          count += chunk.count
          reads.withLock { $0 += 1 }
        }
        responder.respond(Response(.ok, text: "\(count)"))
      }
    }
    try withServer(handler) { _, port in
      let client = Client(port)
      client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
      client.send(BodyStreamTests.chunked([[UInt8]](repeating: [1], count: 60_000)))
      #expect(client.answer()?.text == "60000")
    }
    // 360 KB in reads of 16 KB, and some that found less.
    #expect(reads.withLock { $0 } < 2_000)
  }
}
