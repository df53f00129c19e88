import Feed
import Postgres
import RowStore
import System

/// Lets go of old posts and of old rankings, a batch a transaction, while others read and write.
extension PostgresStore {
  /// How many posts a transaction looks at.
  private static let batch: Int64 = 1_000
  /// Others have their turn for so many times as long as a transaction took.
  private static let pauseFactor = 1

  /// See `DatabaseStore.prune`.
  ///
  /// - Throws: `PostgresStoreError`, `FeedError.unknownFeed`.
  public func prune(
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
        summary.rankings += try pruneRankings(of: feed, keeping: kept, isDryRun: isDryRun)
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

  /// First no cursor can ask for them, then their rows go.
  ///
  /// - Returns: how many rankings went, or would.
  private func pruneRankings(of feed: Int64, keeping kept: Int, isDryRun: Bool) throws -> Int {
    let (gone, oldest) = try pruning { rows -> (Int, Int) in
      guard let state = try rows.feed(feed) else { return (0, 0) }
      let oldest = max(state.oldestRanking, state.ranking - kept + 1)
      let gone = oldest - state.oldestRanking
      guard gone > 0, !isDryRun else { return (gone, 0) }
      try rows.change(
        "UPDATE feed SET oldest_ranking = $1::int8 WHERE feed_id = $2::int8",
        [.integer(oldest), .integer(feed)])
      try rows.change(
        "DELETE FROM replaced_ranking WHERE feed_id = $1::int8 AND ranking < $2::int8",
        [.integer(feed), .integer(oldest)])
      return (gone, oldest)
    }
    var isMore = oldest > 0
    while isMore {
      isMore = try pruning { rows in
        try rows.change(
          PostgresPruning.deleteClosed, [.integer(feed), .integer(oldest), .integer(Self.batch)]
        ).changedCount > 0
      }
    }
    return gone
  }
}

/// What goes of some posts, within one transaction.
struct PostgresPruning {
  let rows: PostgresRows
  let rule: PruningRule
  /// The feed that posts leave; nil where they go altogether.
  let feed: Int64?
  let isDryRun: Bool

  /// How far a prune has come: by the posts' numbers, or down a feed's order, each batch from where the one before
  /// ended. By the numbers of a feed's entries each would look for the next ones among all.
  struct Place {
    /// A post's number, or an entry's sort key.
    let number: Int64
    /// An entry's id.
    let id: String

    static let start = Place(number: .min, id: "")
  }

  static let deleteClosed = """
    DELETE FROM feed_entry WHERE entry_id IN (SELECT entry_id FROM feed_entry
      WHERE feed_id = $1::int8 AND until <= $2::int8 LIMIT $3::int8)
    """

  /// Posts behind a place, and whether each goes: beyond the tops of the feeds that it is in, or of the one feed that
  /// it is to leave. By its place alone nothing goes that has none; and what a run is
  /// about to move away from above a post may bring that to the top: so many more stay.
  private static func candidates(_ source: String) -> String {
    """
    WITH seen AS (\(source)),
    -- Each feed once, or its top would be read for each of its posts.
    shown AS MATERIALIZED (
      SELECT DISTINCT feed_id FROM feed_entry JOIN seen USING (post_id)
      WHERE until IS NULL AND coalesce(feed_id = $5::int8, true)),
    top AS (
      SELECT entry.post_id FROM shown JOIN feed USING (feed_id) CROSS JOIN LATERAL (
        SELECT post_id FROM feed_entry WHERE feed_entry.feed_id = feed.feed_id
          AND since <= feed.ranking AND (until IS NULL OR until > feed.ranking)
        ORDER BY sort_key, id LIMIT $3::int8
          + (SELECT count(*) FROM pending_place WHERE pending_place.feed_id = feed.feed_id)
      ) AS entry
      WHERE $3::int8 > 0
      UNION ALL SELECT post_id FROM pending_place JOIN seen USING (post_id)
        WHERE $3::int8 > 0 AND coalesce(feed_id = $5::int8, true))
    SELECT number, id, post_id, published_at,
      CASE WHEN $4::int8 IS NULL
        THEN EXISTS (SELECT 1 FROM feed_entry WHERE feed_entry.post_id = seen.post_id)
        ELSE coalesce(published_at < $4::int8, false) END
      -- Made once, and hashed: of what it depends on, nothing is a post's own. No number is NULL.
      AND post_id NOT IN (SELECT post_id FROM top)
    FROM seen ORDER BY number, id
    """
  }

  static let posts = candidates(
    """
    SELECT post_id AS number, '' COLLATE "C" AS id, post_id, published_at FROM post
    WHERE post_id > $1::int8 AND $5::int8 IS NULL AND $6::text = '' ORDER BY post_id LIMIT $2::int8
    """)
  static let entries = candidates(
    """
    SELECT sort_key AS number, id, post_id, published_at FROM feed_entry
    WHERE feed_id = $5::int8 AND (sort_key, id) > ($1::int8, $6::text) AND until IS NULL
    ORDER BY sort_key, id LIMIT $2::int8
    """)

  /// - Returns: the place after which to go on; nil where that was all.
  func run(after place: Place, limit: Int64, _ summary: inout PruningSummary) throws -> Place? {
    let found = try rows.connection.run(
      feed == nil ? Self.posts : Self.entries,
      [
        .integer(place.number), .integer(limit), .integer(Int64(rule.keptPosts ?? 0)),
        .integer(rule.publishedBefore?.microseconds), .integer(feed), .text(place.id),
      ])
    var gone: [Int64] = []
    for index in 0..<found.count {
      let row = RowValues(rows: found, row: index)
      if rule.publishedBefore != nil, row.optional(3) == nil { summary.withoutTime += 1 }
      if found.boolean(index, 4) { gone.append(try row.integer(2)) }
    }
    summary.seen += found.count
    let staying = try feed.map { try elsewhere(gone, than: $0) } ?? []
    summary.departures += staying.count
    summary.posts += gone.count - staying.count
    if !isDryRun { try delete(gone, staying) }
    guard found.count == Int(limit), let id = found.text(found.count - 1, 1) else { return nil }
    return Place(number: try RowValues(rows: found, row: found.count - 1).integer(0), id: id)
  }

  /// Those that are in another feed, or about to be.
  private func elsewhere(_ posts: [Int64], than feed: Int64) throws -> Set<Int64> {
    let found = try rows.connection.run(
      """
      SELECT post_id FROM feed_entry WHERE post_id = ANY ($1::int8[]) AND feed_id <> $2::int8
      UNION SELECT post_id FROM pending_place
        WHERE post_id = ANY ($1::int8[]) AND feed_id <> $2::int8
      """, [.integers(posts.map { $0 }), .integer(feed)])
    return Set(try (0..<found.count).map { try RowValues(rows: found, row: $0).integer(0) })
  }

  private func delete(_ gone: [Int64], _ staying: Set<Int64>) throws {
    let leaving = [Parameter.integers(staying.sorted().map { $0 }), .integer(feed)]
    try rows.change(
      "DELETE FROM feed_entry WHERE post_id = ANY ($1::int8[]) AND feed_id = $2::int8", leaving)
    try rows.change(
      "DELETE FROM pending_place WHERE post_id = ANY ($1::int8[]) AND feed_id = $2::int8", leaving)
    try rows.change(
      "DELETE FROM post WHERE post_id = ANY ($1::int8[])",
      [.integers(gone.filter { !staying.contains($0) }.map { $0 })])
    rows.trimLog()
  }
}
