import Catalog
import Feed
import Foundation
import HTTPServer
import System
import TestSupport
import Testing

@testable import FeedServer

/// Server-sent events, over real connections: news of a feed reaches who listens to it, once, and who comes
/// back misses none.
@Suite struct FeedEventsTests {
  private let server: RunningServer
  private let client: TestClient

  private static let posts: [SeedRecord] = [
    .timed("a1", 10, feed: "a"), .timed("a2", 20, feed: "a"), .timed("b1", 10, feed: "b"),
  ]

  init() throws {
    server = try RunningServer(Self.posts) {
      $0.eventLookMilliseconds = 5
      $0.server.streamIdleMilliseconds = 600_000
    }
    client = try server.client()
  }

  /// A client that listens, and where the feed is for it.
  private func listen(
    _ target: String, _ fields: [String: String] = [:]
  ) throws -> (client: TestClient, id: String) {
    let client = try server.client()
    let answer = try client.get(target, fields)
    try #require(answer.status == 200, "\(answer.text)")
    #expect(answer.fields["content-type"] == "text/event-stream")
    #expect(answer.fields["cache-control"] == "no-store" && answer.fields["connection"] == "close")
    #expect(answer.fields["access-control-allow-origin"] == "*")
    let greeting = try client.receive(through: "\n\n").split(separator: "\n")
    try #require(greeting.count == 2 && greeting[0] == "retry: 3000")
    return (client, String(greeting[1].dropFirst("id: ".count)))
  }

