import Catalog
import Feed
import GRDB
import RowStore

extension SQLiteCatalogReader {
  static let everyFeed = "SELECT feed_id, name, title, ranking, oldest_ranking FROM feed"
  static let oneFeed = everyFeed + " WHERE feed_id = ?"

  func feeds() throws -> [FeedState] {
    let rows = RowReader(try database.cachedStatement(sql: Self.everyFeed))
    defer { rows.reset() }
    var feeds: [FeedState] = []
    while try rows.next() { feeds.append(try rows.feed()) }
    return feeds
  }

  func feed(_ id: Int64) throws -> FeedState? {
    let rows = RowReader(try database.cachedStatement(sql: Self.oneFeed))
    defer { rows.reset() }
    try rows.bind(id, at: 1)
    return try rows.next() ? rows.feed() : nil
  }

  /// Whether anything was moved to the ranking.
  static let isRankingBegun = """
    SELECT EXISTS (SELECT 1 FROM feed_entry WHERE feed_id = ? AND since = ? AND since > 1)
      OR EXISTS (SELECT 1 FROM feed_entry WHERE feed_id = ? AND until = ?)
    """

  /// A feed's order as it is read whole, all rankings together.
  static let feedOrder = """
    SELECT sort_key, id, post_id, published_at, since, until FROM feed_entry
    WHERE feed_id = ? ORDER BY sort_key, id
    """

  func order(ofFeed id: Int64, ranking: Int) throws -> OrderIndex {
    try order(ofFeed: id, ranking: ranking, limit: .max)
  }

  /// The feed's order in one ranking; of more entries than `limit`, the first ones.
  private func order(ofFeed feedID: Int64, ranking: Int, limit: Int) throws -> OrderIndex {
    let rows = RowReader(try database.cachedStatement(sql: Self.feedOrder))
    defer { rows.reset() }
    try rows.bind(feedID, at: 1)
    var builder = OrderIndex.Builder()
    while builder.count < limit, try rows.next() {
      guard let rankings = rows.rankings(since: 4, until: 5), rankings.contains(ranking),
        let id = rows.text(1)
      else { continue }
      builder.append(
        key: SortKey(rawValue: rows.integer(0)), id: id, post: rows.integer(2),
        publishedAt: rows.optionalInteger(3).map(Timestamp.init(microseconds:)))
    }
    return builder.index()
  }

  /// How many entries a feed has in a ranking: all, less those that had left, less those yet to come.
  /// Each is counted in an index.
  static let entryCount = """
    SELECT (SELECT count(*) FROM feed_entry INDEXED BY feed_entry_order WHERE feed_id = ?1)
      - (SELECT count(*) FROM feed_entry INDEXED BY feed_entry_closed
          WHERE feed_id = ?1 AND until IS NOT NULL AND until <= ?2)
      - (SELECT count(*) FROM feed_entry INDEXED BY feed_entry_opened
          WHERE feed_id = ?1 AND since > 1 AND since > ?2)
    """

  func top(of feed: FeedState, count: Int) throws -> OrderIndex {
    let top = try order(ofFeed: feed.id, ranking: feed.ranking, limit: count)
    return OrderIndex(top: top, count: try self.count(Self.entryCount, feed))
  }

  /// The number that a statement says of a feed, and of a position in its order.
  func count(_ sql: String, _ feed: FeedState, _ position: Position? = nil) throws -> Int {
    let rows = RowReader(try database.cachedStatement(sql: sql))
    defer { rows.reset() }
    try rows.bind(feed, position)
    _ = try rows.next()
    return Int(rows.integer(0))
  }

  static let oldestRankingOfFeed = "SELECT oldest_ranking FROM feed WHERE feed_id = ?"

  func oldestRanking(ofFeed id: Int64) throws -> Int? {
    let statement = try database.cachedStatement(sql: Self.oldestRankingOfFeed)
    return try Int.fetchOne(statement, arguments: [id])
  }

  static let placeOfPost = """
    SELECT feed_entry.sort_key FROM post JOIN feed_entry USING (post_id)
    WHERE post.id = ? AND feed_entry.feed_id = ? AND since <= ? AND (until IS NULL OR until > ?)
    """

  func position(ofItem id: String, inFeed feedID: Int64, ranking: Int) throws -> Position? {
    let statement = try database.cachedStatement(sql: Self.placeOfPost)
    return try Row.fetchOne(statement, arguments: [id, feedID, ranking, ranking]).map {
      Position(key: SortKey(rawValue: $0[0]), id: id)
    }
  }
}

extension RowReader {
  /// Binds the feed and its current ranking, and the position where there is one, to the first question marks.
  func bind(_ feed: FeedState, _ position: Position?) throws {
    try bind(feed.id, at: 1)
    try bind(Int64(feed.ranking), at: 2)
    guard let position else { return }
    try bind(position.key.rawValue, at: 3)
    try bind(position.id, at: 4)
  }

  /// The feed of the columns feed_id, name, title, ranking, oldest_ranking.
  fileprivate func feed() throws -> FeedState {
    FeedState(
      id: integer(0), name: string(1), title: text(2).map { String(decoding: $0, as: UTF8.self) },
      ranking: try RankingNumber.checked(integer(3)), oldestRanking: Int(integer(4)))
  }
}
