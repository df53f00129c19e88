import Feed
import TestSupport
import Testing

/// Clients that listen to a feed of a database, many at once.
@Suite struct EventListenersTests {
  @Test func `who comes back after a new ranking is let in, however many there are`() throws {
    let service = try RunningService((1...50).map { .ranked("p\($0)", $0 + 10, feed: "live") }) {
      $0.application.writeTokens = .only(RunningService.token)
      $0.application.workerThreads = 1
      $0.application.workerQueue = 1
    }
    let client = try service.client()
    func put(_ id: String, rank: Int) throws {
      let answer = try client.request(
        "PUT", "/v1/items/\(id)", RunningService.authorized,
        body: #"{"type":"image","feeds":[{"name":"live","rank":\#(rank)}]}"#)
      try #require([201, 204].contains(answer.status))
    }
    func listen(from id: String) throws -> [TestClient] {
      let clients = try (0..<300).map { _ in try service.client() }
      let request =
        "GET /v1/feeds/live/events HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: \(id)\r\n\r\n"
      for client in clients { try client.send(Array(request.utf8)) }
      for client in clients {
        #expect(try client.receive().status == 200)
        #expect(try client.receive(through: "\n\n").hasPrefix("retry: "))
      }
      return clients
    }
    let id: String = try #require(try client.get("/rp/?feed=live").value("paging.newer"))
    // The feed is ranked anew, and has nothing that was not there before.
    try put("p50", rank: 2)
    #expect(try client.get("/rp/?feed=live").value("paging.ranking", as: Int.self) == 2)
    let listeners = try listen(from: id)
    try put("news", rank: 1)
    for listener in listeners {
      #expect(try listener.receive(through: "\n\n").hasPrefix("event: newer\n"))
    }
    // From here on there is something from the first moment on.
    for listener in try listen(from: id) {
      #expect(try listener.receive(through: "\n\n").hasPrefix("event: newer\n"))
    }
  }
}
