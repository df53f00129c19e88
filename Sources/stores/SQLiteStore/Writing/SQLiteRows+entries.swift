import Feed
import GRDB
import RowStore

extension SQLiteRows {
  static let openEntries = """
    SELECT entry_id, feed_id, sort_key, rank, published_at, since FROM feed_entry
    WHERE post_id = ? AND until IS NULL
    """

  func openEntries(ofPost number: Int64) throws -> [StoredEntry] {
    try rows(Self.openEntries, [number]).map {
      StoredEntry(
        id: $0[0], feedID: $0[1], post: number, key: SortKey(rawValue: $0[2]), rank: $0[3],
        publishedAt: $0[4], since: $0[5])
    }
  }

  static let feedsOfPost = """
    SELECT feed_id FROM feed_entry WHERE post_id = ?1
    UNION ALL SELECT feed_id FROM pending_place WHERE post_id = ?1
    """

  func feeds(ofPost number: Int64) throws -> Set<Int64> {
    Set(try rows(Self.feedsOfPost, [number]).map { $0[0] })
  }

  func insert(_ entry: NewEntry) throws {
    try execute(
      """
      INSERT INTO feed_entry (feed_id, post_id, sort_key, id, published_at, rank, since)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """,
      [
        entry.feedID, entry.post, entry.position.key.rawValue, entry.position.id, entry.publishedAt,
        entry.rank, entry.since,
      ])
  }

  func setTime(_ microseconds: Int64?, ofPost number: Int64, inFeed feed: Int64) throws {
    try execute(
      "UPDATE feed_entry SET published_at = ? WHERE post_id = ? AND feed_id = ?",
      [microseconds, number, feed])
  }

  func close(_ entry: StoredEntry, at ranking: Int) throws {
    try execute("UPDATE feed_entry SET until = ? WHERE entry_id = ?", [ranking, entry.id])
  }

  func delete(_ entry: StoredEntry) throws {
    try execute("DELETE FROM feed_entry WHERE entry_id = ?", [entry.id])
  }

  // Without the hint, SQLite uses the index of what was closed in this ranking: all that moved.
  static let reopenEntry = """
    UPDATE feed_entry INDEXED BY feed_entry_by_post SET until = NULL, published_at = ?
    WHERE post_id = ? AND feed_id = ? AND until = ? AND sort_key = ? AND rank IS ?
    """

  func reopen(_ entry: NewEntry, closedAt ranking: Int) throws -> Bool {
    try execute(
      Self.reopenEntry,
      [
        entry.publishedAt, entry.post, entry.feedID, ranking, entry.position.key.rawValue,
        entry.rank,
      ])
    return database.changesCount > 0
  }

  static let removeFromFeed = "DELETE FROM feed_entry WHERE post_id = ? AND feed_id = ?"
  static let removeFromRuns = "DELETE FROM pending_place WHERE post_id = ? AND feed_id = ?"

  func remove(_ number: Int64, fromFeed feed: Int64) throws {
    try execute(Self.removeFromFeed, [number, feed])
    try execute(Self.removeFromRuns, [number, feed])
  }
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

  /// The ranking of the first move beyond `count`, from the newest on: the ranking before it cannot be shown
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
