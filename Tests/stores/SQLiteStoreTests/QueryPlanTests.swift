import Feed
import GRDB
import TestSupport
import Testing

@testable import SQLiteStore

/// https://sqlite.org/eqp.html: SCAN reads a whole table, SEARCH goes by an index.
@Suite struct QueryPlanTests {
  private static let statements: [(name: String, sql: String)] = [
    ("a page's posts", PostReader.postsByNumber(count: 32)),
    ("a page's media", PostReader.mediaByNumber(count: 32)),
    ("a page's posts with details", PostReader.postsByNumber(count: 32, .details)),
    ("a page's media with details", PostReader.mediaByNumber(count: 32, .details)),
    ("a page's media with what is known", PostReader.mediaByNumber(count: 32, .truth)),
    ("a page's media with all", PostReader.mediaByNumber(count: 32, [.details, .truth])),
    ("posts that show files", MediaTable.tellPosts),
    ("a known file", MediaTable.mediaAtURL), ("known files", MediaTable.mediaAfterURL),
    ("files of ours that posts name", MediaTable.namedAfterURL),
    ("posts that name files", MediaTable.postsNaming),
    ("a truth by its version", MediaTable.truthOfVersion),
    ("where a content lies", MediaTable.urlsOfTruth),
    ("one post", PostReader.postByID),
    ("one post's media", PostReader.mediaOfPost),
    ("an export's posts", PostReader.postsAfterID),
    ("an item's place in a feed", SQLiteCatalogReader.placeOfPost),
    ("a feed's order", SQLiteCatalogReader.feedOrder),
    ("a window at an offset", SQLiteCatalogReader.windowAtOffset),
    ("a window below a place", SQLiteCatalogReader.windowBelow),
    ("a window from a place on", SQLiteCatalogReader.windowFrom),
    ("a window above a place", SQLiteCatalogReader.windowAbove),
    ("entries through a place", SQLiteCatalogReader.countThrough),
    ("entries above a place", SQLiteCatalogReader.countAbove),
    ("posts of a list", SQLiteStore.postNumbers), ("where its look ends", SQLiteStore.lastLooked),
    ("posts with words", SQLiteStore.postsWithWords),
    ("posts with schedules", SQLiteStore.postsWithSchedules),
    ("a feed's hidden posts", SQLiteStore.hiddenPostsOfFeed),
    ("a candidate", SQLiteStore.admittedPost),
    ("texts that are not indexed", SQLiteStore.textsMissing),
    ("posts to be indexed", SQLiteStore.postsBelow),
    ("posts that are due", SQLiteStore.duePosts), ("a post's moment", SQLiteRows.momentOfPost),
    ("a hidden post's places", SQLiteRows.scheduledPlaces),
    ("one feed", SQLiteCatalogReader.oneFeed),
    ("whether a ranking is begun", SQLiteCatalogReader.isRankingBegun),
    ("a feed's number of entries", SQLiteCatalogReader.entryCount),
    ("what was written since", SQLiteCatalogReader.newestSequences),
    ("new entries", SQLiteCatalogReader.entriesAfter),
    ("logged changes", SQLiteCatalogReader.changesAfter),
    ("the log's old end", SQLiteCatalogReader.oldestChange),
    ("a feed's rankings", SQLiteCatalogReader.oldestRankingOfFeed),
    ("an author", SQLiteRows.authorNumber),
    ("a post's entries", SQLiteRows.openEntries),
    ("an item's entry in a feed", SQLiteRows.entryOfPost),
    ("ranked entries below a place", SQLiteRows.rankedBelow),
    ("ranked entries above a place", SQLiteRows.rankedAbove),
    ("an entry that ends", SQLiteRows.setEnd), ("an entry's time", SQLiteRows.setTime),
    ("an entry that never was", SQLiteRows.deleteEntry),
    ("a post's feeds", SQLiteRows.feedsOfPost),
    ("a post's removal from a feed", SQLiteRows.removeFromFeed),
    ("an item's places", PostReader.placementsOfPost),
    ("an item's deletion", SQLiteRows.deletePost),
    ("an item's counters", SQLiteRows.updateCounters),
    ("an idempotency key", SQLiteRows.answerToKey),
    ("expired keys", SQLiteRows.deleteExpiredKeys),
    ("keys beyond the limit", SQLiteRows.deleteKeysBeyond),
    ("the change log's old end", ChangeLog.trimming),
    ("whether a run is known", SQLiteRows.isRunKnown),
    ("a run's places of a post", SQLiteRows.ranksOfPost),
    ("a place that a run forgets", SQLiteRows.forgetPlace),
    ("a run's moves", SQLiteRows.closeMoved),
    ("a run's places", SQLiteRows.openPlaces),
    ("a feed's current ranking", FeedTops.rankingOfFeed),
    ("rankings replaced since", SQLiteRows.oldestReplaced),
    ("moves beyond those kept", SQLiteRows.moveBeyond),
    ("rankings that are not kept", SQLiteRows.forgetRankings),
    ("a post's removal from runs", SQLiteRows.removeFromRuns),
    ("another feed of a post", PruningBatch.isInAnotherFeed),
    ("posts that go together", PruningBatch.deletePosts),
    ("the log's newest change", FeedTops.newestChange),
    ("changes behind a cursor", SQLiteStore.loggedAfter),
    ("entries behind a cursor", SQLiteStore.enteredAfter),
  ]

