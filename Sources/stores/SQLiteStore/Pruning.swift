import Feed
import GRDB
import RowStore
import System

/// Deletes old posts and old rankings, one batch per transaction, while others read and write.
///
/// A post is deleted if it is older than `publishedBefore` and, in every feed that it is in, beyond the
/// first `keptPosts`; a condition that is nil is ignored. A post without a time is never older. With a
/// feed, posts are only removed from that feed; a post that is then in no feed is deleted. A post that is
/// not yet visible in its feeds (`Post.visibleFrom`) stays.
///
/// Posts are deleted in the order of their numbers, which is the order of the tables.
package struct Pruning {
  private let store: SQLiteStore
  private let rule: PruningRule
  private let isDryRun: Bool
  /// The maximum number of posts that a transaction looks at.
  private let batch: Int

  /// The default maximum number of posts that a transaction looks at.
  package static let defaultBatch = 1_000

  /// - Parameters:
  ///   - isDryRun: whether to count only.
  ///   - batch: the maximum number of posts that a transaction looks at.
  package init(
    _ store: SQLiteStore, rule: PruningRule, isDryRun: Bool = false, batch: Int = defaultBatch
  ) {
    precondition(batch >= 1 && rule.keptRankings ?? 1 >= 1 && rule.keptPosts ?? 0 >= 0)
    self.store = store
    self.rule = rule
    self.isDryRun = isDryRun
    self.batch = batch
  }

  /// Prunes. `pause` is called between the transactions with the microseconds to leave to writers of other
  /// processes, and `onProgress` with the summary so far.
  ///
  /// - Throws: `StoreError`, `FeedError.unknownFeed`.
  package func run(
    pause: (Int) -> Void = { CurrentThread.rest(nanoseconds: UInt64($0) * 1_000) },
    onProgress: (PruningSummary) -> Void = { _ in }
  ) throws -> PruningSummary {
    // Without the indexes, deleting each post would read all others.
    if !isDryRun { store.pool.makeLateIndexes() }
    var summary = PruningSummary()
    var others = OtherWriters()
    try keepJournalsInMemory(true)
    defer { try? keepJournalsInMemory(false) }
    let feeds = try transaction({ _ in }, &others) { database, _ in
      try Self.feeds(database, named: rule.feed)
    }
    if rule.publishedBefore != nil || rule.keptPosts != nil {
      var tops = FeedTops(feeds: feeds.map(\.id), limit: rule.keptPosts ?? 0)
      var last: Int64? = 0
      while let number = last {
        last = try transaction(pause, &others) { database, others in
          let batch = PruningBatch(
            database: database, rule: rule, feed: rule.feed == nil ? nil : feeds.first?.id,
            isDryRun: isDryRun)
          return try batch.run(
            after: number, limit: self.batch, until: .now + others.longestTransaction, &tops,
            &summary)
        }
        onProgress(summary)
      }
    }
    if let kept = rule.keptRankings {
      for feed in feeds {
        try pruneRankings(of: feed.id, keeping: kept, &summary, pause, &others)
        onProgress(summary)
      }
    }
    return summary
  }

  /// Keeps the statement journals in memory instead of in a file for each statement: a statement changes a
  /// few pages (https://sqlite.org/tempfiles.html, section 2.5).
  private func keepJournalsInMemory(_ areInMemory: Bool) throws {
    try withStoreErrors(path: store.path) {
      try store.pool.writeWithoutTransaction {
        try $0.execute(sql: "PRAGMA temp_store = \(areInMemory ? "MEMORY" : "DEFAULT")")
      }
    }
  }

  private func transaction<Result>(
    _ pause: (Int) -> Void, _ others: inout OtherWriters,
    body: (Database, OtherWriters) throws -> Result
  ) throws -> Result {
    if isDryRun {
      return try withStoreErrors(path: store.path) { try store.pool.read { try body($0, others) } }
    }
    // Counted from when the lock is held: a long wait for other writers does not count.
    var start = ContinuousClock.now
    let result = try withStoreErrors(path: store.path) {
      try store.pool.write { database in
        start = .now
        try others.look(database, now: start)
        return try body(database, others)
      }
    }
    let taken = ContinuousClock.now - start
    pause(Int(others.pause(after: taken) / .microseconds(1)))
    return result
  }

  private static func feeds(_ database: Database, named name: String?) throws -> [(
    id: Int64, name: String
  )] {
    let feeds: [(id: Int64, name: String)] = try Row.fetchAll(
      database, sql: "SELECT feed_id, name FROM feed ORDER BY feed_id"
    ).map { ($0[0], $0[1]) }
    guard let name else { return feeds }
    guard let feed = feeds.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
      throw FeedError.unknownFeed(name)
    }
    return [feed]
  }

  /// First makes the rankings unavailable to cursors, then deletes their rows, and those that a prune left
  /// that was killed between the two.
  private func pruneRankings(
    of feedID: Int64, keeping kept: Int, _ summary: inout PruningSummary, _ pause: (Int) -> Void,
    _ others: inout OtherWriters
  ) throws {
    let oldest = try transaction(pause, &others) { database, _ -> Int? in
      let row = try Row.fetchOne(
        database, sql: "SELECT ranking, oldest_ranking FROM feed WHERE feed_id = ?",
        arguments: [feedID])
      guard let row else { return nil }
      let (ranking, known): (Int, Int) = (try RankingNumber.checked(row[0]), row[1])
      let oldest = max(known, ranking - kept + 1)
      summary.rankings += oldest - known
      if isDryRun {
        summary.entries +=
          try Int.fetchOne(database, sql: Self.countClosed, arguments: [feedID, oldest]) ?? 0
        return nil
      }
      guard oldest > known else { return oldest }
      try database.execute(
        sql: "UPDATE feed SET oldest_ranking = ? WHERE feed_id = ?", arguments: [oldest, feedID])
      try database.execute(sql: SQLiteRows.forgetRankings, arguments: [feedID, oldest])
      return oldest
    }
    guard let oldest else { return }
    var isMore = true
    while isMore {
      let count = try transaction(pause, &others) { database, _ in
        try database.execute(sql: Self.deleteClosed, arguments: [feedID, oldest, batch])
        return database.changesCount
      }
      summary.entries += count
      isMore = count == batch
    }
  }

  static let countClosed = "SELECT count(*) FROM feed_entry WHERE feed_id = ? AND until <= ?"

  static let deleteClosed = """
    DELETE FROM feed_entry WHERE entry_id IN
      (SELECT entry_id FROM feed_entry WHERE feed_id = ? AND until <= ? LIMIT ?)
    """
}
