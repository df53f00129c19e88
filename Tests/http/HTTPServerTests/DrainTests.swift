import Glibc
import HTTP
import HTTPServer
import TestSupport
import Testing

struct DrainTests {
  @Test func `requests in flight finish, idle connections end, and nothing new is accepted`() throws
  {
    let kept = Kept()
    try withServer(kept.handler) { server, port in
      let idle = Client(port)
      idle.get("/idle")
      #expect(eventually { kept.count == 1 })
      kept.take()[0].responder.respond(Response(.ok, text: "idle"))
      #expect(idle.answer()?.text == "idle")
      let busy = Client(port)
      busy.get("/1")
      busy.get("/2")
      #expect(eventually { kept.count == 2 })

      server.drain()
      server.drain()
      #expect(server.isDraining)
      #expect(idle.isClosed())
      #expect(!Client(port).isConnected)
      for (path, responder) in kept.take() { responder.respond(Response(.ok, text: path)) }
      let first = try #require(busy.answer())
      let last = try #require(busy.answer())
      #expect(first.text == "/1" && !first.closes && last.text == "/2" && last.closes)
      #expect(busy.isClosed())
      server.wait()
      #expect(server.connectionCount == 0)
    }
  }

  @Test func `what does not finish in time is cut`() throws {
    let kept = Kept()
    try withServer(kept.handler) {
      $0.drainTimeoutMilliseconds = 50
    } _: { server, port in
      let client = Client(port)
      client.get("/")
      #expect(eventually { kept.count == 1 })
      server.drain()
      #expect(client.isClosed())
      server.wait()
      for (_, responder) in kept.take() { responder.respond(Response(.ok)) }
    }
  }

  @Test func `a request that is under way is received and answered`() throws {
    try withServer { server, port in
      let client = Client(port)
      client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhe")
      #expect(eventually { server.connectionCount == 1 })
      usleep(20_000)
      server.drain()
      usleep(20_000)
      client.send("llo")
      let answer = try #require(client.answer())
      #expect(answer.text == "POST /a hello" && answer.closes)
      server.wait()
    }
  }

  @Test func `a connection that was accepted before the drain may still send its request`() throws {
    try withServer {
      $0.drainSilenceMilliseconds = 5_000
    } _: { server, port in
      let client = Client(port)
      #expect(eventually { server.connectionCount == 1 })
      server.drain()
      usleep(20_000)
      client.get("/")
      #expect(client.answer()?.closes == true)
      server.wait()
    }
  }

  @Test func `during the grace everything goes on`() throws {
    try withServer { server, port in
      server.drain(graceMilliseconds: 300)
      let client = Client(port)
      client.get("/")
      let answer = try #require(client.answer())
      #expect(answer.status == 200 && !answer.closes)
      #expect(client.isClosed())
      server.wait()
    }
  }

  @Test func `a server that has ended frees its port`() throws {
    var port: UInt16 = 0
    try withServer { _, bound in port = bound }
    try withServer(echo) {
      $0.port = port
    } _: { _, bound in
      #expect(bound == port)
    }
  }
}
