import Foundation
import HTTP
import HTTPServer
import Synchronization
import System
import TestSupport
import Testing

/// Bodies that are files, and slow readers of them.
struct FileBodyTests {
  static func open(_ path: String) throws -> OpenFile {
    try #require(OpenFile(try Descriptor(path)))
  }

  static func content(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
  }

  @Test func `ranges of a file and bytes leave in their order`() throws {
    let folder = TemporaryFolder()
    let bytes = Self.content(700_000)
    try Data(bytes).write(to: URL(fileURLWithPath: folder.file("a")))
    let file = try Self.open(folder.file("a"))
    #expect(file.size == bytes.count)
    let handler = ClosureHandler { _, responder in
      responder.respond(
        Response(
          .ok,
          body: [
            .bytes([1, 2, 3]), .file(file, 10..<20), .bytes(Array("between".utf8)),
            .file(file, 0..<700_000), .bytes([9]),
          ]))
    }
    let expected = [1, 2, 3] + bytes[10..<20] + Array("between".utf8) + bytes + [9]
    try withServer(handler) { _, port in
      let client = Client(port)
      for _ in 0..<3 {
        client.get("/")
        #expect(client.answer()?.body == expected)
      }
      client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
      let head = try #require(client.answer(toHead: true))
      #expect(head["Content-Length"] == "\(expected.count)")
    }
  }

  @Test func `a file that is cut short while it is sent ends the connection`() throws {
    let folder = TemporaryFolder()
    try Data(Self.content(1000)).write(to: URL(fileURLWithPath: folder.file("a")))
    let file = try Self.open(folder.file("a"))
    let handler = ClosureHandler { _, responder in
      responder.respond(Response(.ok, body: [.file(file, 0..<2000)]))
    }
    try withServer(handler) { _, port in
      let client = Client(port)
      client.get("/")
      #expect(client.answer()?.body == Self.content(1000))
      #expect(client.isClosed())
    }
  }

  @Test func `a client that reads slowly but steadily is not cut`() throws {
    let handler = ClosureHandler { _, responder in
      responder.respond(Response(.ok, bytes: [UInt8](repeating: 7, count: 3_000_000)))
    }
    try withServer(handler) {
      $0.writeStallTimeoutMilliseconds = 300
      $0.minimumAnswerBytesPerSecond = 1
    } _: { _, port in
      let client = Client(port, receiveBufferBytes: 4096)
      client.get("/")
      // Longer than many time-outs, in small pieces.
      #expect(client.answer(pausingMilliseconds: 2)?.body.count == 3_000_000)
    }
  }

  @Test func `a client that reads too slowly is cut`() throws {
    let handler = ClosureHandler { _, responder in
      responder.respond(Response(.ok, bytes: [UInt8](repeating: 7, count: 30_000_000)))
    }
    try withServer(handler) {
      $0.writeStallTimeoutMilliseconds = 50
      $0.minimumAnswerBytesPerSecond = 1 << 40
    } _: { server, port in
      let client = Client(port, receiveBufferBytes: 4096)
      client.get("/")
      #expect(eventually { server.connectionCount == 1 })
      #expect(eventually { server.connectionCount == 0 })
      #expect((client.answer(pausingMilliseconds: 0)?.body.count ?? 0) < 30_000_000)
    }
  }

  /// Remembers what it hears.
  private final class Witness: ServerObserver {
    let requests = Mutex<[FinishedRequest]>([])
    let events = Mutex<[ServerEvent]>([])

    func finished(_ request: FinishedRequest) { requests.withLock { $0.append(request) } }
    func noted(_ event: ServerEvent) { events.withLock { $0.append(event) } }
  }

  @Test func `the observer hears of each answer and how much of it left`() throws {
    let witness = Witness()
    let handled = Mutex(0)
    let handler = ClosureHandler { request, responder in
      handled.withLock { $0 += 1 }
      var response = Response(
        .ok, bytes: [UInt8](repeating: 7, count: request.path == "/large" ? 30_000_000 : 10))
      response.route = "/{size}"
      responder.respond(response)
    }
    try withServer(handler, observer: witness) { _, port in
      let client = Client(port)
      client.get("/small?x=1", "X-Request-Id: mine\r\n")
      #expect(client.answer()?.body.count == 10)
      client.send("nonsense\r\n\r\n")
      #expect(client.answer()?.status == 400)
      let other = Client(port, receiveBufferBytes: 4096)
      other.get("/large")
      #expect(eventually { handled.withLock { $0 } == 2 })
      other.reset()
      #expect(eventually { witness.requests.withLock { $0.count } == 3 })
    }
    let heard = witness.requests.withLock { $0 }
    try #require(heard.count == 3)
    #expect(heard[0].path == "/small" && heard[0].route == "/{size}" && heard[0].status == .ok)
    #expect(heard[0].requestID == "mine" && heard[0].peer?.description == "127.0.0.1")
    #expect(heard[0].bytes > 10 && heard[0].bytes < 1000)
    #expect(heard[1].method == nil && heard[1].path.isEmpty && heard[1].status == .badRequest)
    #expect(heard[2].path == "/large" && heard[2].bytes < 30_000_000)
    #expect(witness.events.withLock { $0 } == [.accepted, .accepted])
  }
}
