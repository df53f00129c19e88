import Postgres
import PostgresTestSupport
import Testing

@testable import PostgresStore

/// https://www.postgresql.org/docs/15/using-explain.html: a Seq Scan reads a whole table, an index without a condition
/// all of that; with the settings of this program's connections. `DeepPlanTests` read how it goes.
@Suite(.enabled(if: PostgresCluster.isPresent, "skipped: there is no PostgreSQL"))
struct PostgresQueryPlanTests {
  private static let statements: [(name: String, sql: String)] = [
    ("a page's posts", PostRows.byNumber), ("a page's media", PostRows.mediaByNumber),
    ("posts by id", PostRows.byID), ("their media", PostRows.mediaByID),
    ("their entries", PostgresRows.entriesByID), ("their places", PostgresRows.placesByID),
    ("their feeds", PostgresRows.feedsOfPosts), ("feeds by name", PostgresRows.feedsByName),
    ("authors", PostgresRows.authorsByKey), ("keys", PostgresRows.keysByName),
    ("keys that come anew", PostgresRows.deleteKeys), ("files of posts", PostgresRows.deleteMedia),
    ("expired keys", PostgresRows.deleteExpiredKeys),
    ("keys beyond the limit", PostgresRows.deleteKeysBeyond),
    ("counters", PostgresRows.updateCounters), ("changed posts", PostgresRows.updatePosts),
    ("their feeds in every ranking", PostgresRows.everyFeedOfPosts),
    ("gone entries", PostgresRows.deleteEntries), ("entries that end", PostgresRows.setEnds),
    ("entries' times", PostgresRows.setTimes), ("posts that leave feeds", PostgresRows.leaveFeeds),
    ("posts that leave runs", PostgresRows.leaveRuns),
    ("gone places", PostgresRows.deletePlaces),
    ("authors that were left", PostgresRows.deleteAuthors),
    ("the log's old end", PostgresRows.trimming),
    ("whether a ranking is begun", PostgresRows.isRankingBegun),
    ("moves beyond those kept", PostgresRows.moveBeyond),
    ("rankings replaced since", PostgresRows.oldestReplaced),
    ("a run's moves", PostgresRows.closeMoved), ("a run's places", PostgresRows.openPlaces),
    ("an item's entry in a feed", PostgresRows.entryOfPost),
    ("ranked entries below a place", PostgresRows.rankedBelow),
    ("ranked entries above a place", PostgresRows.rankedAbove),
    ("posts of a list", PostgresStore.postNumbers),
    ("where its look ends", PostgresStore.lastLooked),
    ("posts with words", PostgresStore.postsWithWords),
    ("posts with schedules", PostgresStore.postsWithSchedules),
    ("a feed's hidden posts", PostgresStore.hiddenPostsOfFeed),
    ("texts that are not indexed", PostgresStore.textsMissing),
    ("posts to be indexed", PostgresStore.postsBelow),
    ("posts that are due", PostgresStore.duePosts), ("posts' moments", PostgresRows.momentsByID),
    ("hidden posts' places", PostgresRows.scheduledByID),
    ("moments that are over", PostgresRows.dropSchedules),
    ("places that are over", PostgresRows.dropScheduledPlaces),
    ("places of a list", PostgresStore.placementsByNumber),
    ("one feed", PostgresCatalogReader.oneFeed),
    ("an item's place in a feed", PostgresCatalogReader.placeOfPost),
    ("a feed's number of entries", PostgresCatalogReader.entryCount),
    ("a window at an offset", PostgresCatalogReader.windowAtOffset),
    ("a window below a place", PostgresCatalogReader.windowBelow),
    ("a window from a place on", PostgresCatalogReader.windowFrom),
    ("a window above a place", PostgresCatalogReader.windowAbove),
    ("entries through a place", PostgresCatalogReader.countThrough),
    ("entries above a place", PostgresCatalogReader.countAbove),
    ("logged changes", PostgresCatalogReader.changesAfter),
    ("new entries", PostgresCatalogReader.entriesAfter),
    ("items' places", PostgresStore.placementsOfPosts),
    ("an item's media", PostRows.mediaWithTruthByID),
    ("an export's ids", PostgresStore.idsAfter),
    ("known files", MediaRows.atURLs), ("known files in order", MediaRows.afterURL),
    ("files of ours that posts name", MediaRows.namedAfterURL),
    ("posts that name files", MediaRows.postsNaming),
    ("a truth by its version", MediaRows.truthOfVersion),
    ("where a content lies", MediaRows.urlsOfTruth), ("posts that show files", MediaRows.tellPosts),
    ("rows of old rankings", PostgresPruning.deleteClosed),
    ("how many rows of old rankings there are", PostgresPruning.countClosed),
  ]

  @Test func `every statement that reads a feed goes by an index`() throws {
    let database = try TestDatabase()
    try database.store().close()
    let connection = try database.connect()
    for (index, statement) in Self.statements.enumerated() {
      let count = (1...14).last { statement.sql.contains("$\($0)::") } ?? 0
      try connection.run(script: "PREPARE looked\(index) AS \(statement.sql)")
      let values = Array(repeating: "NULL", count: count).joined(separator: ", ")
      let plan = try connection.runOnce(
        "EXPLAIN EXECUTE looked\(index)\(count > 0 ? "(\(values))" : "")")
      let steps = (0..<plan.count).map { plan.text($0, 0) ?? "" }
      for (step, next) in zip(steps, steps.dropFirst() + [""]) {
        #expect(!step.contains("Seq Scan"), "\(statement.name): \(step)")
        // The first or the last rows of an order are at its ends.
        guard step.contains(" using "), !Self.readsAnEnd.contains(statement.name) else { continue }
        #expect(next.contains("Index Cond"), "\(statement.name): \(steps)")
      }
    }
  }

  private static let readsAnEnd: Set = ["the log's old end", "keys beyond the limit"]

  @Test func `a feed's order is read from one index alone`() throws {
    let database = try TestDatabase()
    try database.store().close()
    let connection = try database.connect()
    // Of no rows, sorting is as good.
    try connection.run(script: "SET enable_sort = off")
    let plan = try connection.runOnce(
      """
      EXPLAIN SELECT sort_key, id, post_id, published_at FROM feed_entry
      WHERE feed_id = 1 AND since <= 1 AND (until IS NULL OR until > 1) ORDER BY sort_key, id
      """)
    let steps = (0..<plan.count).compactMap { plan.text($0, 0) }
    #expect(steps.first?.contains("Index Only Scan using feed_entry_order") == true, "\(steps)")
  }
}
