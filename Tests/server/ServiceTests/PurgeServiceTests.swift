import Catalog
import Feed
import FeedServer
import Foundation
import GRDB
import SQLiteStore
import TestSupport
import Testing

/// What caches in front are told of what others wrote to the database.
@Suite struct PurgeServiceTests {
  /// The keys that the cache was told, until one of them is this.
  private func keys(_ cache: LoopbackServer, until key: String) throws -> Set<String> {
    var keys: Set<String> = []
    let isPurged = eventually {
      keys = Set(
        cache.questions.flatMap {
          ($0.fields["surrogate-key"] ?? "").split(separator: " ").map(String.init)
        })
      return keys.contains(key)
    }
    try #require(isPurged, "no purge of \(key)")
    return keys
  }

  @Test func `a server purges what another process wrote, and nothing else`() throws {
    let cache = try LoopbackServer { _ in .init(status: "200 OK") }
    let service = try RunningService([.timed("a1", 10, feed: "a"), .timed("b1", 10, feed: "b")]) {
      $0.application.purgeTargets = [
        HTTPTarget(host: "127.0.0.1", port: cache.port, target: "/")
      ]
      $0.application.purgeIntervalMilliseconds = 0
      $0.application.purgeAgainMilliseconds = 0
    }
    #expect(try keys(cache, until: "all") == ["all"])
    let store = try SQLiteStore(path: service.databasePath)
    try store.load([.timed("a2", 20, feed: "a")])
    #expect(try keys(cache, until: "feed/a") == ["all", "loose", "feeds", "feed/a"])
    _ = try store.outcome(
      of: ItemWrite(id: "b1", change: .increment([Counter("likes", 1)], key: nil)))
    #expect(try keys(cache, until: "feed/b").isSuperset(of: ["feed/a", "feed/b"]))
    #expect(cache.questions.last?.fields["surrogate-key"] == "feed/b loose")
    // What is gone was in a feed, which has changed.
    #expect(try store.deletePost(withID: "b1"))
    try store.load([.timed("c1", 20, feed: "c")])
    _ = try keys(cache, until: "feed/c")
    try store.close()
  }

  @Test func `a policy that changes is everything`() throws {
    let cache = try LoopbackServer { _ in .init(status: "200 OK") }
    let service = try RunningService([.timed("a1", 10, feed: "a")]) {
      $0.application.purgeTargets = [
        HTTPTarget(host: "127.0.0.1", port: cache.port, target: "/")
      ]
      $0.application.purgeIntervalMilliseconds = 0
      $0.application.purgeAgainMilliseconds = 0
    }
    _ = try keys(cache, until: "all")
    let before = cache.questions.count
    try DatabaseQueue(path: service.databasePath).write {
      try $0.execute(sql: "UPDATE policy SET trailing = 9 WHERE feed = 'featured'")
    }
    eventually { cache.questions.count != before }
    #expect(cache.questions.last?.fields["surrogate-key"] == "all")
    #expect(cache.questions.count == before + 1)
  }
}
