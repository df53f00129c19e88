import Foundation
import PrefetchClient
import TestSupport
import Testing
import Viewing

/// Our own requests against servers that do what servers do on bad days, over real sockets. Times are ample:
/// between two steps of such a test all others may have their turn.
@Suite struct SocketTransportTests {
  private static let body = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

  private static func request(_ server: LoopbackServer, timeoutMilliseconds: Int = 600_000)
    -> TransportRequest
  {
    TransportRequest(
      server.url.appending(path: "file"), timeoutMilliseconds: timeoutMilliseconds)
  }

  /// All of an answer.
  private static func read(
    _ transport: SocketTransport, _ request: TransportRequest
  ) async throws(TransportError) -> (status: Int, body: [UInt8]) {
    let answer = try await transport.answer(to: request)
    var body: [UInt8] = []
    while let bytes = try await answer.body.next() { body += bytes }
    return (answer.status, body)
  }

  private typealias Reply = LoopbackServer.Reply

  @Test
  func `a connection is used again while the server keeps it, and another taken when it has not`()
    async throws
  {
    // Of three questions on a connection the last one closes it, and says so only by that.
    let server = try LoopbackServer { question in
      Reply(
        status: "200 OK", body: Self.body, keepsConnection: question.number % 3 != 2)
    }
    let transport = SocketTransport()
    for _ in 0..<9 {
      let (status, body) = try await Self.read(transport, Self.request(server))
      #expect(status == 200 && body == Self.body)
    }
    #expect(server.questions.count == 9 && server.connections == 3)
  }

  @Test
  func `a connection that its server closed while nothing was asked costs another one, no error`()
    async throws
  {
    // It says that it keeps the connection, and does not.
    let server = try LoopbackServer { _ in
      Reply([Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8)])
    }
    let transport = SocketTransport()
    for _ in 0..<5 {
      let (_, body) = try await Self.read(transport, Self.request(server))
      #expect(body == Array("ok".utf8))
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(server.questions.count == 5)
  }

  @Test(arguments: [0, 1, 50_000, 99_999])
  func `an answer that is cut within its body is an error, never a shorter body`(cutAt: Int)
    async throws
  {
    let server = try LoopbackServer { _ in
      Reply(
        status: "200 OK", fields: [("Content-Length", "100000")], body: Self.body, cutAt: cutAt)
    }
    let error = await #expect(throws: TransportError.self) {
      try await Self.read(SocketTransport(), Self.request(server))
    }
    guard case .cut = error else {
      Issue.record("\(error as Any)")
      return
    }
  }

  @Test func `a server that falls silent is left after the time that was given`() async throws {
    let server = try LoopbackServer { question in
      let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n".utf8)
      let pieces = question.number == 0 ? [[], head] : [head, Array("abc".utf8), [1]]
      return Reply(pieces, pauseMilliseconds: 20_000)
    }
    for _ in 0..<2 {
      await #expect(throws: TransportError.timedOut) {
        try await Self.read(SocketTransport(), Self.request(server, timeoutMilliseconds: 200))
      }
    }
  }

  @Test func `an answer that comes slowly, byte by byte, is whole`() async throws {
    let text =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"
    let server = try LoopbackServer { _ in
      Reply(text.utf8.map { [$0] }, pauseMilliseconds: 1, keepsConnection: true)
    }
    let (status, body) = try await Self.read(
      SocketTransport(), Self.request(server))
    #expect(status == 200 && body == Array("hello".utf8))
  }

  @Test(arguments: [
    "nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
  ])
  func `what is no HTTP is an error that says so`(text: String) async throws {
    let server = try LoopbackServer { _ in Reply([Array(text.utf8)]) }
    let error = await #expect(throws: TransportError.self) {
      try await Self.read(SocketTransport(), Self.request(server))
    }
    guard case .malformed = error else {
      Issue.record("\(error as Any)")
      return
    }
  }

  @Test func `who stops within an answer ends the connection and nobody waits`() async throws {
    let server = try LoopbackServer { _ in
      Reply(
        [Array("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n".utf8)]
          + (0..<1_000).map { _ in Self.body }, keepsConnection: true)
    }
    let transport = SocketTransport(requests: 2)
    for _ in 0..<6 {
      var taken: TransportAnswer?
      // The thread of the one before is free soon, not at once.
      try await eventuallyAsync {
        do throws(TransportError) {
          taken = try await transport.answer(to: Self.request(server))
        } catch .unreachable {}
        return taken != nil
      }
      let answer = try #require(taken)
      _ = try await answer.body.next()
      answer.body.cancel()
      await #expect(throws: TransportError.cancelled) {
        while try await answer.body.next() != nil {}
      }
    }
    // Both threads are free again: more than they could ever hold were asked for.
    #expect(server.sentBytes < 6 * 100_000_000)
  }

  // MARK: With the store on top

  /// What a store makes of a server's way of answering ranges: the file, or an error.
  @Test(arguments: ["200 for 206", "another range", "a longer range", "a shorter body"])
  func `a store over sockets has every byte right, or an error`(way: String) async throws {
    let server = try LoopbackServer { question in
      guard let range = question.range, way != "200 for 206" else {
        return Reply(status: "200 OK", fields: [("ETag", "\"v1\"")], body: Self.body)
      }
      let last = min(range.upperBound, Self.body.count - 1)
      let shift = way == "another range" ? 1 : 0
      let first = min(range.lowerBound + shift, last)
      let stated = "bytes \(first)-\(last)/\(Self.body.count)"
      let body = Array(Self.body[range.lowerBound...last])
      return Reply(
        status: "206 Partial Content", fields: [("ETag", "\"v1\""), ("Content-Range", stated)],
        body: way == "a longer range" ? body + [1, 2, 3] : body,
        cutAt: way == "a shorter body" ? body.count / 2 : .max)
    }
    var limits = RangeStoreLimits()
    (limits.retries, limits.retryMilliseconds) = (1, 1)
    let store = RangeStore(transport: SocketTransport(), limits: limits)
    var read: [UInt8] = []
    do throws(RangeStoreError) {
      for try await bytes in store.bytes(
        of: server.url.appending(path: "file"), from: 1_000, to: 60_000)
      {
        read += bytes
      }
      #expect(read == Array(Self.body[1_000..<60_000]))
    } catch {
      #expect(way != "200 for 206", "\(error)")
      #expect(Array(Self.body[1_000..<60_000]).starts(with: read))
    }
  }
}
