import Catalog
import Dispatch
import Feed
import GRDB
import TestSupport
import Testing

@testable import SQLiteStore

/// Feeds that come, go and change names, as a reader follows them.
@Suite struct ManyFeedsTests {
  private static func names(_ store: SQLiteStore) throws -> [String] {
    try store.feeds().map { "\($0.name) \($0.title ?? "-") \($0.total) \($0.ranking)" }
  }

  @Test(arguments: TestRandom.seeds)
  func `whatever happens to feeds between two looks, a reader has what a new one finds`(
    seed: UInt64
  ) throws {
    var random = TestRandom(seed)
    let folder = TemporaryFolder()
    let path = folder.file("feed.sqlite")
    let writer = try SQLiteStore(path: path)
    let reader = try SQLiteStore(path: path)
    #expect(try reader.feeds().isEmpty)
    for step in 0..<40 {
      for _ in 0..<random.number(1...6) { try change(writer, &random) }
      let version = reader.version
      try reader.refresh()
      let fresh = try SQLiteStore(path: path)
      #expect(try Self.names(reader) == Self.names(fresh), TestRandom.replay)
      for feed in try fresh.feeds() {
        let query = PageQuery(feed: feed.name, limit: 100)
        #expect(try reader.page(query).posts == fresh.page(query).posts, TestRandom.replay)
        let isSame = reader.isUnchanged(feed: feed.name, posts: [], since: version)
        if !isSame { #expect(reader.version > version, "step \(step)") }
      }
      try fresh.close()
    }
    // Rows of old rankings go a few at a time: some may be there still.
    #expect(try writer.check().allSatisfy { $0.severity == .note }, TestRandom.replay)
  }

  private func change(_ store: SQLiteStore, _ random: inout TestRandom) throws {
    func name() -> String { "f\(random.number(0...9))" }
    func write(_ change: FeedWrite.Change) throws {
      do {
        try store.outcome(of: FeedWrite(name: name(), change: change))
      } catch FeedError.unknownFeed, FeedError.feedExists {}
    }
    switch random.number(0...5) {
    case 0: try write(.put(title: random.chance(50) ? "t\(random.number(0...3))" : nil))
    case 1: try write(.delete)
    case 2: try write(.rename(to: name(), title: nil))
    case 3:
      // Two feeds that change names, in one transaction, as another program may.
      try store.pool.write { database in
        try database.execute(
          sql: """
            UPDATE feed SET name = 'x' WHERE name = 'f1';
            UPDATE feed SET name = 'f1' WHERE name = 'f2';
            UPDATE feed SET name = 'f2' WHERE name = 'x'
            """)
      }
    default:
      try store.load(
        (0..<random.number(1...5)).map { _ in
          .ranked("p\(random.number(0...20))", random.number(0...9), feed: name())
        })
    }
  }

  @Test func `a feed that changes leaves the others' pages as they are`() throws {
    let folder = TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("feed.sqlite"))
    try store.load((0..<5).map { .ranked("p\($0)", 1, feed: "f\($0)") })
    _ = try store.feeds()
    let version = store.version
    try store.outcome(of: FeedWrite(name: "f1", change: .put(title: "One")))
    try store.outcome(of: FeedWrite(name: "f2", change: .delete))
    try store.outcome(of: FeedWrite(name: "f3", change: .rename(to: "g", title: nil)))
    try store.outcome(of: FeedWrite(name: "h", change: .put(title: nil)))
    let changed = ["f0", "f1", "f2", "f3", "f4", "g", "h"].filter {
      !store.isUnchanged(feed: $0, posts: [], since: version)
    }
    #expect(changed == ["f1", "f2", "f3", "g", "h"])
  }

  @Test func `of very many feeds the tops of some are there at once, and the names of all`() throws
  {
    let folder = TemporaryFolder()
    let path = folder.file("feed.sqlite")
    let whole = try SQLiteStore(path: path)
    try whole.load(
      (0..<200).flatMap { feed in (0..<3).map { .ranked("p\(feed)-\($0)", $0, feed: "f\(feed)") } })
    let store = try SQLiteStore(path: path, options: .init(firstEntries: 2, firstEntriesOfAll: 100))
    // Holds the thread that reads the rest.
    let gate = DispatchSemaphore(value: 0)
    #expect(store.follower.loading.run { gate.wait() })
    try store.beginLoading()
    let queries = (0..<200).map { PageQuery(feed: "f\($0)", limit: 2) }
    let atHand = queries.filter(store.isAtHand)
    #expect((1..<200).contains(atHand.count))
    let snapshot = try store.snapshot()
    #expect(!snapshot.isWhole && snapshot.hasFeed(named: "f199") && !snapshot.hasFeed(named: "x"))
    for query in atHand { #expect(try store.page(query).feed.total == 3) }
    #expect(try !store.snapshot().isWhole)
    // What is not there is read with the rest.
    let other = try #require(queries.first { !store.isAtHand($0) })
    #expect(try store.feed(named: other.feed)?.total == 3)
    #expect(try store.snapshot().isWhole)
    #expect(try store.feeds() == whole.feeds())
    for query in queries { #expect(try store.page(query).posts == whole.page(query).posts) }
    gate.signal()
    try store.close()
  }
}
