import Foundation
import HTTP
import HTTPServer
import Synchronization
import TestSupport
import Testing

/// Bodies that the application reads as they come.
struct BodyStreamTests {
  /// Reads the whole body on a thread of its own, then answers with how many bytes it had.
  static func counting(
    maximumBytes: Int = 1 << 40, _ ended: @escaping @Sendable (Result<Int, BodyStreamError>) -> Void
  ) -> ClosureHandler {
    ClosureHandler(policy: { _ in .stream(maximumBytes: maximumBytes) }) { request, responder in
      guard let body = responder.body else {
        return responder.respond(Response(.ok, text: "no body"))
      }
      Thread.detachNewThread {
        let result = Result { () throws(BodyStreamError) in try count(body) }
        ended(result)
        responder.respond(Response(.ok, text: "\(request.path) \((try? result.get()) ?? -1)"))
      }
    }
  }

  static func count(_ body: BodyStream) throws(BodyStreamError) -> Int {
    var count = 0
    while let chunk = try body.read() { count += chunk.count }
    return count
  }

  static func chunked(_ pieces: [[UInt8]]) -> [UInt8] {
    pieces.flatMap { Array("\(String($0.count, radix: 16))\r\n".utf8) + $0 + Array("\r\n".utf8) }
      + Array("0\r\n\r\n".utf8)
  }

