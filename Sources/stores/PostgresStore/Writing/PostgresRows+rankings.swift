import Feed
import Postgres
import RowStore

/// Places.
extension PostgresRows {
  private static let entry = "feed_id, post_id, sort_key, rank, published_at, since, id"
  static let entryOfPost = """
    SELECT \(entry) FROM feed_entry WHERE until IS NULL AND feed_id = $2::int8
      AND post_id = (SELECT post_id FROM post WHERE id = $1::text)
    """
  private static let ranked = """
    SELECT \(entry) FROM feed_entry WHERE feed_id = $1::int8
      AND sort_key <= \(SortKey.rankRange.upperBound) AND until IS NULL
    """
  static let rankedBelow =
    ranked + " AND (sort_key, id) > ($2::int8, $3::text) ORDER BY sort_key, id LIMIT $4::int8"
  static let rankedAbove =
    ranked
    + " AND (sort_key, id) < ($2::int8, $3::text) ORDER BY sort_key DESC, id DESC LIMIT $4::int8"

  func entry(ofPost id: String, inFeed feed: Int64) throws -> StoredEntry? {
    try entries(direct(Self.entryOfPost, [.text(id), .integer(feed)])).first
  }

  func rankedEntries(
    ofFeed feed: Int64, _ side: RankedSide, limit: Int
  ) throws -> [StoredEntry] {
    let (sql, position) =
      switch side {
      case .below(let position): (Self.rankedBelow, position)
      case .above(let position): (Self.rankedAbove, position)
      }
    return try entries(
      direct(
        sql,
        [
          .integer(feed), .integer(position.key.rawValue), .text(position.id),
          .integer(Int64(limit)),
        ]))
  }

  func entries(_ rows: Rows) throws -> [StoredEntry] {
    try rows.values.map { row in
      StoredEntry(
        feedID: try row.integer(0), post: try row.integer(1),
        position: Position(key: SortKey(rawValue: try row.integer(2)), id: try row.name(6)),
        rank: row.optional(3).map(Int.init), publishedAt: row.optional(4),
        since: Int(try row.integer(5)))
    }
  }
}

/// Rankings.
extension PostgresRows {
  static let isRankingBegun = """
    SELECT EXISTS (SELECT 1 FROM feed_entry
        WHERE feed_id = $1::int8 AND since = $2::int8 AND since > 1)
      OR EXISTS (SELECT 1 FROM feed_entry WHERE feed_id = $1::int8 AND until = $2::int8)
    """

  func isBegun(_ ranking: Int, ofFeed feed: Int64) throws -> Bool {
    try direct(Self.isRankingBegun, [.integer(feed), .integer(ranking)]).boolean(0, 0)
  }

  func noteReplaced(_ ranking: Int, ofFeed feed: Int64, at time: Timestamp) throws {
    try direct(
      """
      INSERT INTO replaced_ranking (feed_id, ranking, replaced_at)
      VALUES ($1::int8, $2::int8, $3::int8)
      ON CONFLICT (feed_id, ranking) DO UPDATE SET replaced_at = excluded.replaced_at
      """, [.integer(feed), .integer(ranking), .integer(time.microseconds)])
  }

  func setRankings(ofFeed feed: Int64, current: Int, oldest: Int) throws {
    try direct(
      "UPDATE feed SET ranking = $1::int8, oldest_ranking = $2::int8 WHERE feed_id = $3::int8",
      [.integer(current), .integer(oldest), .integer(feed)])
  }

  func forgetRankings(ofFeed feed: Int64, before ranking: Int) throws {
    try direct(
      "DELETE FROM replaced_ranking WHERE feed_id = $1::int8 AND ranking < $2::int8",
      [.integer(feed), .integer(ranking)])
    try direct(
      "DELETE FROM feed_entry WHERE feed_id = $1::int8 AND until <= $2::int8",
      [.integer(feed), .integer(ranking)])
  }

  /// The ranking of the first move beyond the `count` newest ones. The ranking before it cannot be shown
  /// without that move.
  static let moveBeyond = """
    SELECT until FROM feed_entry WHERE feed_id = $1::int8 AND until IS NOT NULL
    ORDER BY until DESC LIMIT 1 OFFSET $2::int8
    """

  func move(beyond count: Int, inFeed feed: Int64) throws -> Int? {
    try first(direct(Self.moveBeyond, [.integer(feed), .integer(count)]))
  }

  static let oldestReplaced = """
    SELECT ranking FROM replaced_ranking
    WHERE feed_id = $1::int8 AND ranking >= $2::int8 AND replaced_at > $3::int8
    ORDER BY ranking LIMIT 1
    """

  func oldestRanking(
    ofFeed feed: Int64, from first: Int, replacedAfter time: Timestamp
  ) throws -> Int? {
    try self.first(
      direct(
        Self.oldestReplaced, [.integer(feed), .integer(first), .integer(time.microseconds)]))
  }

  private func first(_ rows: Rows) -> Int? {
    rows.count == 0 ? nil : rows.integer(0, 0).map(Int.init)
  }
}
