import Feed
import GRDB
import RowStore

/// One batch of a prune: deletes some posts within one transaction.
struct PruningBatch {
  let database: Database
  let rule: PruningRule
  /// The feed from which posts are removed; nil if they are deleted.
  let feed: Int64?
  let isDryRun: Bool

  private struct Candidate {
    /// The number after which the next batch begins.
    let number: Int64
    let post: Int64
    let publishedAt: Int64?
    let isInFeed: Bool
    /// Whether the post is scheduled and not yet in its feeds.
    let isToCome: Bool
  }

  /// The maximum number of posts that one statement deletes; after it, the batch checks whether the
  /// transaction has had its time.
  private static let stepPosts = 64

  /// Whether a post is in a feed matters only if the rule is by place alone.
  static let posts = """
    SELECT post_id, post_id, published_at,
      ?2 OR EXISTS (SELECT 1 FROM feed_entry WHERE feed_entry.post_id = post.post_id),
      EXISTS (SELECT 1 FROM schedule
        WHERE schedule.post_id = post.post_id AND due_at = post.visible_from)
    FROM post WHERE post_id > ?1 ORDER BY post_id LIMIT ?3
    """
  /// `+feed_id` makes SQLite read in the order of the numbers. The feed's index would be sorted each time.
  static let entries = """
    SELECT entry_id, post_id, published_at, 1, 0 FROM feed_entry
    WHERE entry_id > ?1 AND +feed_id = ?2 AND until IS NULL ORDER BY entry_id LIMIT ?3
    """
  /// Whether a post is in another feed or about to be.
  static let isInAnotherFeed = """
    SELECT EXISTS (SELECT 1 FROM feed_entry WHERE post_id = ?1 AND feed_id <> ?2)
      OR EXISTS (SELECT 1 FROM pending_place WHERE post_id = ?1 AND feed_id <> ?2)
    """
  /// Deletes all posts from one number to another.
  static let deletePosts = "DELETE FROM post WHERE post_id BETWEEN ? AND ?"

  /// - Parameters:
  ///   - limit: the maximum number of posts to look at.
  ///   - deadline: the time at which to stop before that.
  /// - Returns: the number after which to continue; nil at the end.
  func run(
    after number: Int64, limit: Int, until deadline: ContinuousClock.Instant,
    _ tops: inout FeedTops, _ summary: inout PruningSummary
  ) throws -> Int64? {
    try tops.update(database)
    var last: Int64? = number
    var seen = 0
    repeat {
      let step = min(Self.stepPosts, limit - seen)
      last = try self.step(after: last!, limit: step, tops, &summary)
      seen += step
    } while last != nil && seen < limit && ContinuousClock.now < deadline
    if !isDryRun {
      try ChangeLog(database: database).trim()
      try tops.noteOwnChanges(database)
    }
    return last
  }

  private func step(
    after number: Int64, limit: Int, _ tops: FeedTops, _ summary: inout PruningSummary
  ) throws -> Int64? {
    let sql = feed == nil ? Self.posts : Self.entries
    let candidates = try Row.fetchAll(
      database.cachedStatement(sql: sql),
      arguments: [number, feed ?? (rule.publishedBefore == nil ? 0 : 1), limit]
    ).map {
      Candidate(number: $0[0], post: $0[1], publishedAt: $0[2], isInFeed: $0[3], isToCome: $0[4])
    }
    summary.seen += candidates.count
    for candidate in candidates where candidate.publishedAt == nil && rule.publishedBefore != nil {
      summary.withoutTime += 1
    }
    if feed == nil {
      for run in candidates.split(whereSeparator: { !goes($0, tops) }) {
        summary.posts += run.count
        // No post between them stays.
        if !isDryRun { try execute(Self.deletePosts, [run.first!.post, run.last!.post]) }
      }
    } else {
      for candidate in candidates where goes(candidate, tops) {
        try leave(candidate.post, &summary)
      }
    }
    return candidates.count < limit ? nil : candidates.last?.number
  }

  private func goes(_ candidate: Candidate, _ tops: FeedTops) -> Bool {
    guard !candidate.isToCome else { return false }
    if let before = rule.publishedBefore {
      guard let time = candidate.publishedAt, time < before.microseconds else { return false }
    }
    // A rule by place alone does not delete posts without a place.
    guard rule.publishedBefore != nil || candidate.isInFeed else { return false }
    return !tops.contains(candidate.post)
  }

  /// Removes a post from the feed; deletes it if it is in no other feed.
  private func leave(_ post: Int64, _ summary: inout PruningSummary) throws {
    let stays =
      try Bool.fetchOne(
        database.cachedStatement(sql: Self.isInAnotherFeed), arguments: [post, feed]) ?? false
    if stays { summary.departures += 1 } else { summary.posts += 1 }
    guard !isDryRun else { return }
    if stays {
      try execute(SQLiteRows.removeFromFeed, [post, feed])
      try execute(SQLiteRows.removeFromRuns, [post, feed])
    } else {
      try execute(SQLiteRows.deletePost, [post])
    }
  }

  private func execute(_ sql: String, _ arguments: StatementArguments) throws {
    try database.cachedStatement(sql: sql).execute(arguments: arguments)
  }
}
