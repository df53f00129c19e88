import Feed
import GRDB
import RowStore

extension SQLiteRows {
  static let openEntries = """
    SELECT feed_id, sort_key, rank, published_at, since FROM feed_entry
    WHERE post_id = ? AND until IS NULL
    """
  static let feedsOfPost = """
    SELECT feed_id FROM feed_entry WHERE post_id = ?1
    UNION ALL SELECT feed_id FROM pending_place WHERE post_id = ?1
    """

  func readEntries(ofPost number: Int64, _ id: String, into rows: inout KnownRows) throws {
    try each(Self.openEntries, [number]) { row in
      rows.add(
        StoredEntry(
          feedID: row.integer(0), post: number,
          position: Position(key: SortKey(rawValue: row.integer(1)), id: id),
          rank: row.optionalInteger(2).map(Int.init), publishedAt: row.optionalInteger(3),
          since: Int(row.integer(4))))
      try readFeed(row.integer(0), into: &rows)
    }
  }

  func insert(_ entry: StoredEntry) throws {
    try execute(
      """
      INSERT INTO feed_entry (feed_id, post_id, sort_key, id, published_at, rank, since)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """,
      [
        entry.feedID, entry.key.post, entry.position.key.rawValue, entry.position.id,
        entry.publishedAt, entry.rank, entry.key.since,
      ])
  }

  private static let entry =
    "entry.feed_id, entry.post_id, entry.sort_key, entry.id, entry.rank, entry.published_at, entry.since"
  static let entryOfPost = """
    SELECT \(entry) FROM post CROSS JOIN feed_entry AS entry INDEXED BY feed_entry_by_post
      ON entry.post_id = post.post_id AND entry.feed_id = ?2 AND entry.until IS NULL
    WHERE post.id = ?1
    """
  private static let ranked = """
    SELECT \(entry) FROM feed_entry AS entry INDEXED BY feed_entry_order
    WHERE entry.feed_id = ?1 AND entry.sort_key <= \(SortKey.rankRange.upperBound) AND entry.until IS NULL
    """
  static let rankedBelow =
    ranked + " AND (entry.sort_key, entry.id) > (?2, ?3) ORDER BY entry.sort_key, entry.id LIMIT ?4"
  static let rankedAbove =
    ranked
    + " AND (entry.sort_key, entry.id) < (?2, ?3) ORDER BY entry.sort_key DESC, entry.id DESC LIMIT ?4"

  func entry(ofPost id: String, inFeed feed: Int64) throws -> StoredEntry? {
    try entries(Self.entryOfPost, [id, feed]).first
  }

  func rankedEntries(
    ofFeed feed: Int64, _ side: RankedSide, limit: Int
  ) throws -> [StoredEntry] {
    switch side {
    case .below(let position):
      try entries(Self.rankedBelow, [feed, position.key.rawValue, position.id, limit])
    case .above(let position):
      try entries(Self.rankedAbove, [feed, position.key.rawValue, position.id, limit])
    }
  }

  private func entries(_ sql: String, _ values: [any Bindable]) throws -> [StoredEntry] {
    var entries: [StoredEntry] = []
    try each(sql, values) { row in
      entries.append(
        StoredEntry(
          feedID: row.integer(0), post: row.integer(1),
          position: Position(key: SortKey(rawValue: row.integer(2)), id: row.string(3)),
          rank: row.optionalInteger(4).map(Int.init), publishedAt: row.optionalInteger(5),
          since: Int(row.integer(6))))
    }
    return entries
  }

  static let setTime = "UPDATE feed_entry SET published_at = ? WHERE post_id = ? AND feed_id = ?"

  // Without the hint, SQLite might use the index of closed entries and read all that moved in this ranking.
  static let setEnd = """
    UPDATE feed_entry INDEXED BY feed_entry_by_post SET until = ?
    WHERE post_id = ? AND feed_id = ? AND since = ?
    """
  static let deleteEntry = """
    DELETE FROM feed_entry INDEXED BY feed_entry_by_post
    WHERE post_id = ? AND feed_id = ? AND since = ?
    """
  static let removeFromFeed = "DELETE FROM feed_entry WHERE post_id = ? AND feed_id = ?"
  static let removeFromRuns = "DELETE FROM pending_place WHERE post_id = ? AND feed_id = ?"
}

// MARK: Rankings

extension SQLiteRows {
  func isBegun(_ ranking: Int, ofFeed feed: Int64) throws -> Bool {
    let statement = try database.cachedStatement(sql: SQLiteCatalogReader.isRankingBegun)
    return try Bool.fetchOne(statement, arguments: [feed, ranking, feed, ranking]) ?? false
  }

  func noteReplaced(_ ranking: Int, ofFeed feed: Int64, at time: Timestamp) throws {
    try execute(
      "INSERT OR REPLACE INTO replaced_ranking (feed_id, ranking, replaced_at) VALUES (?, ?, ?)",
      [feed, ranking, time.microseconds])
  }

  func setRankings(ofFeed feed: Int64, current: Int, oldest: Int) throws {
    try execute(
      "UPDATE feed SET ranking = ?, oldest_ranking = ? WHERE feed_id = ?", [current, oldest, feed])
  }

  static let forgetRankings = "DELETE FROM replaced_ranking WHERE feed_id = ? AND ranking < ?"

  func forgetRankings(ofFeed feed: Int64, before ranking: Int) throws {
    try execute(Self.forgetRankings, [feed, ranking])
    try execute("DELETE FROM feed_entry WHERE feed_id = ? AND until <= ?", [feed, ranking])
  }

  /// The ranking of the first move beyond the `count` newest ones. The ranking before it cannot be shown
  /// without that move.
  static let moveBeyond = """
    SELECT until FROM feed_entry INDEXED BY feed_entry_closed
    WHERE feed_id = ? AND until IS NOT NULL ORDER BY until DESC LIMIT 1 OFFSET ?
    """

  func move(beyond count: Int, inFeed feed: Int64) throws -> Int? {
    try row(Self.moveBeyond, [feed, count])?[0]
  }

  static let oldestReplaced = """
    SELECT ranking FROM replaced_ranking WHERE feed_id = ? AND ranking >= ? AND replaced_at > ?
    ORDER BY ranking LIMIT 1
    """

  func oldestRanking(
    ofFeed feed: Int64, from first: Int, replacedAfter time: Timestamp
  ) throws -> Int? {
    try row(Self.oldestReplaced, [feed, first, time.microseconds])?[0]
  }
}
