import Feed
import Postgres
import RowStore

/// Runs. Each holds a lock of the database, on a connection of its own, for as long as its program works on it.
extension PostgresRows {
  static let beginRun = "INSERT INTO ranking_run DEFAULT VALUES RETURNING run_id"
  /// SQL that calls this lock function with the numbers of the table and the run.
  static func lock(_ function: String) -> String {
    "SELECT \(function)('ranking_run'::regclass::oid::int4, ($1::int8 % 2147483647)::int4)"
  }

  func beginRun() throws -> StartedRun {
    let number = try RowValues(rows: connection.run(Self.beginRun), row: 0).integer(0)
    return StartedRun(number: number, lock: try RunLock(number, openLock()))
  }

  /// A lock that shows that a run is in progress, for exactly as long as its process lives.
  private final class RunLock: Sendable {
    private let connection: Connection

    init(_ run: Int64, _ connection: Connection) throws {
      self.connection = connection
      try connection.run(PostgresRows.lock("pg_advisory_lock"), [.integer(run)])
    }

    /// Releases the lock at once, not when the server notices that the connection has ended.
    deinit { _ = try? connection.run("SELECT pg_advisory_unlock_all()") }
  }

  func isKnown(_ run: Int64) throws -> Bool {
    try connection.run("SELECT 1 FROM ranking_run WHERE run_id = $1::int8", [.integer(run)])
      .count > 0
  }

  /// Tries the run's lock, and if it gets the lock, holds it until the transaction ends.
  func isAtWork(_ run: Int64) throws -> Bool {
    try !connection.run(Self.lock("pg_try_advisory_xact_lock"), [.integer(run)]).boolean(0, 0)
  }

  func runs(besides run: Int64) throws -> [Int64] {
    try numbers(
      direct(
        "SELECT run_id FROM ranking_run WHERE run_id <> $1::int8 ORDER BY run_id", [.integer(run)]))
  }

  private func numbers(_ rows: Rows) throws -> [Int64] {
    try (0..<rows.count).map { try RowValues(rows: rows, row: $0).integer(0) }
  }

  func feeds(ofRun run: Int64) throws -> [Int64] {
    try numbers(
      direct("SELECT DISTINCT feed_id FROM pending_place WHERE run_id = $1::int8", [.integer(run)]))
  }

  /// SQL for the sort key of a post with this rank. See `SortKey`.
  static func key(rank: String) -> String {
    "coalesce(\(rank), 4611686018427387904 - post.published_at, 9223372036854775807)"
  }

  static let takeTimes = """
    INSERT INTO pending_place (run_id, feed_id, post_id, rank)
    SELECT $1::int8, place.feed_id, place.post_id, NULL FROM pending_place AS place
    JOIN post USING (post_id)
    JOIN feed_entry AS entry ON entry.post_id = place.post_id AND entry.feed_id = place.feed_id
      AND entry.until IS NULL
    WHERE place.run_id = $2::int8 AND entry.rank IS NULL
      AND entry.sort_key <> \(key(rank: "NULL"))
    ON CONFLICT DO NOTHING
    """

  func takeTimes(from other: Int64, to run: Int64) throws {
    try direct(Self.takeTimes, [.integer(run), .integer(other)])
  }

  static let closeMoved = """
    UPDATE feed_entry SET until = $1::int8 FROM pending_place AS place JOIN post USING (post_id)
    WHERE feed_entry.post_id = place.post_id AND feed_entry.feed_id = place.feed_id
      AND feed_entry.until IS NULL AND place.run_id = $2::int8 AND place.feed_id = $3::int8
      AND (feed_entry.rank IS DISTINCT FROM place.rank
        OR feed_entry.sort_key <> \(key(rank: "place.rank")))
    """

  func closeMoved(byRun run: Int64, inFeed feed: Int64, at ranking: Int) throws -> Bool {
    try direct(Self.closeMoved, [.integer(ranking), .integer(run), .integer(feed)])
      .changedCount > 0
  }

  static let openPlaces = """
    INSERT INTO feed_entry (feed_id, post_id, sort_key, id, published_at, rank, since)
    SELECT place.feed_id, place.post_id, \(key(rank: "place.rank")), post.id, post.published_at,
      place.rank, $1::int8
    FROM pending_place AS place JOIN post USING (post_id)
    WHERE place.run_id = $2::int8 AND place.feed_id = $3::int8
      AND NOT EXISTS (SELECT 1 FROM feed_entry AS entry
        WHERE entry.post_id = place.post_id AND entry.feed_id = place.feed_id
          AND entry.until IS NULL)
    """

  func openPlaces(ofRun run: Int64, inFeed feed: Int64, since ranking: Int) throws {
    try direct(Self.openPlaces, [.integer(ranking), .integer(run), .integer(feed)])
  }

  func dropPlaces(ofRun run: Int64, inFeed feed: Int64) throws {
    try direct(
      "DELETE FROM pending_place WHERE run_id = $1::int8 AND feed_id = $2::int8",
      [.integer(run), .integer(feed)])
  }

  func drop(_ run: Int64) throws {
    try direct("DELETE FROM pending_place WHERE run_id = $1::int8", [.integer(run)])
    try direct("DELETE FROM ranking_run WHERE run_id = $1::int8", [.integer(run)])
  }

  /// Does nothing: the run's lock ends with its connection.
  func runIsOver() {}
}
