import Catalog
import Feed
import GRDB
import TestSupport
import Testing

@testable import SQLiteStore

/// What a reader holds in memory and brings up to date step by step must be what a reader finds that
/// starts anew.
@Suite struct CatalogTests {
  @Test(arguments: TestRandom.some(1, of: [1, 2, 3, 4]), TestRandom.seeds)
  func `a refreshed catalog equals a new one whatever was written`(
    _ round: Int, seed: UInt64
  ) throws {
    var random = TestRandom(seed &+ UInt64(round))
    let folder = TemporaryFolder()
    let path = folder.file("feed.sqlite")
    let writer = try SQLiteStore(
      path: path, options: .init(keptRankings: 4, keptRankingsSeconds: 0))
    // One reader of two has room for no more than one feed.
    let reader = try SQLiteStore(
      path: path, options: .init(orderMemoryBytes: round.isMultiple(of: 2) ? 1 : 1 << 30))
    for step in 0..<60 {
      try change(writer, &random)
      if random.chance(60) {
        try reader.refresh()
        // Old rankings come to hand and must be kept up to date from then on.
        try readOldRanking(reader, &random)
      }
      if random.chance(20) {
        try reader.refresh()
        try expectEqual(
          reader, try SQLiteStore(path: path), "\(TestRandom.replay), round \(round), step \(step)")
      }
    }
    try reader.refresh()
    try expectEqual(reader, try SQLiteStore(path: path), "seed \(random.seed), end")
    let errors = try writer.check().filter { $0.severity == .error }.map(\.text)
    #expect(errors == [], "seed \(random.seed)")
  }

  private func change(_ store: SQLiteStore, _ random: inout TestRandom) throws {
    switch random.number(0...14) {
    case 0..<7:
      let records = (0..<random.number(1...(random.chance(20) ? 200 : 8))).map { _ in
        record(&random)
      }
      let run = store.beginImport()
      for record in records { try run.write([record]) }
      // Now and then a run is killed before it ends.
      if random.chance(80) { _ = try run.finish() }
    case 7, 8:
      _ = try store.deletePost(withID: "p\(random.number(0...60))")
    case 9..<14:
      let writes = (0..<random.number(1...6)).map { _ in write(&random) }
      for case .failure(let error) in store.outcomes(ofGroup: writes) {
        guard case FeedError.unknownItem = error else { throw error }
      }
    default:
      try store.pool.write {
        try $0.execute(
          sql: "UPDATE feed SET title = ? WHERE name = 'a'",
          arguments: [random.number(0...3).description])
      }
    }
  }

  private func write(_ random: inout TestRandom) -> ItemWrite {
    guard case .post(let post, let placements) = record(&random), !random.chance(20) else {
      return ItemWrite(id: "p\(random.number(0...60))", change: .delete)
    }
    return ItemWrite(
      id: post.id, change: .put(post, placements: random.chance(70) ? placements : nil))
  }

  private func record(_ random: inout TestRandom) -> SeedRecord {
    var placements: [Placement] = []
    if random.chance(70) { placements.append(Placement(feed: "a", rank: random.number(1...20))) }
    if random.chance(50) { placements.append(Placement(feed: "b")) }
    if random.chance(20) {
      placements.append(Placement(feed: "c", rank: random.chance(50) ? random.number(1...5) : nil))
    }
    return .post(
      Post(
        id: "p\(random.number(0...60))", type: .image,
        publishedAt: random.chance(80)
          ? Timestamp(microseconds: Int64(random.number(1...30)) * 1_000_000) : nil),
      placements: placements)
  }

  private func readOldRanking(_ store: SQLiteStore, _ random: inout TestRandom) throws {
    for feed in try store.feeds() {
      let order = try #require(store.follower.whole().feeds[feed.name]).order
      let ranking = random.number(order.oldestRanking...order.ranking)
      let cursor = Cursor(feed: feed.name, view: .ranking(ranking), anchor: .start, seen: .start)
      _ = try store.page(PageQuery(feed: feed.name, start: .after(cursor), limit: 10))
    }
  }

  private func expectEqual(_ old: SQLiteStore, _ new: SQLiteStore, _ comment: String) throws {
    #expect(try old.feeds() == new.feeds(), "\(comment)")
    for feed in try old.follower.whole().feeds.entries {
      let name = feed.order.name
      for (ranking, index) in feed.order.orders {
        let cursor = Cursor(feed: name, view: .ranking(ranking), anchor: .start, seen: .start)
        _ = try new.page(PageQuery(feed: name, start: .after(cursor), limit: 1))
        let fresh = try new.pool.read {
          try SQLiteCatalogReader(database: $0).order(ofFeed: feed.feedID, ranking: ranking)
        }
        #expect(index.allEntries == fresh.allEntries, "\(comment), \(name) ranking \(ranking)")
      }
    }
  }
}
