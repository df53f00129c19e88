import Catalog
import Feed
import Foundation
import ModelStore
import Synchronization
import TestSupport
import Testing

@testable import FeedServer

/// Items with `visibleFrom` and `visibleUntil`, as clients and writers see them.
@Suite struct ScheduleRouteTests {
  private static let auth = ["Authorization": "Bearer e-token"]
  private static let put = auth.merging(["Content-Type": "application/json"]) { $1 }

  /// - Parameter now: the store's clock, in seconds since 1970. Handlers have that of the system.
  private static func make(
    _ now: @escaping @Sendable () -> Int64 = { 1_700_000_000 }
  ) throws -> (RunningServer, ModelStore) {
    var options = ModelStore.Options()
    options.now = { Timestamp(microseconds: now() * 1_000_000) }
    let store = ModelStore(options)
    try store.load([.ranked("first", 1, feed: "f")])
    let server = try RunningServer(on: store) {
      $0.writeTokens = [WriteToken(name: "editor", secret: "e-token")]
    }
    return (server, store)
  }

  private static func record(_ times: String) -> String {
    #"{"type":"text","title":"Fog",\#(times),"feeds":[{"name":"f","rank":2}]}"#
  }

  private static func ids(_ client: TestClient, feed: String = "f") throws -> [String] {
    try client.get("/v1/feeds/\(feed)/items?limit=30").itemIDs
  }

