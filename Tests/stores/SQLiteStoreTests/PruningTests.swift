import Feed
import RowStore
import GRDB
import Seeding
import TestSupport
import Testing

@testable import SQLiteStore

@Suite struct PruningTests {
  let folder = TemporaryFolder()

  private func openStore(_ records: [SeedRecord]) throws -> SQLiteStore {
    let store = try SQLiteStore(path: folder.file("feed.sqlite"))
    try store.load(records)
    return store
  }

  private func rule(_ change: (inout PruningRule) -> Void) -> PruningRule {
    var rule = PruningRule()
    change(&rule)
    return rule
  }

  private func second(_ number: Int) -> Timestamp {
    Timestamp(microseconds: Int64(number) * 1_000_000)
  }

  @discardableResult
  private func prune(
    _ store: SQLiteStore, dry: Bool = false, batch: Int = 2, _ change: (inout PruningRule) -> Void
  ) throws -> PruningSummary {
    var seen = 0
    var summary = try Pruning(store, rule: rule(change), isDryRun: dry, batch: batch).run { _ in
    } onProgress: { progress in
      #expect(progress.seen >= seen)
      seen = progress.seen
    }
    #expect(summary.seen == seen)
    summary.seen = 0
    return summary
  }

  private func summary(
    posts: Int = 0, departures: Int = 0, withoutTime: Int = 0, rankings: Int = 0, entries: Int = 0
  ) -> PruningSummary {
    var summary = PruningSummary()
    summary.posts = posts
    summary.departures = departures
    summary.withoutTime = withoutTime
    summary.rankings = rankings
    summary.entries = entries
    return summary
  }

  @Test func `old posts go, those without a time stay, and a server sees it`() throws {
    let store = try openStore(
      (1...9).map { .timed("t\($0)", $0) } + [.ranked("r1", 1), .ranked("r2", 2)])
    #expect(try store.walk("newest").count == 9)
    // Another process: its store does not tell this one.
    let other = try SQLiteStore(existing: store.path)
    let dry = try prune(other, dry: true) { $0.publishedBefore = second(5) }
    #expect(dry == summary(posts: 4, withoutTime: 2))
    #expect(try store.refresh() == false)
    let done = try prune(other) { $0.publishedBefore = second(5) }
    #expect(done == dry)
    try store.refresh()
    #expect(try store.walk("newest") == ["t9", "t8", "t7", "t6", "t5"])
    #expect(try store.walk("featured") == ["r1", "r2"])
    #expect(try store.check().isEmpty)
    #expect(try prune(other) { $0.publishedBefore = second(5) } == summary(withoutTime: 2))
  }

  @Test func `the top of every feed stays, however old`() throws {
    let store = try openStore(
      (1...9).map { .timed("a\($0)", $0, feed: "a") }
        + (1...9).map { .timed("b\($0)", $0, feed: "b") }
        // At the top of the one, far down in the other.
        + [
          .post(
            Post(id: "both", type: .image, publishedAt: second(100)),
            placements: [Placement(feed: "a"), Placement(feed: "b", rank: nil)]),
          .post(Post(id: "alone", type: .image, publishedAt: second(1)), placements: []),
        ])
    let done = try prune(store) {
      $0.publishedBefore = second(8)
      $0.keptPosts = 4
    }
    #expect(try store.walk("a") == ["both", "a9", "a8", "a7"])
    #expect(try store.walk("b") == ["both", "b9", "b8", "b7"])
    // In no feed, and old.
    #expect(try store.post(withID: "alone") == nil)
    #expect(done == summary(posts: 13))
    #expect(try store.check().isEmpty)
  }

  @Test func `by place alone, what lies beyond the top goes, and what is in no feed stays`() throws
  {
    let store = try openStore(
      (1...9).map { .ranked("r\($0)", $0) }
        + [.post(Post(id: "alone", type: .image, title: "a"), placements: [])])
    #expect(try prune(store) { $0.keptPosts = 2 } == summary(posts: 7))
    #expect(try store.walk("featured") == ["r1", "r2"])
    #expect(try store.post(withID: "alone") != nil)
    #expect(try prune(store) { $0.keptPosts = 0 } == summary(posts: 2))
    #expect(try store.walk("featured") == [])
  }

