import GRDB
import RowStore

/// The posts at the top of each feed, in its current ranking and in those that runs are making.
struct FeedTops {
  private let feeds: Set<Int64>
  private let limit: Int
  private var tops: [Int64: Set<Int64>] = [:]
  /// The number of tops that contain a post.
  private var counts: [Int64: Int] = [:]
  /// The newest change when the tops were last read.
  private var changeSequence: Int64?

  init(feeds: [Int64], limit: Int) {
    self.feeds = Set(feeds)
    self.limit = limit
  }

  func contains(_ post: Int64) -> Bool { counts[post] != nil }

  static let top = """
    SELECT post_id FROM feed_entry
    WHERE feed_id = ?1 AND since <= ?2 AND (until IS NULL OR until > ?2)
    ORDER BY sort_key, id LIMIT ?3
    """

  static let rankingOfFeed = "SELECT ranking FROM feed WHERE feed_id = ?"

  static let runs = "SELECT run_id FROM ranking_run"

  /// The top of the entries that a run leaves in place.
  static let topBesideRun = """
    SELECT post_id FROM feed_entry
    WHERE feed_id = ?1 AND until IS NULL AND NOT EXISTS (SELECT 1 FROM pending_place AS place
      WHERE place.run_id = ?2 AND place.feed_id = ?1 AND place.post_id = feed_entry.post_id)
    ORDER BY sort_key, id LIMIT ?3
    """

  /// The top of the entries that a run moves.
  static let topOfRun = """
    SELECT place.post_id FROM pending_place AS place
    CROSS JOIN post ON post.post_id = place.post_id
    WHERE place.feed_id = ?1 AND place.run_id = ?2
    ORDER BY \(SQLiteRows.key(rank: "place.rank")), post.id LIMIT ?3
    """

  /// The feeds in which a change may have brought a post to the top. A new entry only pushes others down,
  /// and a change within a post moves nothing.
  static let changedFeeds = """
    SELECT DISTINCT feed_id FROM change_log WHERE change_id > ? AND kind IN ('entry', 'feed')
    """
  static let newestChange = "SELECT max(change_id) FROM change_log"
  static let oldestChange = "SELECT min(change_id) FROM change_log"

  /// Reads the tops again to which a change may have brought a post.
  mutating func update(_ database: Database) throws {
    guard limit > 0 else { return }
    for feed in try changedFeeds(database) { try read(feed, database) }
    try noteOwnChanges(database)
  }

  private func changedFeeds(_ database: Database) throws -> Set<Int64> {
    guard let changeSequence,
      // The change log is trimmed at its old end: a reader that missed rows reads everything again.
      let oldest = try Int64.fetchOne(database.cachedStatement(sql: Self.oldestChange)),
      oldest <= changeSequence + 1
    else { return feeds }
    return Set(
      try Int64.fetchAll(
        database.cachedStatement(sql: Self.changedFeeds), arguments: [changeSequence])
    ).intersection(feeds)
  }

  private mutating func read(_ feed: Int64, _ database: Database) throws {
    var top: Set<Int64> = []
    let stored = try Int64.fetchOne(
      database.cachedStatement(sql: Self.rankingOfFeed), arguments: [feed])
    if let ranking = try stored.map(RankingNumber.checked) {
      top.formUnion(try posts(Self.top, [feed, ranking, limit], database))
      for run in try Int64.fetchAll(database.cachedStatement(sql: Self.runs)) {
        for sql in [Self.topBesideRun, Self.topOfRun] {
          top.formUnion(try posts(sql, [feed, run, limit], database))
        }
      }
    }
    for post in tops[feed] ?? [] {
      counts[post]! -= 1
      if counts[post] == 0 { counts[post] = nil }
    }
    for post in top { counts[post, default: 0] += 1 }
    tops[feed] = top
  }

  private func posts(
    _ sql: String, _ arguments: StatementArguments, _ database: Database
  ) throws -> [Int64] {
    try Int64.fetchAll(database.cachedStatement(sql: sql), arguments: arguments)
  }

  /// Skips the changes of the pruning itself. It deletes no post in a top, so the tops stay valid.
  mutating func noteOwnChanges(_ database: Database) throws {
    changeSequence =
      try Int64.fetchOne(database.cachedStatement(sql: Self.newestChange)) ?? 0
  }
}