  @Test(arguments: [
    (#""visibleFrom":"3000-01-01T00:00:00Z""#, "scheduled"),
    (#""visibleFrom":"1999-01-01T00:00:00Z","visibleUntil":"2000-01-01T00:00:00Z""#, "ended"),
    (#""visibleFrom":"1999-01-01T00:00:00Z","visibleUntil":"3000-01-01T00:00:00Z""#, "visible"),
  ])
  func `who sees an item that is not visible, and how`(_ times: String, _ visibility: String) throws
  {
    let (server, _) = try Self.make()
    defer { withExtendedLifetime(server) {} }
    let client = try server.client()
    let isVisible = visibility == "visible"
    #expect(
      try client.request("PUT", "/v1/items/p", Self.put, body: Self.record(times)).status
        == 201)
    #expect(try Self.ids(client) == (isVisible ? ["first", "p"] : ["first"]))
    #expect(try client.get("/v1/items/p").status == (isVisible ? 200 : 404))
    #expect(try client.get("/v1/items/p/record").status == (isVisible ? 200 : 404))
    let record = try client.get("/v1/items/p/record", Self.auth)
    #expect(record.status == 200 && record.text.contains(times))
    // For a change of this version alone.
    let tag = try #require(record.fields["etag"])
    #expect(record.fields["cache-control"] == (isVisible ? "no-cache" : "no-store"))
    let again = try client.get(
      "/v1/items/p/record", Self.auth.merging(["If-None-Match": tag]) { $1 })
    #expect(again.status == 304)
    #expect(record.text.contains(#""feeds":[{"name":"f","rank":2}]"#))
    let list = try client.get("/v1/items", Self.auth)
    let items: [[String: Any]] = try #require(list.value("items"))
    #expect(items.map { $0["visibility"] as? String } == [visibility, nil])
    let found = try client.get("/v1/items?q=fog", Self.auth)
    #expect((found.value("items", as: [[String: Any]].self) ?? []).count == 1)
    for asked in ["scheduled", "ended"] {
      for more in ["", "&feed=f", "&q=fog", "&q=fog&feed=f&type=text&limit=1"] {
        let found = try client.get("/v1/items?visibility=\(asked)\(more)", Self.auth)
        let items = try #require(found.value("items", as: [[String: Any]].self), "\(found.text)")
        #expect(items.count == (asked == visibility ? 1 : 0), "\(asked)\(more)")
      }
    }
    for (query, status) in [
      ("visible", 400), ("", 400), ("scheduled&feed=nope", 404), ("ended&after=x", 400),
    ] {
      #expect(try client.get("/v1/items?visibility=" + query, Self.auth).status == status)
    }
    // A plan names it to nobody who cannot see it.
    let plan = try client.request(
      "POST", "/v1/plan", ["Content-Type": "application/json"],
      body: #"{"items":["first","p"],"active":"first","network":{"downlink":780,"rtt":200}}"#)
    #expect(plan.status == (isVisible ? 200 : 404), "\(plan.text)")
  }

  @Test func `what would never be visible is refused`() throws {
    let (server, _) = try Self.make()
    defer { withExtendedLifetime(server) {} }
    let client = try server.client()
    let times = #""visibleFrom":"2026-05-01T06:00:00Z","visibleUntil":"2026-05-01T06:00:00Z""#
    let answer = try client.request(
      "PUT", "/v1/items/p", Self.put, body: Self.record(times))
    #expect(answer.status == 422)
    #expect(answer.value("field") == "visibleUntil")
  }

  @Test func `a server makes the change at the moment, and what is due before it answers`() throws {
    let clock = Mutex<Int64>(1_000)
    let (server, store) = try Self.make { clock.withLock { $0 } }
    defer { withExtendedLifetime(server) {} }
    let client = try server.client()
    func put(_ id: String, _ from: Int64, _ until: Int64?) throws {
      let post = Post(
        id: id, type: .text, visibleFrom: Timestamp(microseconds: from * 1_000_000),
        visibleUntil: until.map { Timestamp(microseconds: $0 * 1_000_000) })
      try store.outcome(
        of: ItemWrite(id: id, change: .put(post, placements: [Placement(feed: "f", rank: 2)])))
    }
    try put("a", 2_000, 3_000)
    try put("b", 4_000, nil)
    #expect(try Self.ids(client) == ["first"])
    let tag = try client.get("/v1/feeds/f/items").fields["etag"]
    clock.withLock { $0 = 2_000 }
    #expect(try eventually { try Self.ids(client) == ["first", "a"] })
    #expect(try client.get("/v1/feeds/f/items").fields["etag"] != tag)
    #expect(try client.get("/v1/feeds/f").value("total") == 2)
    clock.withLock { $0 = 3_000 }
    #expect(try eventually { try Self.ids(client) == ["first"] })
    clock.withLock { $0 = 4_000 }
    // Another server, that starts now.
    let other = try RunningServer(on: store)
    #expect(try Self.ids(try other.client()) == ["first", "b"])
  }

  /// How many seconds are left is counted by the system's clock.
  @Test func `no cache has a page for longer than to the next moment`() {
    let moments = DueMoments()
    let caching = CachePolicy(
      maxAgeSeconds: 10, staleWhileRevalidateSeconds: 60, until: NextMoment(moments))
    func value() -> String? {
      caching.pages.fields(varyingBy: [])["Cache-Control"]
    }
    let usual = value()
    #expect(caching.pages.secondsLeft == nil)
    func due(in seconds: Double) -> Timestamp {
      Timestamp(microseconds: NextMoment.now.microseconds + Int64(seconds * 1_000_000))
    }
    moments.set(due(in: 1_000)) {}
    #expect(value() == usual)
    moments.set(due(in: 30.5)) {}
    #expect(value() == "max-age=10, stale-while-revalidate=20")
    moments.set(due(in: 5.5)) {}
    #expect(value() == "max-age=5, stale-while-revalidate=0")
    moments.set(due(in: -0.001)) {}
    #expect(value() == "max-age=0, stale-while-revalidate=0")
    // An answer that was begun before the moment may be on its way.
    moments.set(nil) {}
    #expect(value() == "max-age=0, stale-while-revalidate=0")
    moments.set(due(in: -2)) {}
    moments.set(nil) {}
    #expect(value() == usual)
  }

  @Test func `a schedule shortens the age of pages with the write that makes it`() throws {
    let (server, _) = try Self.make { NextMoment.now.microseconds / 1_000_000 }
    defer { withExtendedLifetime(server) {} }
    let client = try server.client()
    func age(_ path: String) throws -> String? {
      try client.get(path).fields["cache-control"]
    }
    for (index, path) in ["/v1/feeds/f/items", "/v1/feeds/f", "/v1/feeds", "/v1/items/first"]
      .enumerated()
    {
      // Kept, where it is.
      #expect(try age(path) == age(path))
      let time = Timestamp(
        microseconds: NextMoment.now.microseconds + Int64(8 - index) * 1_000_000)
      let record = Self.record(#""visibleFrom":"\#(time.rfc3339)""#)
      let answer = try client.request("PUT", "/v1/items/p\(index)", Self.put, body: record)
      #expect(answer.status == 201)
      let ages = (0...(7 - index)).map { "max-age=\($0), stale-while-revalidate=0" }
      #expect(ages.contains(try age(path) ?? ""), "\(path)")
    }
  }
}
