import Glibc
import HTTP
@testable import HTTPServer
import Logging
import Synchronization
import TestSupport
import Testing

struct ExchangeTests {
  @Test func `a connection is kept over requests and every answer says what it must`() throws {
    try withServer { _, port in
      let client = Client(port)
      var ids: Set<String> = []
      for path in ["/a", "/b"] {
        client.get(path)
        let answer = try #require(client.answer())
        #expect(answer.status == 200 && answer.text == "GET \(path) ")
        #expect(answer["Date"]?.hasSuffix(" GMT") == true && answer["Connection"] == nil)
        ids.insert(try #require(answer["X-Request-Id"]))
      }
      #expect(ids.count == 2)
    }
  }

  @Test func `request ids count in base 36 behind a prefix`() {
    var ids = RequestIDGenerator()
    let first = ids.next()
    #expect(first.utf8.count == 9 && first.hasSuffix("1"))
    for number in 2...(36 * 36 * 36 + 1) {
      let id = ids.next()
      guard id == first.dropLast() + String(number, radix: 36) else {
        Issue.record("\(id) is not number \(number) behind \(first)")
        return
      }
    }
  }

  @Test func `a client's request id is taken over where it is well formed`() throws {
    try withServer { _, port in
      let client = Client(port)
      client.get("/", "X-Request-Id: my-id\r\n")
      #expect(client.answer()?["X-Request-Id"] == "my-id")
      client.get("/", "X-Request-Id: my id\r\n")
      #expect(client.answer()?["X-Request-Id"] != "my id")
    }
  }

  @Test func `pipelined answers come in the order of the requests, whenever they are made`()
    throws
  {
    let kept = Kept()
    try withServer(kept.handler) { _, port in
      let client = Client(port)
      client.send(
        (0..<20).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
      #expect(eventually { kept.count == 20 })
      for (path, responder) in kept.take().reversed() {
        responder.respond(Response(.ok, text: path))
      }
      for number in 0..<20 { #expect(client.answer()?.text == "/\(number)") }
    }
  }

  @Test func `no more requests wait than the pipelining depth allows, and none is lost`() throws {
    let kept = Kept()
    try withServer(kept.handler) {
      $0.pipeliningDepth = 3
    } _: { _, port in
      let client = Client(port)
      client.send((0..<10).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
      var answered = 0
      while answered < 10 {
        #expect(eventually { kept.count == min(3, 10 - answered) })
        for (path, responder) in kept.take() {
          responder.respond(Response(.ok, text: path))
          #expect(client.answer()?.text == "/\(answered)")
          #expect(path == "/\(answered)")
          answered += 1
        }
      }
    }
  }

  @Test func `a thousand pipelined requests are answered at once in order`() throws {
    try withServer { _, port in
      let client = Client(port)
      client.send((0..<1000).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
      for number in 0..<1000 { #expect(client.answer()?.text == "GET /\(number) ") }
    }
  }

  @Test func `an answer to HEAD has the length of the body and no body`() throws {
    try withServer { _, port in
      let client = Client(port)
      client.send("HEAD /abc HTTP/1.1\r\nHost: a\r\n\r\n")
      let answer = try #require(client.answer(toHead: true))
      #expect(answer["Content-Length"] == "10")
      client.get("/next")
      #expect(client.answer()?.text == "GET /next ")
    }
  }

  @Test(arguments: [Status.noContent, .notModified])
  func `a status without a body is sent without one`(_ status: Status) throws {
    let handler = ClosureHandler { _, responder in
      responder.respond(Response(status, fields: ["ETag": "\"a\""], text: "never sent"))
    }
    try withServer(handler) { _, port in
      let client = Client(port)
      for _ in 0..<2 {
        client.get("/")
        let answer = try #require(client.answer())
        #expect(answer.status == status.code && answer["Content-Length"] == nil)
      }
    }
  }

  @Test func `HTTP/1.0 closes unless it asks for more`() throws {
    try withServer { _, port in
      let client = Client(port)
      client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
      #expect(client.answer()?["Connection"] == "keep-alive")
      client.send("GET / HTTP/1.0\r\n\r\n")
      #expect(client.answer()?.closes == true)
      #expect(client.isClosed())
    }
  }

  @Test func `Connection close is honoured and said, and nothing behind it is answered`() throws {
    try withServer { _, port in
      let client = Client(port)
      client.get("/", "Connection: close\r\n")
      client.get("/evil")
      #expect(client.answer()?.closes == true)
      #expect(client.isClosed())
    }
  }

  @Test func `what is sent behind a write waits for the write`() throws {
    let kept = Kept()
    try withServer(kept.handler) { _, port in
      let client = Client(port)
      client.get("/1")
      client.send("POST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab")
      client.get("/3")
      client.get("/4")
      #expect(eventually { kept.count == 2 })
      #expect(client.isSilent(milliseconds: 50))
      let first = kept.take()
      #expect(first.map(\.path) == ["/1", "/2"])
      for (path, responder) in first { responder.respond(Response(.ok, text: path)) }
      #expect(eventually { kept.count == 2 })
      for (path, responder) in kept.take() { responder.respond(Response(.ok, text: path)) }
      #expect((1...4).map { _ in client.answer()?.text } == ["/1", "/2", "/3", "/4"])
    }
  }

  @Test func `a large answer of many parts arrives whole at a slow reader`() throws {
    let parts = (0..<700).map { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: $0 * 20) }
    let handler = ClosureHandler { _, responder in
      responder.respond(Response(.ok, body: parts.map(Response.Part.bytes)))
    }
    try withServer(handler) { _, port in
      let client = Client(port, receiveBufferBytes: 4096)
      client.get("/1")
      client.get("/2")
      usleep(50_000)
      let whole = parts.flatMap(\.self)
      #expect(client.answer()?.body == whole)
      #expect(client.answer()?.body == whole)
    }
  }

  @Test func `a client that has finished sending gets its answers`() throws {
    let kept = Kept()
    try withServer(kept.handler) { _, port in
      let client = Client(port)
      client.get("/1")
      client.get("/2")
      client.finishSending()
      #expect(eventually { kept.count == 2 })
      for (path, responder) in kept.take() { responder.respond(Response(.ok, text: path)) }
      #expect(client.answer()?.text == "/1")
      let last = try #require(client.answer())
      #expect(last.text == "/2" && last.closes)
      #expect(client.isClosed())
    }
  }

  @Test func `a client that is gone before its answer harms nobody`() throws {
    let kept = Kept()
    try withServer(kept.handler) { server, port in
      do {
        let client = Client(port)
        client.get("/1")
        #expect(eventually { kept.count == 1 })
      }
      for (_, responder) in kept.take() {
        responder.respond(Response(.ok, bytes: [UInt8](repeating: 0, count: 5_000_000)))
      }
      #expect(eventually { server.connectionCount == 0 })
      let next = Client(port)
      next.get("/2")
      #expect(eventually { kept.count == 1 })
      kept.take()[0].responder.respond(Response(.ok, text: "2"))
      #expect(next.answer()?.text == "2")
    }
  }

  @Test func `a second answer to a request is ignored`() throws {
    let handler = ClosureHandler { _, responder in
      responder.respond(Response(.ok, text: "first"))
      responder.respond(Response(.ok, text: "second"))
    }
    try withServer(handler) { _, port in
      let client = Client(port)
      client.get("/")
      client.get("/")
      #expect(client.answer()?.text == "first")
      #expect(client.answer()?.text == "first")
      #expect(client.isSilent(milliseconds: 50))
    }
  }

  @Test func `a dropped responder is answered for, and the connection ends`() throws {
    let handler = ClosureHandler { _, _ in }
    try withServer(handler) { _, port in
      let client = Client(port)
      client.get("/", "X-Request-Id: my-id\r\n")
      let answer = try #require(client.answer())
      #expect(answer.status == 500 && answer["X-Error-Of"] == "my-id" && answer.closes)
      #expect(client.isClosed())
    }
  }

  @Test func `a server that nobody holds goes on`() throws {
    var configuration = ServerConfiguration()
    configuration.port = 0
    var server: Server? = Server(
      configuration: configuration, handler: echo, logger: Logger(label: "test"))
    let port = try #require(server).start()
    server = nil
    for _ in 0..<2 {
      let client = Client(port)
      client.get("/")
      #expect(client.answer()?.status == 200)
    }
  }

  @Test func `several event loops share a port`() throws {
    let threads = Mutex<Set<UInt>>([])
    let handler = ClosureHandler { _, responder in
      _ = threads.withLock { $0.insert(UInt(pthread_self())) }
      responder.respond(Response(.ok, text: "x"))
    }
    try withServer(handler) {
      $0.eventLoops = 2
    } _: { _, port in
      for _ in 0..<64 {
        let client = Client(port)
        client.get("/")
        #expect(client.answer()?.text == "x")
      }
    }
    #expect(threads.withLock { $0.count } == 2)
  }
}