  /// Question marks, or else the greatest of their numbers.
  private static func argumentCount(_ sql: String) -> Int {
    (1...9).last { sql.contains("?\($0)") } ?? sql.count { $0 == "?" }
  }

  private static func plan(of sql: String, in store: SQLiteStore) throws -> [String] {
    try store.pool.read { database in
      try Row.fetchAll(
        database, sql: "EXPLAIN QUERY PLAN " + sql,
        arguments: StatementArguments(Array(repeating: 1, count: argumentCount(sql)))
      ).map { $0["detail"] as String }
    }
  }

  @Test func `every statement that reads a feed goes by an index`() throws {
    let folder = TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("feed.sqlite"))
    for statement in Self.statements {
      let plan = try Self.plan(of: statement.sql, in: store)
      #expect(!plan.isEmpty, "\(statement.name)")
      for step in plan {
        // The numbers of a page's posts are values of the statement, and so is a list in JSON.
        let readsWhole =
          step.hasPrefix("SCAN") && !step.contains("CONSTANT ROW") && step != "SCAN numbered"
          && !step.hasPrefix("SCAN json_each VIRTUAL TABLE")
          // By words, and what that found.
          && !step.hasPrefix("SCAN post_text VIRTUAL TABLE INDEX 192:M1<")
        #expect(!readsWhole, "\(statement.name): \(step)")
        // A few files may be asked for, and what shows them is sorted.
        #expect(
          !step.contains("TEMP B-TREE") || statement.sql == MediaTable.postsNaming,
          "\(statement.name): \(step)")
        #expect(!step.contains("AUTOMATIC"), "\(statement.name): \(step)")
      }
    }
  }

  /// Of what goes by a feed's number alone, there are as many rows as the feed has.
  private static func readsWholeFeed(_ step: String) -> Bool {
    step.contains("feed_entry_order (feed_id=?)") || step.contains("PRIMARY KEY (run_id=?)")
  }

  @Test func `what looks for one entry does not read its feed`() throws {
    let folder = TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("feed.sqlite"))
    let reading: Set = [
      "a feed's order", "a feed's number of entries", "a window at an offset",
    ]
    let statements =
      Self.statements.filter { !reading.contains($0.name) }
      + SQLiteStore.invariants.map { ($0.name, $0.sql) }
    for statement in statements {
      let plan = try Self.plan(of: statement.sql, in: store)
      #expect(!plan.contains(where: Self.readsWholeFeed), "\(statement.name): \(plan)")
    }
  }

  /// A check of `IN` with three values or more makes a table of them in memory, for each row anew.
  @Test(arguments: [
    "post", "author", "media", "feed", "feed_entry", "change_log", "pending_place", "media_file",
    "media_truth", "idempotency_key", "replaced_ranking",
  ])
  func `a row is written without a table in memory`(table: String) throws {
    let folder = TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("feed.sqlite"))
    let steps = try store.pool.read {
      try String.fetchAll(
        $0, sql: "EXPLAIN INSERT INTO \(table) DEFAULT VALUES",
        adapter: SuffixRowAdapter(fromIndex: 1))
    }
    #expect(steps.contains("Insert") || steps.contains("IdxInsert"))
    #expect(!steps.contains("OpenEphemeral"))
  }
}
