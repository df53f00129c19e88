import Feed
import Postgres
import RowStore
import System

/// Deletes old posts and old rankings, one batch per transaction, while others read and write.
extension PostgresStore {
  /// The number of posts that a transaction looks at.
  private static let batch: Int64 = 1_000
  /// The pause for other writers, as a multiple of the transaction's time.
  private static let pauseFactor = 1

  /// See `DatabaseStore.prune`.
  ///
  /// - Throws: `PostgresStoreError`, `FeedError.unknownFeed`.
  package func prune(
    _ rule: PruningRule, isDryRun: Bool, onProgress: (PruningSummary) -> Void
  ) throws -> PruningSummary {
    precondition(rule.keptRankings ?? 1 >= 1 && rule.keptPosts ?? 0 >= 0)
    var summary = PruningSummary()
    let feeds = try feedNumbers(named: rule.feed)
    if rule.publishedBefore != nil || rule.keptPosts != nil {
      let feed = rule.feed == nil ? nil : feeds.first
      var last: PostgresPruning.Place? = .start
      while let place = last {
        last = try pruning { rows in
          try PostgresPruning(rows: rows, rule: rule, feed: feed, isDryRun: isDryRun)
            .run(after: place, limit: Self.batch, &summary)
        }
        onProgress(summary)
      }
    }
    if let kept = rule.keptRankings {
      for feed in feeds {
        try pruneRankings(of: feed, keeping: kept, isDryRun: isDryRun, &summary)
        onProgress(summary)
      }
    }
    if !isDryRun { followOwnWrite() }
    return summary
  }

  private func pruning<Value>(_ body: (PostgresRows) throws -> Value) throws -> Value {
    let start = ContinuousClock.now
    let value = try withStoreErrors(name) { try writer.transaction(isBulk: true, body) }
    let pause = (ContinuousClock.now - start) * Self.pauseFactor
    CurrentThread.rest(nanoseconds: UInt64(max(0, pause / .nanoseconds(1))))
    return value
  }

  private func feedNumbers(named name: String?) throws -> [Int64] {
    try read { connection in
      let rows = try connection.run(
        "SELECT feed_id FROM feed WHERE $1::text IS NULL OR name = $1::text ORDER BY feed_id",
        [.text(name)])
      if let name, rows.count == 0 { throw FeedError.unknownFeed(name) }
      return try (0..<rows.count).map { try RowValues(rows: rows, row: $0).integer(0) }
    }
  }

  /// First makes the rankings unavailable to cursors, then deletes their rows, and those that a prune left
  /// that was killed between the two.
  private func pruneRankings(
    of feed: Int64, keeping kept: Int, isDryRun: Bool, _ summary: inout PruningSummary
  ) throws {
    let oldest = try pruning { rows -> Int? in
      guard let state = try rows.feed(feed) else { return nil }
      let oldest = max(state.oldestRanking, state.ranking - kept + 1)
      let gone = oldest - state.oldestRanking
      summary.rankings += gone
      if isDryRun {
        let closed = try rows.connection.run(
          PostgresPruning.countClosed, [.integer(feed), .integer(oldest)])
        summary.entries += Int(closed.integer(0, 0) ?? 0)
        return nil
      }
      guard gone > 0 else { return oldest }
      try rows.direct(
        "UPDATE feed SET oldest_ranking = $1::int8 WHERE feed_id = $2::int8",
        [.integer(oldest), .integer(feed)])
      try rows.direct(
        "DELETE FROM replaced_ranking WHERE feed_id = $1::int8 AND ranking < $2::int8",
        [.integer(feed), .integer(oldest)])
      return oldest
    }
    guard let oldest else { return }
    var isMore = true
    while isMore {
      let count = try pruning { rows in
        try rows.direct(
          PostgresPruning.deleteClosed, [.integer(feed), .integer(oldest), .integer(Self.batch)]
        ).changedCount
      }
      summary.entries += count
      isMore = count == Int(Self.batch)
    }
  }
}
