import HTTP
import HTTPServer
import TestSupport
import Testing

struct BodyTests {
  static let discarding = ClosureHandler(policy: { _ in .discard }, answer: echo.answer)
  static let evil = "GET /evil HTTP/1.1\r\nHost: a\r\n\r\n"

  @Test func `bodies of both framings are collected`() throws {
    try withServer { _, port in
      let client = Client(port)
      client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhe")
      client.send("llo")
      #expect(client.answer()?.text == "POST /a hello")
      client.send("POST /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel")
      client.send("lo\r\n6\r\n world\r\n0\r\nT: 1\r\n\r\n")
      #expect(client.answer()?.text == "POST /b hello world")
    }
  }

  @Test func `a body is never read as a request`() throws {
    try withServer(Self.discarding) { _, port in
      let client = Client(port)
      client.send(
        "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: \(Self.evil.utf8.count)\r\n\r\n\(Self.evil)"
      )
      client.get("/b")
      #expect(client.answer()?.text == "POST /a ")
      #expect(client.answer()?.text == "GET /b ")
    }
  }

  @Test func `a body that nobody wants and that is too long ends the connection`() throws {
    try withServer(Self.discarding) {
      $0.discardedBodyBytes = 10
    } _: { _, port in
      let heads = ["Content-Length: 1000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n400\r\n"]
      for head in heads {
        let client = Client(port)
        client.send("POST /a HTTP/1.1\r\nHost: a\r\n\(head)\(Self.evil)")
        let answer = try #require(client.answer())
        #expect(answer.text == "POST /a " && answer.closes)
        #expect(client.isClosed())
      }
    }
  }

  @Test func `a body that nobody wants and that does not come is not waited for long`() throws {
    try withServer(Self.discarding) {
      $0.discardedBodyTimeoutMilliseconds = 50
    } _: { _, port in
      let client = Client(port)
      client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
      let answer = try #require(client.answer())
      #expect(answer.text == "POST /a " && answer.closes)
      #expect(client.isClosed())
    }
  }

  @Test(arguments: [
    "Content-Length: 1001\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n3e9\r\n",
    "Expect: 100-continue\r\nContent-Length: 1001\r\n\r\n",
  ])
  func `a body past its limit is refused with 413 before it is read`(_ head: String) throws {
    try withServer { _, port in
      let client = Client(port)
      client.send("POST / HTTP/1.1\r\nHost: a\r\n\(head)")
      let answer = try #require(client.answer())
      #expect(answer.status == 413 && answer.closes)
      #expect(client.isClosed())
    }
  }

  @Test func `a client that expects it is told to continue`() throws {
    try withServer { _, port in
      let client = Client(port)
      client.send(
        "POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
      #expect(client.answer()?.status == 100)
      client.send("hello")
      #expect(client.answer()?.text == "POST /a hello")
    }
  }

  @Test func `100 Continue waits for the answers before it`() throws {
    let kept = Kept()
    try withServer(kept.handler) { _, port in
      let client = Client(port)
      client.get("/1")
      client.send(
        "POST /2 HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
      #expect(eventually { kept.count == 1 })
      kept.take()[0].responder.respond(Response(.ok, text: "1"))
      #expect(client.answer()?.text == "1")
      #expect(client.answer()?.status == 100)
      client.send("hello")
      #expect(eventually { kept.count == 1 })
      kept.take()[0].responder.respond(Response(.ok, text: "2"))
      #expect(client.answer()?.text == "2")
    }
  }

  @Test func `a client whose body is not wanted is answered instead of told to continue`() throws {
    try withServer(Self.discarding) { _, port in
      let client = Client(port)
      client.send(
        "POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
      let answer = try #require(client.answer())
      #expect(answer.status == 200 && answer.closes)
      #expect(client.isClosed())
    }
  }

  @Test func `another expectation is refused`() throws {
    try withServer { _, port in
      let client = Client(port)
      client.get("/", "Expect: the-unexpected\r\n")
      #expect(client.answer()?.status == 417)
      #expect(client.isClosed())
    }
  }

  @Test func `a body that ends too early is refused`() throws {
    try withServer { _, port in
      let client = Client(port)
      client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
      client.finishSending()
      #expect(client.answer()?.status == 400)
      #expect(client.isClosed())
    }
  }
}
