import Catalog
import Feed
import Foundation
import TestSupport
import Testing

@testable import FeedServer

/// What a cache is told, over real connections.
@Suite struct CachePurgerTests {
  private static let authorized = ["Authorization": "Bearer the-token-of-the-tests"]
  private static let records: [SeedRecord] = [
    .timed("a1", 10, feed: "a"), .timed("a2", 20, feed: "a"), .timed("b1", 10, feed: "b"),
  ]

  /// A server that purges these, at once and only once.
  private func server(
    purging caches: [LoopbackServer], againMilliseconds: Int = 0, path: String = "/"
  ) throws -> RunningServer {
    try RunningServer(Self.records) { configuration in
      configuration.writeTokens = .only("the-token-of-the-tests")
      configuration.purgeTargets = caches.map {
        HTTPTarget(host: "127.0.0.1", port: $0.port, target: path)
      }
      configuration.purgeIntervalMilliseconds = 0
      configuration.purgeAgainMilliseconds = againMilliseconds
      configuration.purgeTimeoutMilliseconds = 500
    }
  }

  /// The keys that the cache was sent, until there are this many requests.
  private func keys(_ cache: LoopbackServer, after count: Int) throws -> [Set<String>] {
    eventually { cache.questions.count >= count }
    try #require(cache.questions.count >= count)
    return cache.questions.map {
      Set(($0.fields["surrogate-key"] ?? "").split(separator: " ").map(String.init))
    }
  }

  @Test func `a cache is purged of everything at the start, and then of what changed`() throws {
    let cache = try LoopbackServer { _ in .init(status: "200 Purged") }
    let server = try server(purging: [cache], path: "/purge")
    let client = try server.client()
    #expect(try keys(cache, after: 1) == [["all"]])
    #expect(cache.questions[0].target == "/purge")
    let writes: [(method: String, path: String, body: String, keys: Set<String>)] = [
      ("POST", "/v1/items/b1/counters", #"{"likes":1}"#, ["loose", "feed/b"]),
      (
        "PUT", "/v1/items/a1", #"{"type":"text","feeds":[{"name":"c"}]}"#,
        ["loose", "feeds", "feed/a", "feed/c"]
      ),
      ("PUT", "/v1/feeds/c", #"{"feed":{"name":"d"}}"#, ["loose", "feeds", "feed/c", "feed/d"]),
      ("DELETE", "/v1/items/b1", "", ["loose", "feeds", "feed/b"]),
      ("PUT", "/v1/items/lone", #"{"type":"text","feeds":[]}"#, []),
    ]
    for (number, (method, path, body, expected)) in writes.enumerated() where !expected.isEmpty {
      let fields = Self.authorized.merging(["Content-Type": "application/json"]) { $1 }
      let answer = try client.request(method, path, fields, body: body)
      #expect((200...204).contains(answer.status), "\(answer.text)")
      #expect(try keys(cache, after: number + 2).last == expected, "\(method) \(path)")
    }
  }

  @Test func `a purge is repeated, and both are counted`() throws {
    let cache = try LoopbackServer { _ in .init(status: "204 No Content") }
    let server = try server(purging: [cache], againMilliseconds: 20)
    #expect(try keys(cache, after: 2) == [["all"], ["all"]])
    let name = #"lookahead_purges_total{cache="127.0.0.1:\#(cache.port)",outcome="done"}"#
    var figures = ""
    let isCounted = try eventually {
      figures = try server.client().get("/metrics").text
      return figures.contains("\(name) 2\n")
    }
    #expect(isCounted)
    #expect(figures.contains("lookahead_purge_waiting_keys{cache=\"127.0.0.1:\(cache.port)\"} 0\n"))
  }

  @Test func `a cache that fails is tried again, and holds up neither another nor a write`() throws
  {
    let broken = try LoopbackServer { question in
      question.number < 2 ? .init(status: "500 No") : .init(status: "200 OK")
    }
    // It accepts, and says nothing until it is too late.
    let silent = try LoopbackServer { _ in
      .init([[], Array("HTTP/1.1 200 OK\r\n\r\n".utf8)], pauseMilliseconds: 3_000)
    }
    let cache = try LoopbackServer { _ in .init(status: "200 OK") }
    let server = try server(purging: [broken, silent, cache])
    _ = try keys(cache, after: 1)
    let fields = Self.authorized.merging(["Content-Type": "application/json"]) { $1 }
    let answer = try server.client().request(
      "POST", "/v1/items/b1/counters", fields, body: #"{"likes":1}"#)
    #expect(answer.status == 200)
    #expect(try keys(cache, after: 2).last == ["loose", "feed/b"])
    // The key of all stands for what came while it was being tried.
    #expect(try keys(broken, after: 3)[2].contains("all"))
    #expect(try keys(silent, after: 1)[0] == ["all"])
  }

  @Test func `what a server changed last is purged before it is gone`() throws {
    let cache = try LoopbackServer { _ in .init(status: "200 OK") }
    do {
      let server = try server(purging: [cache], againMilliseconds: 3_600_000)
      _ = try keys(cache, after: 1)
      try server.store.load([.timed("b2", 20, feed: "b")])
      server.drain()
    }
    let sent = try keys(cache, after: 2).dropFirst().reduce(into: Set<String>()) {
      $0.formUnion($1)
    }
    #expect(sent.isSuperset(of: ["feed/b", "feeds"]) || sent.contains("all"))
  }

  @Test func `more posts than are looked up are everything`() throws {
    let server = try RunningServer((0..<5_001).map { .timed("p\($0)", $0) })
    let before = server.store.version
    try server.store.load((0..<5_001).map { .timed("p\($0)", $0 + 1) })
    #expect(try server.store.changedKeys(since: before) == ["all"])
    let then = server.store.version
    #expect(try server.store.changedKeys(since: then) == [])
    try server.store.load([.ranked("p1", 3, feed: "other")])
    #expect(try server.store.changedKeys(since: then).contains("feed/other"))
  }
}
