import Glibc
import HTTP
import HTTPServer
import Synchronization
import System
import TestSupport
import Testing

struct LimitTests {
  @Test(arguments: [
    ("GET / HTTP/1.1\r\n\r\n", 400), ("GET /\(String(repeating: "a", count: 9000))", 414),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 17_000))", 431),
    ("FOO / HTTP/1.1\r\nHost: a\r\n\r\n", 501), ("GET / HTTP/3.0\r\n", 505),
  ])
  func `a refused message is answered by the application's mapping and ends the connection`(
    _ message: String, _ status: Int
  ) throws {
    try withServer { _, port in
      let client = Client(port)
      client.get("/1")
      client.send(message)
      #expect(client.answer()?.text == "GET /1 ")
      let answer = try #require(client.answer())
      #expect(answer.status == status && answer.closes)
      #expect(answer["X-Error-Of"] == answer["X-Request-Id"] && answer["X-Error-Of"] != nil)
      #expect(client.isClosed())
    }
  }

  @Test func `a refused HEAD is answered without a body`() throws {
    try withServer { _, port in
      let client = Client(port)
      client.send("HEAD / HTTP/1.1\r\nHost: a\r\nbad field\r\n\r\n")
      let answer = try #require(client.answer(toHead: true))
      #expect(answer.status == 400 && answer.closes)
      #expect(client.isClosed())
    }
  }

  @Test func `a refusal can be read by a client that goes on sending`() throws {
    try withServer { _, port in
      let client = Client(port)
      client.send("BAD\r\n")
      let chunk = [UInt8](repeating: 0x61, count: 10_000)
      for _ in 0..<30 { client.send(chunk) }
      #expect(client.answer()?.status == 400)
      #expect(client.isClosed())
    }
  }

  @Test func `a head that does not end is refused with 408`() throws {
    try withServer {
      $0.headerReadTimeoutMilliseconds = 50
    } _: { _, port in
      let client = Client(port)
      client.send("GET / HTTP/1.1\r\nHo")
      #expect(client.answer()?.status == 408)
      #expect(client.isClosed())
    }
  }

  @Test func `a head that trickles in is refused with 408 all the same`() throws {
    try withServer {
      $0.headerReadTimeoutMilliseconds = 100
    } _: { _, port in
      let client = Client(port)
      client.send("GET / HTTP/1.1\r\nX: ")
      #expect(eventually { !client.send("a") || !client.isSilent(milliseconds: 5) })
      #expect(client.answer()?.status == 408)
    }
  }

  @Test func `a body that stops is refused with 408`() throws {
    try withServer {
      $0.bodyReadTimeoutMilliseconds = 50
    } _: { _, port in
      let client = Client(port)
      client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
      #expect(client.answer()?.status == 408)
      #expect(client.isClosed())
    }
  }

  @Test func `a body that trickles in is refused with 408`() throws {
    try withServer {
      $0.bodyReadTimeoutMilliseconds = 100
      $0.minimumBodyBytesPerSecond = 1_000_000
    } _: { _, port in
      let client = Client(port)
      client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n")
      #expect(eventually { !client.send("a") || !client.isSilent(milliseconds: 5) })
      #expect(client.answer()?.status == 408)
    }
  }

  @Test(arguments: [false, true])
  func `an idle connection is closed without a word`(_ hasServed: Bool) throws {
    try withServer {
      $0.idleTimeoutMilliseconds = 50
      $0.headerReadTimeoutMilliseconds = 600_000
    } _: { _, port in
      let client = Client(port)
      if hasServed {
        client.get("/")
        #expect(client.answer()?.status == 200)
      }
      client.send("\r\n")
      #expect(client.isClosed())
    }
  }

  @Test func `however much is pipelined, few answers wait for a client that takes nothing`() throws
  {
    let kept = Mutex(0)
    let handler = ClosureHandler { _, responder in
      kept.withLock { $0 += 1 }
      responder.respond(Response(.ok, bytes: [UInt8](repeating: 0, count: 1_000_000)))
    }
    try withServer(handler) { _, port in
      let client = Client(port, receiveBufferBytes: 4096)
      client.send(String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: 60))
      #expect(eventually { kept.withLock { $0 } >= 1 })
      // What the kernel's buffers take goes out; one more waits.
      #expect(client.isReadable())
      #expect(kept.withLock { $0 } <= 8)
      for _ in 0..<60 { #expect(client.answer()?.body.count == 1_000_000) }
      #expect(kept.withLock { $0 } == 60)
    }
  }

  @Test func `when too much waits for clients, a further request is refused until they take it`()
    throws
  {
    let handler = ClosureHandler { request, responder in
      let size = request.path == "/large" ? 20_000_000 : 10
      responder.respond(Response(.ok, bytes: [UInt8](repeating: 0, count: size)))
    }
    try withServer(handler) {
      $0.heldAnswerBytes = 10_000_000
    } _: { _, port in
      let holder = Client(port, receiveBufferBytes: 4096)
      holder.get("/large")
      #expect(holder.isReadable())
      let other = Client(port)
      other.get("/small")
      let refused = try #require(other.answer())
      #expect(refused.status == 503 && refused.closes)
      #expect(holder.answer()?.body.count == 20_000_000)
      let third = Client(port)
      third.get("/small")
      #expect(third.answer()?.status == 200)
    }
  }

  @Test func `a client that takes nothing is cut`() throws {
    let handler = ClosureHandler { _, responder in
      responder.respond(Response(.ok, bytes: [UInt8](repeating: 0, count: 20_000_000)))
    }
    try withServer(handler) {
      $0.writeStallTimeoutMilliseconds = 50
    } _: { server, port in
      let client = Client(port, receiveBufferBytes: 4096)
      client.get("/")
      #expect(eventually { server.connectionCount == 1 })
      #expect(eventually { server.connectionCount == 0 })
    }
  }

  @Test func `an application that does not answer is answered for with 503`() throws {
    let kept = Kept()
    try withServer(kept.handler) {
      $0.answerTimeoutMilliseconds = 50
    } _: { _, port in
      let client = Client(port)
      client.get("/")
      #expect(client.answer()?.status == 503)
      #expect(client.isClosed())
      for (_, responder) in kept.take() { responder.respond(Response(.ok)) }
    }
  }

  @Test func `one connection too many is answered with 503, and the place is free again later`()
    throws
  {
    try withServer {
      $0.maximumConnections = 2
    } _: { server, port in
      var clients = [Client(port), Client(port)]
      for client in clients {
        client.get("/")
        #expect(client.answer()?.status == 200)
      }
      let third = Client(port)
      third.get("/")
      let answer = try #require(third.answer())
      #expect(answer.status == 503 && answer.closes)
      #expect(third.isClosed())
      clients.removeFirst()
      #expect(eventually { server.connectionCount == 1 })
      let fourth = Client(port)
      fourth.get("/")
      #expect(fourth.answer()?.status == 200)
    }
  }

  @Test func `a client that does not close does not hold a connection that has ended`() throws {
    try withServer {
      $0.lingerTimeoutMilliseconds = 50
    } _: { server, port in
      let client = Client(port)
      client.get("/", "Connection: close\r\n")
      #expect(client.answer()?.status == 200)
      #expect(eventually { server.connectionCount == 0 })
    }
  }

  @Test func `accepting pauses without descriptors and resumes when there are some`() throws {
    let exhaustion = Exhaustion(isOn: true)
    try withServer(exhaustion: exhaustion) {
      $0.acceptPauseMilliseconds = 40
    } _: { _, port in
      let client = Client(port)
      client.get("/")
      #expect(eventually { exhaustion.failures.load(ordering: .relaxed) >= 3 })
      // A loop that spins would have failed thousands of times by now.
      #expect(exhaustion.failures.load(ordering: .relaxed) < 100)
      exhaustion.isOn.store(false, ordering: .relaxed)
      #expect(client.answer()?.status == 200)
    }
  }

  @Test func `a connection that closes ends the pause at once`() throws {
    let exhaustion = Exhaustion(isOn: false)
    try withServer(exhaustion: exhaustion) {
      $0.acceptPauseMilliseconds = 3_600_000
    } _: { _, port in
      var first: Client? = Client(port)
      first?.get("/")
      #expect(first?.answer()?.status == 200)
      exhaustion.isOn.store(true, ordering: .relaxed)
      let second = Client(port)
      second.get("/")
      #expect(eventually { exhaustion.failures.load(ordering: .relaxed) == 1 })
      exhaustion.isOn.store(false, ordering: .relaxed)
      first = nil
      #expect(second.answer()?.status == 200)
    }
  }

  @Test func `a port in use is an error that names it`() throws {
    try withServer { _, port in
      let error = #expect(throws: SystemError.self) {
        try withServer(echo) {
          $0.port = port
        } _: { _, _ in
        }
      }
      let text = try #require(error).description
      #expect(text.hasPrefix("cannot listen on 127.0.0.1:\(port): Address already in use"))
    }
  }
}
