import Feed
import GRDB

extension SQLiteStore {
  /// The feeds as of the last refresh, in the order of their names' bytes; without their newest times
  /// as long as only their tops are read.
  ///
  /// - Throws: `StoreError` where the catalog has yet to be read.
  public func feeds() throws -> [FeedSummary] {
    try tops().feeds.values.map(\.summary)
      .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  /// The feed of this name as of the last refresh; `nil` where there is none. Without its newest time
  /// as long as only its top is read.
  ///
  /// - Throws: `StoreError` where the catalog has yet to be read.
  public func feed(named name: String) throws -> FeedSummary? {
    try tops().feeds[name]?.summary
  }

  /// The page can be read at once: its rankings are in memory, and none has to be compared with another.
  ///
  /// What the store does not have is at hand, too, and refused at once: but for a ranking that another
  /// process may have made since the last refresh. Before the catalog is read, nothing is.
  public func isAtHand(_ query: PageQuery) -> Bool {
    memory.withLock { $0.catalog }?.isAtHand(query) ?? false
  }

  /// A page of a feed without its posts, from the catalog as of the last refresh.
  ///
  /// - Throws: `FeedError` for what the store does not have, `StoreError` for what SQLite says.
  public func cut(_ query: PageQuery) throws -> PageCut {
    try cut(query, from: try tops())
  }

  /// A page from this catalog; where it has the tops alone, and the page needs more, from the whole one.
  func cut(_ query: PageQuery, from known: Catalog) throws -> PageCut {
    var catalog = known
    if !catalog.isWhole, !catalog.hasInTops(query) { catalog = try wholeCatalog() }
    guard let feed = catalog.feeds[query.feed] else { throw FeedError.unknownFeed(query.feed) }
    var order = feed.order
    var position: Position?
    if case .around(.item(let id), _, _) = query.start {
      position = try withStoreErrors(path: path) {
        try readers.read { database, _ in try self.position(of: id, in: feed, database) }
      }
    }
    let missing = query.rankings.filter {
      order.orders[$0] == nil && (order.oldestRanking..<order.ranking).contains($0)
    }
    if !missing.isEmpty {
      try withStoreErrors(path: path) {
        try readers.read { database, _ in
          for ranking in missing { try load(ranking, feedID: feed.feedID, of: &order, database) }
        }
      }
    }
    return PageCut(
      feed: feed.summary, slice: try order.slice(query, position: position),
      version: catalog.version)
  }

  /// The posts with these numbers, in this order, as the file has them now.
  ///
  /// - Throws: `StoreError`.
  public func posts(_ numbers: [Int64]) throws -> FlatPosts {
    try withStoreErrors(path: path) {
      try readers.read { try $1.posts(numbers, $0) }
    }
  }

  static let keptRankingsOfFeed = "SELECT oldest_ranking FROM feed WHERE feed_id = ?"

  /// Reads a ranking that is not at hand, and keeps it there.
  private func load(
    _ ranking: Int, feedID: Int64, of order: inout FeedOrder, _ database: Database
  ) throws {
    // The file may be ahead of the catalog: a ranking that it no longer keeps cannot be read whole.
    let oldest = try Int.fetchOne(
      database, sql: Self.keptRankingsOfFeed, arguments: [feedID])
    guard let oldest, oldest <= ranking, ranking < order.ranking else { return }
    let index = try CatalogReader(database: database).order(feedID: feedID, ranking: ranking)
    order.orders[ranking] = index
    // Kept only if nothing was written meanwhile: a later refresh would not know what it lacks.
    let sequences = try CatalogReader(database: database).sequences()
    memory.withLock { memory in
      guard memory.catalog?.entrySequence == sequences.entry,
        memory.catalog?.changeSequence == sequences.change
      else { return }
      memory.catalog?.feeds[order.name]?.order.keep(index, of: ranking)
    }
  }

  private func position(of id: String, in feed: Catalog.Entry, _ database: Database) throws
    -> Position
  {
    let ranking = feed.order.ranking
    let row = try Row.fetchOne(
      database.cachedStatement(sql: Self.placeOfPost),
      arguments: [id, feed.feedID, ranking, ranking])
    guard let row else {
      throw FeedError.itemNotInFeed(item: id, feed: feed.order.name)
    }
    return Position(key: SortKey(rawValue: row[0]), id: id)
  }

  static let placeOfPost = """
    SELECT feed_entry.sort_key FROM post JOIN feed_entry USING (post_id)
    WHERE post.id = ? AND feed_entry.feed_id = ? AND since <= ? AND (until IS NULL OR until > ?)
    """
}

extension Catalog {
  /// The page can be cut at once, or refused.
  func isAtHand(_ query: PageQuery) -> Bool {
    guard isWhole else { return hasInTops(query) }
    guard let order = feeds[query.feed]?.order else { return true }
    return query.rankings.allSatisfy {
      $0 == order.ranking || $0 < order.oldestRanking
        || (order.orders[$0] != nil && !query.readsArrivals)
    }
  }
}

extension PageQuery {
  /// Two rankings must be compared, which takes time in proportion to the feed.
  fileprivate var readsArrivals: Bool {
    switch start {
    case .top, .around, .after, .between: false
    case .before(let cursor):
      switch cursor.view {
      case .ranking: false
      case .newer, .arrivals: true
      }
    }
  }
}
