import Catalog
import Feed
import Postgres
import RowStore

/// Reads what catalogs are made of, and what has changed since, within one snapshot of the database.
struct PostgresCatalogReader: CatalogReader {
  let connection: Connection

  /// What was committed at a moment: every transaction below `xmin`, and those below `xmax` that are not among the
  /// ones that were running
  /// (https://www.postgresql.org/docs/15/functions-info.html#FUNCTIONS-PG-SNAPSHOT).
  struct Mark: Equatable {
    /// Of a server that was promoted: it may have lost what the one before had, and given its numbers to others.
    let history: ServerHistory
    /// `nil` on a standby, which cannot tell which transactions were running.
    let snapshot: String?
  }

  static let currentMoment = "SELECT \(ServerPosition.columns), pg_current_snapshot()::text"

  func mark() throws -> Mark { try Self.moment(connection).mark }

  /// What the connection's statements see, and how far the server had come, at the least, when they did.
  static func moment(_ connection: Connection) throws -> (mark: Mark, position: ServerPosition) {
    let rows = try connection.run(currentMoment)
    let position = try ServerPosition(rows)
    let snapshot = try RowValues(rows: rows, row: 0).name(ServerPosition.columnCount)
    let mark = Mark(history: position.history, snapshot: position.isStandby ? nil : snapshot)
    return (mark, position)
  }

  // MARK: Feeds

  static let everyFeed = "SELECT feed_id, name, title, ranking, oldest_ranking FROM feed"
  static let oneFeed = everyFeed + " WHERE feed_id = $1::int8"

  func feeds() throws -> [FeedState] { try Self.feeds(try connection.run(Self.everyFeed)) }

  func feed(_ id: Int64) throws -> FeedState? {
    try Self.feeds(try connection.run(Self.oneFeed, [.integer(id)])).first
  }

  static func feeds(_ rows: Rows) throws -> [FeedState] {
    try (0..<rows.count).map { index in
      let row = RowValues(rows: rows, row: index)
      return FeedState(
        id: try row.integer(0), name: try row.name(1), title: row.string(2),
        ranking: try RankingNumber.checked(row.integer(3)), oldestRanking: Int(try row.integer(4)))
    }
  }

  // MARK: Orders

  /// How many rows are in memory at once beside the order that is made of them.
  private static let portion = 5_000

  func order(ofFeed id: Int64, ranking: Int) throws -> OrderIndex {
    try order(ofFeed: id, ranking: ranking, limit: nil)
  }

  /// The feed's order in one ranking; of more entries than `limit`, the first ones.
  private func order(ofFeed id: Int64, ranking: Int, limit: Int?) throws -> OrderIndex {
    // No values can be handed to what a cursor is declared for; both are numbers.
    try connection.run(
      script: """
        DECLARE feed_order NO SCROLL CURSOR FOR
        SELECT sort_key, id, post_id, published_at FROM feed_entry
        WHERE feed_id = \(id) AND since <= \(ranking) AND (until IS NULL OR until > \(ranking))
        ORDER BY sort_key, id \(limit.map { "LIMIT \($0)" } ?? "")
        """)
    var builder = OrderIndex.Builder()
    while true {
      let rows = try connection.run("FETCH \(Self.portion) FROM feed_order")
      for index in 0..<rows.count {
        let row = RowValues(rows: rows, row: index)
        guard let id = row.text(1) else { continue }
        builder.append(
          key: SortKey(rawValue: try row.integer(0)), id: id, post: try row.integer(2),
          publishedAt: row.optional(3).map(Timestamp.init(microseconds:)))
      }
      if rows.count < Self.portion { break }
    }
    try connection.run(script: "CLOSE feed_order")
    return builder.index()
  }

  static let entryCount = """
    SELECT count(*) FROM feed_entry
    WHERE feed_id = $1::int8 AND since <= $2::int8 AND (until IS NULL OR until > $2::int8)
    """

  func top(of feed: FeedState, count: Int) throws -> OrderIndex {
    let top = try order(ofFeed: feed.id, ranking: feed.ranking, limit: count)
    let total = try connection.run(
      Self.entryCount, [.integer(feed.id), .integer(feed.ranking)])
    return OrderIndex(top: top, count: Int(total.integer(0, 0) ?? 0))
  }

  static let oldestRankingOfFeed = "SELECT oldest_ranking FROM feed WHERE feed_id = $1::int8"

  func oldestRanking(ofFeed id: Int64) throws -> Int? {
    let rows = try connection.run(Self.oldestRankingOfFeed, [.integer(id)])
    return rows.count == 0 ? nil : rows.integer(0, 0).map(Int.init)
  }

  static let placeOfPost = """
    SELECT feed_entry.sort_key FROM post JOIN feed_entry USING (post_id)
    WHERE post.id = $1::text AND feed_entry.feed_id = $2::int8 AND since <= $3::int8
      AND (until IS NULL OR until > $3::int8)
    """

  func position(ofItem id: String, inFeed feedID: Int64, ranking: Int) throws -> Position? {
    let rows = try connection.run(
      Self.placeOfPost, [.text(id), .integer(feedID), .integer(ranking)])
    guard rows.count > 0, let key = rows.integer(0, 0) else { return nil }
    return Position(key: SortKey(rawValue: key), id: id)
  }
}