  /// The next event.
  private func event(_ client: TestClient) throws -> [String: String] {
    var event: [String: String] = [:]
    for line in try client.receive(through: "\n\n").split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 1)
      event[String(parts[0])] = parts[1].trimmingCharacters(in: .whitespaces)
    }
    return event
  }

  private func put(_ id: String, _ second: Int, feed: String) throws {
    try server.store.load([.timed(id, second, feed: feed)])
  }

  @Test func `who listens hears of what is newer, with the cursor that shows it`() throws {
    let page = try client.get("/rp/?feed=a")
    let (listener, id) = try listen("/v1/feeds/a/events")
    #expect(page.value("paging.newer") == id)
    try put("a3", 30, feed: "a")
    let event = try event(listener)
    #expect(event["event"] == "newer" && event["id"] != id)
    let data =
      try JSONSerialization.jsonObject(with: Data(event["data"]!.utf8)) as? [String: String]
    #expect(data == ["feed": "a", "newer": event["id"]!])
    // What is asked for with the cursor that the client had is what was news.
    #expect(try client.get("/rp/?feed=a&before=\(id)").itemIDs == ["a3"])
    #expect(try client.get("/rp/?feed=a&before=\(event["id"]!)").itemIDs == [])
  }

  @Test func `what is older, elsewhere or gone is no news`() throws {
    let (listener, _) = try listen("/v1/feeds/a/events")
    try put("a0", 1, feed: "a")
    try put("b2", 99, feed: "b")
    _ = try server.store.deletePost(withID: "a2")
    let (other, _) = try listen("/v1/feeds/b/events")
    try put("b3", 100, feed: "b")
    _ = try event(other)
    // The first that the other hears comes after all of those.
    try put("a4", 40, feed: "a")
    let id = try event(listener)["id"]!
    #expect(try client.get("/rp/?feed=a").value("paging.newer") == id)
    #expect(try client.get("/rp/?feed=a").itemIDs == ["a4", "a1", "a0"])
  }

  @Test func `who comes back with what it knew hears at once of what came meanwhile`() throws {
    var (listener, id) = try listen("/v1/feeds/a/events")
    try put("a5", 50, feed: "a")
    (listener, _) = try listen("/v1/feeds/a/events", ["Last-Event-ID": id])
    #expect(try event(listener)["event"] == "newer")
    // So does who has loaded a page before; what is known by the field counts more.
    (listener, _) = try listen("/v1/feeds/a/events?before=\(id)")
    id = try event(listener)["id"]!
    (listener, _) = try listen("/v1/feeds/a/events?before=\(id)")
    try put("a6", 60, feed: "a")
    let last = try event(listener)["id"]!
    #expect(try client.get("/rp/?feed=a&before=\(last)").itemIDs == [])
    // What is no cursor of this feed does not keep a browser out, which would give up.
    for foreign in ["nonsense", try client.get("/rp/?feed=b").value("paging.newer") ?? ""] {
      (listener, _) = try listen("/v1/feeds/a/events", ["Last-Event-ID": foreign])
      #expect(try event(listener)["id"] == last)
    }
  }

  @Test func `what cannot be listened to is said`() throws {
    let foreign: String = try #require(try client.get("/rp/?feed=b").value("paging.newer"))
    for (target, status) in [
      ("/v1/feeds/none/events", 404), ("/v1/feeds/a/events?before=x", 400),
      ("/v1/feeds/a/events?before=\(foreign)", 400), ("/v1/feeds/a/events?after=x", 400),
    ] {
      #expect(try client.get(target).status == status, "\(target)")
    }
    #expect(try client.request("HEAD", "/v1/feeds/a/events").status == 200)
    let other = try server.client()
    #expect(try other.request("POST", "/v1/feeds/a/events").fields["allow"] == "GET, HEAD, OPTIONS")
  }

  @Test func `listeners are bounded, and make room when they go`() throws {
    let server = try RunningServer(Self.posts) {
      $0.eventListeners = 2
      $0.eventLookMilliseconds = 5
    }
    func status() throws -> (Int, TestClient) {
      let client = try server.client()
      return (try client.get("/v1/feeds/a/events").status, client)
    }
    var listeners = [try status(), try status()]
    #expect(listeners.map(\.0) == [200, 200])
    let refused = try server.client().get("/v1/feeds/a/events")
    #expect(refused.status == 503 && refused.fields["retry-after"] != nil)
    listeners.removeLast()
    while try status().0 == 503 {}
    let figures = try server.client().get("/metrics").text
    #expect(figures.contains("lookahead_event_listeners "))
  }

  @Test func `a feed that goes, and a server that drains, end what they began`() throws {
    let (first, _) = try listen("/v1/feeds/b/events")
    try server.store.outcome(of: FeedWrite(name: "b", change: .delete))
    #expect(try first.isClosed())
    let (second, _) = try listen("/v1/feeds/a/events")
    server.drain()
    #expect(try second.isClosed())
  }

  @Test func `who hears nothing for long is sent a comment`() throws {
    let server = try RunningServer(Self.posts) { $0.server.streamIdleMilliseconds = 20 }
    let client = try server.client()
    #expect(try client.get("/v1/feeds/a/events").status == 200)
    #expect(try client.receive(through: "\n\n").hasPrefix("retry: "))
    for _ in 0..<3 { #expect(try client.receive(through: "\n\n") == ":\n\n") }
  }

  @Test func `many listeners hear of every last news, however fast it comes`() throws {
    let listeners = try (0..<100).map { _ in try listen("/v1/feeds/a/events").client }
    for number in 0..<50 { try put("n\(number)", 100 + number, feed: "a") }
    let last: String = try #require(try client.get("/rp/?feed=a&limit=1").value("paging.newer"))
    for listener in listeners {
      while try event(listener)["id"] != last {}
    }
  }

  @Test func `all who may listen are let in at once, whatever waits for workers`() throws {
    let server = try RunningServer(Self.posts) {
      $0.eventListeners = 400
      $0.workerThreads = 1
      $0.workerQueue = 1
    }
    let clients = try (0..<400).map { _ in try server.client() }
    let request = "GET /v1/feeds/a/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for client in clients { try client.send(Array(request.utf8)) }
    for client in clients { #expect(try client.receive().status == 200) }
  }

  /// What listeners get, without a connection.
  private func streams(of feeds: [String], _ events: FeedEvents) throws -> [ResponseStream] {
    let streams = Monitor<[Result<ResponseStream, any Error>]>([])
    for feed in feeds {
      events.listen(to: feed, from: .now) { stream in streams.withLock { $0.append(stream) } }
    }
    return try streams.withLock { $0 }.map { try $0.get() }
  }

  @Test func `feeds that have not changed are not looked at`() throws {
    let store = CountingStore(server.store)
    let events = FeedEvents(store: store, maximumListeners: 10, lookMilliseconds: 5)
    let streams = try streams(of: ["a", "a", "b"], events)
    var seen: StoreVersion?
    events.look(unless: &seen)
    let before = store.snapshots.withLock { $0 }
    for (feed, looks) in [("b", 1), ("c", 0), ("a", 1), ("b", 1)] {
      let before = store.snapshots.withLock { $0 }
      try put("\(feed)9", 99 + before, feed: feed)
      for _ in 0..<3 { events.look(unless: &seen) }
      #expect(store.snapshots.withLock { $0 } == before + looks, "\(feed)")
    }
    #expect(before == 3)
    events.stop()
    withExtendedLifetime(streams) {}
  }

  @Test func `what the store could not say is asked for again`() throws {
    let store = CountingStore(server.store)
    let events = FeedEvents(store: store, maximumListeners: 10, lookMilliseconds: 5)
    let streams = try streams(of: ["a"], events)
    var seen: StoreVersion?
    events.look(unless: &seen)
    #expect(seen == server.store.version)
    store.fails.withLock { $0 = true }
    try put("a9", 99, feed: "a")
    events.look(unless: &seen)
    #expect(seen == nil)
    store.fails.withLock { $0 = false }
    events.look(unless: &seen)
    #expect(seen == server.store.version)
    events.stop()
    withExtendedLifetime(streams) {}
  }
}

/// Counts what is asked of it, and says nothing where it is told to.
private final class CountingStore: ForwardingStore {
  let store: any FeedStore & PolicyStore
  let snapshots = Monitor(0)
  let fails = Monitor(false)

  init(_ store: any FeedStore & PolicyStore) { self.store = store }

  func snapshot() throws -> any StoreSnapshot {
    if fails.withLock({ $0 }) { throw TestClientError(message: "the test says so") }
    snapshots.withLock { $0 += 1 }
    return try store.snapshot()
  }
}
