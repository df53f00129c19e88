import Feed
import PostJSON
import PostgresTestSupport
import RowStore
import SQLiteStore
import TestSupport
import Testing

@testable import PostgresStore

/// What a prune lets go, it lets go in every database.
@Suite(.enabled(if: PostgresCluster.isPresent, "skipped: there is no PostgreSQL"))
struct PostgresPruneTests {
  private func export(_ store: any DatabaseStore) throws -> [[UInt8]] {
    var lines: [[UInt8]] = []
    try store.exportRecords { lines.append($0.json) }
    return lines
  }

  @Test(arguments: TestRandom.seeds)
  func `both databases let go of the same`(_ seed: UInt64) throws {
    var random = TestRandom(seed)
    let folder = TemporaryFolder()
    for round in 0..<4 {
      let stores: [any DatabaseStore] = [
        try SQLiteStore(path: folder.file("\(round).sqlite")), try TestDatabase().store(),
      ]
      let records = (0..<120).map { index in
        SeedRecord.post(
          Post(
            id: "p\(index)", type: .image,
            publishedAt: random.once(in: 6)
              ? nil : Timestamp(microseconds: Int64(random.number(1...50)) * 1_000_000),
            author: Author(name: "a\(random.number(0...5))")),
          placements: ["a", "b", "c"].filter { _ in random.once(in: 2) }.map {
            Placement(feed: $0, rank: $0 == "a" ? random.number(0...20) : nil)
          })
      }
      for store in stores {
        try store.load(records, batch: 50)
        for turn in 1...3 { try store.load([.ranked("p0", turn, feed: "a")]) }
      }
      var rule = PruningRule()
      if random.once(in: 2) {
        rule.publishedBefore = Timestamp(microseconds: Int64(random.number(0...60)) * 1_000_000)
      }
      if random.once(in: 2) { rule.keptPosts = random.number(0...30) }
      if random.once(in: 3) { rule.feed = random.one(of: ["a", "b", "c"]) }
      if random.once(in: 3) { rule.keptRankings = random.number(1...3) }
      for isDryRun in [true, false] {
        let summaries = try stores.map { try $0.prune(rule, isDryRun: isDryRun) { _ in } }
        #expect(summaries[0] == summaries[1], "\(rule), \(TestRandom.replay)")
        #expect(try export(stores[0]) == export(stores[1]), "\(rule), \(TestRandom.replay)")
      }
      for store in stores { #expect(try store.check().isEmpty, "\(rule), \(TestRandom.replay)") }
      #expect(try stores[0].feeds() == stores[1].feeds(), "\(rule), \(TestRandom.replay)")
    }
  }

  /// Three batches, of posts that are as old as many others, or whose times are in no order.
  @Test(arguments: [true, false])
  func `a feed of more than a batch goes to its end`(_ isTied: Bool) throws {
    let folder = TemporaryFolder()
    let stores: [any DatabaseStore] = [
      try SQLiteStore(path: folder.file("feed.sqlite")), try TestDatabase().store(),
    ]
    var records: [SeedRecord] = []
    for index in 0..<2300 {
      let time = isTied ? index % 2 : index * 7919 % 2300
      let feeds = index % 3 == 0 ? ["a", "b"] : ["a"]
      let post = Post(
        id: "p\(index)", type: .text, publishedAt: Timestamp(microseconds: Int64(time)))
      records.append(.post(post, placements: feeds.map { Placement(feed: $0) }))
    }
    var rule = PruningRule()
    (rule.feed, rule.keptPosts) = ("a", 1100)
    for store in stores { try store.load(records, batch: 500) }
    for isDryRun in [true, false] {
      let summaries = try stores.map { try $0.prune(rule, isDryRun: isDryRun) { _ in } }
      #expect(summaries[0] == summaries[1])
      #expect(summaries[1].seen == 2300)
      #expect(summaries[1].posts + summaries[1].departures == 1200)
    }
    #expect(try export(stores[0]) == export(stores[1]))
  }

  @Test func `what a killed prune left of old rankings is counted, and the next one removes it`()
    throws
  {
    let database = try TestDatabase()
    let store = try database.store()
    for round in 0...6 {
      try store.load((1...5).map { .ranked("r\($0)", ($0 + round) % 5) })
    }
    var rule = PruningRule()
    rule.keptRankings = 1
    let whole = try store.prune(rule, isDryRun: true) { _ in }
    #expect(whole.rankings == 6 && whole.entries > 4)
    let other = try database.connect()
    try other.run(
      script: """
        CREATE FUNCTION killed() RETURNS trigger LANGUAGE plpgsql
          AS $$ BEGIN RAISE EXCEPTION 'killed'; END $$;
        CREATE TRIGGER killed BEFORE DELETE ON feed_entry EXECUTE FUNCTION killed()
        """)
    #expect(throws: PostgresStoreError.self) { try store.prune(rule, isDryRun: false) { _ in } }
    try other.run(script: "DROP TRIGGER killed ON feed_entry")
    let findings = try store.check()
    #expect(findings.map(\.severity) == [.note])
    #expect(
      findings.first?.text.contains("feed featured: \(whole.entries)") == true, "\(findings)")
    for isDryRun in [true, false] {
      let summary = try store.prune(rule, isDryRun: isDryRun) { _ in }
      #expect(summary.rankings == 0 && summary.entries == whole.entries)
    }
    #expect(try store.check().isEmpty)
  }

  @Test func `a feed that is not there is named`() throws {
    var rule = PruningRule()
    (rule.feed, rule.keptPosts) = ("nobody's", 1)
    #expect(throws: FeedError.unknownFeed("nobody's")) {
      try TestDatabase().store().prune(rule, isDryRun: false) { _ in }
    }
  }
}