  @Test func `of one feed, posts leave it, and go where they are in no other`() throws {
    let store = try openStore(
      (1...6).map {
        .post(
          Post(id: "p\($0)", type: .image, publishedAt: second($0)),
          placements: $0 % 2 == 0
            ? [Placement(feed: "a"), Placement(feed: "b")] : [Placement(feed: "a")])
      })
    let dry = try prune(store, dry: true) {
      $0.feed = "a"
      $0.publishedBefore = second(5)
    }
    #expect(dry == summary(posts: 2, departures: 2))
    let done = try prune(store) {
      $0.feed = "a"
      $0.publishedBefore = second(5)
    }
    #expect(done == dry)
    #expect(try store.walk("a") == ["p6", "p5"])
    #expect(try store.walk("b") == ["p6", "p4", "p2"])
    #expect(try store.check().isEmpty)
    #expect(throws: FeedError.unknownFeed("c")) {
      try prune(store) {
        $0.feed = "c"
        $0.keptPosts = 1
      }
    }
  }

  @Test func `rankings beyond the limit go, with cursors, and the current order stays`() throws {
    let store = try openStore((1...5).map { .ranked("r\($0)", $0) })
    for round in 1...6 {
      try store.load((1...5).map { .ranked("r\($0)", ($0 + round) % 5) })
    }
    let order = try store.walk("featured")
    let closed = "SELECT count(*) FROM feed_entry WHERE until IS NOT NULL"
    let rows = try #require(try store.pool.read { try Int.fetchOne($0, sql: closed) })
    #expect(rows > 4)
    let dry = try prune(store, dry: true) { $0.keptRankings = 2 }
    #expect(dry.rankings == 5 && (1..<rows).contains(dry.entries))
    #expect(try prune(store) { $0.keptRankings = 2 } == dry)
    #expect(
      try prune(store) { $0.keptRankings = 1 } == summary(rankings: 1, entries: rows - dry.entries))
    #expect(try prune(store) { $0.keptRankings = 1 } == summary())
    #expect(try store.pool.read { try Int.fetchOne($0, sql: closed) } == 0)
    try store.refresh()
    #expect(try store.walk("featured") == order)
    #expect(try store.check().isEmpty)
  }

  @Test func `what a killed prune left of old rankings is counted, and the next one removes it`()
    throws
  {
    let store = try openStore((1...5).map { .ranked("r\($0)", $0) })
    for round in 1...6 {
      try store.load((1...5).map { .ranked("r\($0)", ($0 + round) % 5) })
    }
    let order = try store.walk("featured")
    let whole = try prune(store, dry: true) { $0.keptRankings = 1 }
    // The second batch of two rows fails.
    let left = whole.entries - 2
    try store.pool.write {
      try $0.execute(
        sql: """
          CREATE TRIGGER killed BEFORE DELETE ON feed_entry
          WHEN (SELECT count(*) FROM feed_entry WHERE until IS NOT NULL) = \(left)
          BEGIN SELECT RAISE(ABORT, 'killed'); END
          """)
    }
    #expect(throws: StoreError.self) { try prune(store) { $0.keptRankings = 1 } }
    try store.pool.write { try $0.execute(sql: "DROP TRIGGER killed") }
    let findings = try store.check()
    #expect(findings.map(\.severity) == [.note])
    #expect(findings.first?.text.contains("feed featured: \(left)") == true, "\(findings)")
    #expect(try prune(store, dry: true) { $0.keptRankings = 4 } == summary(entries: left))
    #expect(try prune(store) { $0.keptRankings = 4 } == summary(entries: left))
    #expect(try prune(store) { $0.keptRankings = 4 } == summary())
    #expect(try store.check().isEmpty)
    try store.refresh()
    #expect(try store.walk("featured") == order)
  }

  @Test(arguments: [1, 7, 500])
  func `whatever the batches, the same goes`(_ batch: Int) throws {
    let store = try openStore(Array(PostGenerator(count: 300, seed: 3)))
    let times = try store.pool.read {
      try Int64.fetchAll(
        $0, sql: "SELECT published_at FROM post WHERE published_at NOT NULL ORDER BY published_at")
    }
    let middle = Timestamp(microseconds: times[times.count / 2])
    let expected = try store.pool.read {
      try String.fetchAll(
        $0, sql: "SELECT id FROM post WHERE published_at IS NULL OR published_at >= ?",
        arguments: [middle.microseconds])
    }
    try prune(store, batch: batch) { $0.publishedBefore = middle }
    let left = try store.pool.read { try String.fetchAll($0, sql: "SELECT id FROM post") }
    #expect(left.sorted() == expected.sorted() && left.count > 10)
    #expect(try store.check().isEmpty)
  }

  @Test func `a post that comes to the top while others go stays`() throws {
    let store = try openStore((1...6).map { .ranked("r\($0)", $0) })
    var isRanked = false
    _ = try Pruning(store, rule: rule { $0.keptPosts = 1 }, batch: 2).run { _ in
      guard !isRanked else { return }
      isRanked = true
      #expect(throws: Never.self) { try store.load([.ranked("r6", 0)]) }
    }
    #expect(try store.walk("featured") == ["r6"] || store.walk("featured") == ["r6", "r1"])
    #expect(try store.check().isEmpty)
  }
}
