import Feed
import GRDB

extension CatalogReader {
  /// Every feed, in the order of their names.
  func feeds() throws -> [Catalog.FeedRow] {
    try Row.fetchAll(
      database,
      sql: "SELECT feed_id, name, title, ranking, oldest_ranking FROM feed ORDER BY name"
    ).map {
      Catalog.FeedRow(
        id: $0[0], name: $0[1], title: $0[2], ranking: try RankingNumber.checked($0[3]),
        oldestRanking: $0[4])
    }
  }

  /// The feed in its current ranking.
  func order(of feed: Catalog.FeedRow) throws -> FeedOrder {
    FeedOrder(feed, [feed.ranking: try order(feedID: feed.id, ranking: feed.ranking)])
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

  /// The feed's order in one ranking; of more entries than `limit`, the first ones.
  func order(feedID: Int64, ranking: Int, limit: Int = .max) throws -> OrderIndex {
    let rows = RowReader(try database.cachedStatement(sql: Self.feedOrder))
    defer { rows.reset() }
    rows.bind(feedID, at: 1)
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

  /// The top of the feed's current ranking.
  func top(of feed: Catalog.FeedRow, count: Int) throws -> FeedOrder {
    let top = try order(feedID: feed.id, ranking: feed.ranking, limit: count)
    let rows = RowReader(try database.cachedStatement(sql: Self.entryCount))
    defer { rows.reset() }
    rows.bind(feed.id, at: 1)
    rows.bind(Int64(feed.ranking), at: 2)
    _ = try rows.next()
    return FeedOrder(
      feed, [feed.ranking: OrderIndex(top: top, count: Int(rows.integer(0)))])
  }
}

extension FeedOrder {
  fileprivate init(_ feed: Catalog.FeedRow, _ orders: [Int: OrderIndex]) {
    self.init(
      name: feed.name, title: feed.title, ranking: feed.ranking,
      oldestRanking: feed.oldestRanking, orders: orders)
  }
}
