import GRDB
import RowStore

extension SQLiteRows {
  func beginRun() throws -> StartedRun {
    try execute("INSERT INTO ranking_run DEFAULT VALUES")
    let number = database.lastInsertedRowID
    return StartedRun(number: number, lock: try RunLock(run: number, path: path))
  }

  static let isRunKnown = "SELECT EXISTS (SELECT 1 FROM ranking_run WHERE run_id = ?)"

  func isKnown(_ run: Int64) throws -> Bool { try row(Self.isRunKnown, [run])?[0] ?? false }

  func isAtWork(_ run: Int64) -> Bool { RunLock.isHeld(run: run, path: path) }

  func runs(besides run: Int64) throws -> [Int64] {
    try rows("SELECT run_id FROM ranking_run WHERE run_id <> ?", [run]).map { $0[0] }
  }

  // Left to itself, SQLite reads all that the run has kept aside.
  static let ranksOfPost = """
    SELECT feed_id, rank FROM pending_place INDEXED BY pending_place_by_post
    WHERE post_id = ? AND run_id = ?
    """

  func ranks(ofPost number: Int64, inRun run: Int64) throws -> [(feedID: Int64, rank: Int?)] {
    try rows(Self.ranksOfPost, [number, run]).map { ($0[0], $0[1]) }
  }

  func keepPlace(ofPost number: Int64, inFeed feed: Int64, rank: Int?, run: Int64) throws {
    try execute(
      "INSERT OR REPLACE INTO pending_place (run_id, feed_id, post_id, rank) VALUES (?, ?, ?, ?)",
      [run, feed, number, rank])
  }

  static let forgetPlace =
    "DELETE FROM pending_place WHERE run_id = ? AND feed_id = ? AND post_id = ?"

  func forgetPlace(ofPost number: Int64, inFeed feed: Int64, run: Int64) throws {
    try execute(Self.forgetPlace, [run, feed, number])
  }

  func feeds(ofRun run: Int64) throws -> [Int64] {
    try rows("SELECT DISTINCT feed_id FROM pending_place WHERE run_id = ?", [run]).map { $0[0] }
  }

  /// See `SortKey`.
  static func key(rank: String) -> String {
    "coalesce(\(rank), (1 << 62) - post.published_at, 9223372036854775807)"
  }

  static let takeTimes = """
    INSERT OR IGNORE INTO pending_place (run_id, feed_id, post_id, rank)
    SELECT ?, place.feed_id, place.post_id, NULL FROM pending_place AS place
    CROSS JOIN post ON post.post_id = place.post_id
    CROSS JOIN feed_entry AS entry INDEXED BY feed_entry_by_post
      ON entry.post_id = place.post_id AND entry.feed_id = place.feed_id AND entry.until IS NULL
    WHERE place.run_id = ? AND entry.rank IS NULL AND entry.sort_key <> \(key(rank: "NULL"))
    """

  func takeTimes(from other: Int64, to run: Int64) throws {
    try execute(Self.takeTimes, [run, other])
  }

  // CROSS JOIN: in the order in which the tables stand, each by the post's number.
  static let closeMoved = """
    UPDATE feed_entry SET until = ? WHERE entry_id IN (
      SELECT entry.entry_id FROM pending_place AS place
      CROSS JOIN post ON post.post_id = place.post_id
      CROSS JOIN feed_entry AS entry INDEXED BY feed_entry_by_post
        ON entry.post_id = place.post_id AND entry.feed_id = place.feed_id AND entry.until IS NULL
      WHERE place.run_id = ? AND place.feed_id = ?
        AND (entry.rank IS NOT place.rank OR entry.sort_key <> \(key(rank: "place.rank"))))
    """

  func closeMoved(byRun run: Int64, inFeed feed: Int64, at ranking: Int) throws -> Bool {
    try execute(Self.closeMoved, [ranking, run, feed])
    return database.changesCount > 0
  }

  static let openPlaces = """
    INSERT INTO feed_entry (feed_id, post_id, sort_key, id, published_at, rank, since)
    SELECT place.feed_id, place.post_id, \(key(rank: "place.rank")), post.id, post.published_at,
      place.rank, ?
    FROM pending_place AS place CROSS JOIN post ON post.post_id = place.post_id
    WHERE place.run_id = ? AND place.feed_id = ?
      AND NOT EXISTS (SELECT 1 FROM feed_entry AS entry INDEXED BY feed_entry_by_post
        WHERE entry.post_id = place.post_id AND entry.feed_id = place.feed_id
          AND entry.until IS NULL)
    """

  func openPlaces(ofRun run: Int64, inFeed feed: Int64, since ranking: Int) throws {
    try execute(Self.openPlaces, [ranking, run, feed])
  }

  func dropPlaces(ofRun run: Int64, inFeed feed: Int64) throws {
    try execute("DELETE FROM pending_place WHERE run_id = ? AND feed_id = ?", [run, feed])
  }

  func drop(_ run: Int64) throws {
    try execute("DELETE FROM pending_place WHERE run_id = ?", [run])
    try execute("DELETE FROM ranking_run WHERE run_id = ?", [run])
  }

  /// The file of the locks goes where there is no run.
  func runIsOver() throws {
    let areNone = try
      !(Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM ranking_run)") ?? true)
    if areNone { RunLock.removeFile(path: path) }
  }
}