  @Test func `a body of either framing comes whole, and the connection goes on`() throws {
    try withServer(Self.counting { _ in }) { _, port in
      let client = Client(port)
      let large = [UInt8](repeating: 1, count: 3_000_000)
      client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: \(large.count)\r\n\r\n")
      client.send(large)
      #expect(client.answer()?.text == "/a 3000000")
      client.send("POST /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
      client.send(Self.chunked([[1, 2, 3], [UInt8](repeating: 2, count: 500_000)]))
      #expect(client.answer()?.text == "/b 500003")
      client.send("POST /c HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
      #expect(client.answer()?.text == "no body")
      client.get("/d")
      #expect(client.answer()?.text == "no body")
    }
  }

  @Test func `the bytes come in their order`() throws {
    let read = Mutex<[UInt8]>([])
    let handler = ClosureHandler(policy: { _ in .stream(maximumBytes: 1 << 20) }) { _, responder in
      guard let body = responder.body else { return }
      Thread.detachNewThread {
        while let chunk = try? body.read() { read.withLock { $0 += chunk } }
        responder.respond(Response(.ok))
      }
    }
    let bytes = FileBodyTests.content(100_000)
    try withServer(handler) { _, port in
      let client = Client(port)
      client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
      client.send(
        Self.chunked([Array(bytes[..<7]), Array(bytes[7..<5000]), Array(bytes[5000...])]))
      #expect(client.answer()?.status == 200)
    }
    #expect(read.withLock { $0 } == bytes)
  }

  @Test func `the client hears of its body before the answer, if it knows interim answers`() throws
  {
    let handler = ClosureHandler(policy: { _ in .stream(maximumBytes: 1 << 20) }) { _, responder in
      guard let body = responder.body else { return }
      Thread.detachNewThread {
        responder.inform(.uploadResumptionSupported, ["Location": "/here"])
        let count = (try? Self.count(body)) ?? -1
        responder.inform(.uploadResumptionSupported, ["Upload-Offset": "\(count)"])
        responder.respond(Response(.ok, text: "\(count)"))
        // Behind the answer nothing leaves.
        responder.inform(.uploadResumptionSupported, ["Upload-Offset": "9"])
      }
    }
    try withServer(handler) { _, port in
      let client = Client(port)
      for expects in ["", "Expect: 100-continue\r\n"] {
        client.send("POST /a HTTP/1.1\r\nHost: a\r\n\(expects)Content-Length: 2\r\n\r\n")
        var statuses: [Int] = []
        while statuses.last != 104 || (!expects.isEmpty && !statuses.contains(100)) {
          let interim = try #require(client.answer())
          if interim.status == 104 { #expect(interim["Location"] == "/here") }
          statuses.append(interim.status)
        }
        client.send([1, 1])
        let progress = client.answer()
        #expect(progress?.status == 104 && progress?["Upload-Offset"] == "2")
        #expect(progress?["Content-Length"] == nil)
        #expect(client.answer()?.text == "2")
      }
      let old = Client(port)
      old.send("POST /a HTTP/1.0\r\nContent-Length: 2\r\n\r\n")
      old.send([1, 1])
      #expect(old.answer()?.text == "2")
    }
  }

  @Test func `a body whose rest is not wanted ends for its reader, with what has come`() throws {
    let read = Mutex<String>("")
    let handler = ClosureHandler(policy: { _ in .stream(maximumBytes: 1 << 20) }) { _, responder in
      guard let body = responder.body else { return }
      Thread.detachNewThread {
        var count = 0
        do {
          while let chunk = try body.read() {
            count += chunk.count
            body.cancel()
          }
        } catch {
          read.withLock { $0 = "\(count) \(error)" }
        }
        responder.respond(Response(.ok))
      }
    }
    try withServer(handler) { _, port in
      let client = Client(port)
      client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n")
      client.send([1])
      let answer = client.answer()
      #expect(answer?.status == 200 && answer?.closes == true)
    }
    #expect(read.withLock { $0 } == "1 \(BodyStreamError.cancelled)")
  }

  @Test func `the client is told to go on before it sends`() throws {
    try withServer(Self.counting { _ in }) { _, port in
      let client = Client(port)
      client.send(
        "POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
      #expect(client.answer()?.status == 100)
      client.send([1, 1])
      #expect(client.answer()?.text == "/a 2")
    }
  }

  @Test func `a body that is not read holds the client up, and little memory`() throws {
    let kept = Mutex<Responder?>(nil)
    let handler = ClosureHandler(policy: { _ in .stream(maximumBytes: 1 << 40) }) { _, responder in
      kept.withLock { $0 = responder }
    }
    try withServer(handler) {
      $0.streamBufferBytes = 10_000
      $0.bodyReadTimeoutMilliseconds = 600_000
    } _: { _, port in
      let client = Client(port, sendBufferBytes: 20_000)
      client.send("POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
      let chunk = Array("3e8\r\n".utf8) + [UInt8](repeating: 1, count: 1000) + [13, 10]
      var chunks: [UInt8] = []
      for _ in 0..<12_000 { chunks += chunk }
      let sent = client.sendWhileTaken(chunks)
      // What the kernel's two buffers hold, and no more.
      #expect(sent < 10_000_000)
      #expect(eventually { kept.withLock { $0 != nil } })
      let responder = try #require(kept.withLock { $0.take() })
      let body = try #require(responder.body)
      Thread.detachNewThread {
        responder.respond(Response(.ok, text: "\((try? Self.count(body)) ?? -1)"))
      }
      let begun = (sent + chunk.count - 1) / chunk.count
      client.send(Array(chunks[sent..<(begun * chunk.count)]) + Array("0\r\n\r\n".utf8))
      #expect(client.answer()?.text == "\(begun * 1000)")
    }
  }

  @Test func `an answer before the end of the body ends the connection`() throws {
    let handler = ClosureHandler(policy: { _ in .stream(maximumBytes: 1 << 40) }) { _, responder in
      responder.respond(Response(.badRequest, text: "no"))
    }
    try withServer(handler) { _, port in
      let client = Client(port)
      client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\n\r\nGET /evil HTTP/1.1\r\n")
      let answer = try #require(client.answer())
      #expect(answer.status == 400 && answer.closes)
      client.send("Host: a\r\n\r\n")
      #expect(client.isClosed())
    }
  }

  @Test func `what cuts a body short reaches its reader and, where there is one, the client`()
    throws
  {
    let head = "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"
    let cases: [(sent: String, leaves: Bool, error: BodyStreamError, status: Int?)] = [
      ("xyz\r\n", false, .refused(.malformedChunkSize), 400),
      ("400\r\n", false, .refused(.bodyTooLarge(limitBytes: 100)), 413),
      ("", false, .refused(.bodyTimedOut), 408),
      ("5\r\nab", true, .refused(.unexpectedEnd), 400),
    ]
    for (sent, leaves, error, status) in cases {
      let ended = Mutex<Result<Int, BodyStreamError>?>(nil)
      let handler = Self.counting(maximumBytes: 100) { result in ended.withLock { $0 = result } }
      try withServer(handler) {
        $0.bodyReadTimeoutMilliseconds = sent.isEmpty ? 50 : 20_000
      } _: { _, port in
        let client = Client(port)
        client.send(head + sent)
        if leaves { client.finishSending() }
        #expect(client.answer()?.status == status, "\(error)")
        #expect(client.isClosed())
        #expect(eventually { ended.withLock { $0 != nil } })
        #expect(ended.withLock { $0 } == .failure(error))
      }
    }
  }

  @Test func `a client that is gone is no end of the body`() throws {
    let ended = Mutex<Result<Int, BodyStreamError>?>(nil)
    try withServer(Self.counting { result in ended.withLock { $0 = result } }) { _, port in
      var client: Client? = Client(port)
      client?.send(
        "POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 40\r\n\r\n")
      // A reset takes along what was not read yet: the head has to be.
      #expect(client?.answer()?.status == 100)
      client?.send("abc")
      client?.reset()
      client = nil
      #expect(eventually { ended.withLock { $0 != nil } })
      #expect(ended.withLock { $0 } == .failure(.disconnected))
    }
  }

  @Test func `an application that does not read is answered for with 503`() throws {
    let kept = Kept()
    let handler = ClosureHandler(
      policy: { _ in .stream(maximumBytes: 1 << 40) }, answer: kept.handler.answer)
    try withServer(handler) {
      $0.answerTimeoutMilliseconds = 50
      $0.streamBufferBytes = 10
    } _: { _, port in
      let client = Client(port)
      client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\n\r\n")
      client.send([UInt8](repeating: 1, count: 20))
      #expect(client.answer()?.status == 503)
      #expect(client.isClosed())
      _ = kept.take()
    }
  }
}
