import Feed
import Foundation
import GRDB
import Prefetch
import Synchronization

/// Posts, feeds and policies in a SQLite file: the default store.
///
/// Theory of operation. The order of every feed is held in memory as one immutable value, the catalog;
/// a page is cut out of it, and only the page's posts are read from the file, by their primary key.
/// What other connections and processes write reaches the catalog by `refresh()`, which reads the new
/// entries and the change log since the last time; a write through this store does so before it
/// returns. When a page names a post that the file no longer has, the catalog was behind: it is
/// refreshed and the page cut again.
///
/// Single writes wait in a queue for the one writer, which takes all that wait into one transaction
/// (`WriteGroup`), each in a savepoint of its own.
public final class SQLiteStore: FeedStore, PolicyStore, Sendable {
  /// Where the file is.
  public let path: String
  let pool: DatabasePool
  let options: Options
  /// The single writes that wait; imports do not go through it.
  let writes: WriteQueue<WaitingWrite>
  /// `nil` until it is read for the first time: who only writes has no use for it.
  private let catalog = Mutex<Catalog?>(nil)
  /// One refresh at a time: the loser of a race would publish an older catalog over a newer one.
  private let refreshing = Mutex(())

  /// Opens the database at the path, making and migrating it as needed.
  ///
  /// - Throws: `StoreError`.
  public convenience init(path: String, options: Options = Options()) throws {
    self.init(path: path, pool: try Self.migratedPool(path: path, options: options), options)
  }

  /// Opens a database that is there and up to date, and changes nothing in it.
  ///
  /// - Throws: `StoreError`.
  public convenience init(existing path: String, options: Options = Options()) throws {
    try DatabaseFile.requireExisting(path: path)
    let pool = try DatabaseFile.open(path: path, options: options.file)
    let pending = try withStoreErrors(path: path) {
      try Migrator().verify(pool)
      return try Migrator().status(pool).filter { $0.appliedAt == nil }.map(\.name)
    }
    guard pending.isEmpty else { throw StoreError.pendingMigrations(pending) }
    self.init(path: path, pool: pool, options)
  }

  private init(path: String, pool: DatabasePool, _ options: Options) {
    options.requireSensible()
    self.path = path
    self.pool = pool
    self.options = options
    writes = WriteQueue(
      limit: options.maximumWaitingWrites, groupLimit: options.maximumWritesInGroup)
  }

  private static func migratedPool(path: String, options: Options) throws -> DatabasePool {
    let pool = try DatabaseFile.open(path: path, options: options.file)
    _ = try withStoreErrors(path: path) { try Migrator().migrate(pool) }
    return pool
  }

  /// Finishes the writes that were taken, refuses later ones, and closes the file; what is in the
  /// write-ahead log is brought into it as far as readers allow. Not to be called by a completion.
  ///
  /// - Throws: `StoreError`.
  public func close() throws {
    writes.close()
    // Who closes last brings the log in and removes it, which a connection that only reads cannot.
    pool.invalidateReadOnlyConnections()
    try withStoreErrors(path: path) { try pool.close() }
  }

  /// Brings the catalog up to the file.
  ///
  /// - Returns: whether anything had changed; `false` where the catalog has yet to be read.
  /// - Throws: `StoreError`; then the catalog stays as it was.
  @discardableResult
  public func refresh() throws -> Bool {
    try refreshing.withLock { _ in
      try withStoreErrors(path: path) {
        guard let known = catalog.withLock({ $0 }),
          let updated = try pool.read({ try CatalogReader(database: $0).update(known) })
        else { return false }
        catalog.withLock { $0 = updated }
        return true
      }
    }
  }

  /// The catalog as it is now: reading it takes a lock for the time of a copy, and the first time as
  /// long as it takes to load.
  func snapshot() throws -> Catalog {
    if let catalog = catalog.withLock({ $0 }) { return catalog }
    return try refreshing.withLock { _ in
      if let catalog = catalog.withLock({ $0 }) { return catalog }
      return try withStoreErrors(path: path) {
        let loaded = try pool.read { try CatalogReader(database: $0).load() }
        catalog.withLock { $0 = loaded }
        return loaded
      }
    }
  }

  /// The profiles and policies as of the last refresh.
  ///
  /// - Throws: `StoreError` where the catalog has yet to be read.
  public func policyBook() throws -> PolicyBook { try snapshot().policyBook }
}

// MARK: Reading feeds

extension SQLiteStore {
  /// The feeds as of the last refresh, in the order of their names' bytes.
  ///
  /// - Throws: `StoreError` where the catalog has yet to be read.
  public func feeds() throws -> [FeedSummary] {
    try snapshot().feeds.values.map(\.summary)
      .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  /// The feed of this name as of the last refresh; `nil` where there is none.
  ///
  /// - Throws: `StoreError` where the catalog has yet to be read.
  public func feed(named name: String) throws -> FeedSummary? {
    try snapshot().feeds[name]?.summary
  }

  /// The page can be read at once: its rankings are in memory, and none has to be compared with another.
  ///
  /// What the store does not have is at hand, too: it is refused at once. Before the catalog is read,
  /// nothing is.
  public func isAtHand(_ query: PageQuery) -> Bool {
    guard let catalog = catalog.withLock({ $0 }) else { return false }
    guard let feed = catalog.feeds[query.feed] else { return true }
    let order = feed.order
    return query.rankings.allSatisfy {
      $0 == order.ranking || ($0 < order.oldestRanking || $0 > order.ranking)
        || (order.orders[$0] != nil && !query.readsArrivals)
    }
  }

  /// A page of a feed: its order from memory, its posts from the file.
  ///
  /// - Throws: `FeedError` for what the store does not have, `StoreError` for what SQLite says.
  public func page(_ query: PageQuery) throws -> FeedPage {
    try withStoreErrors(path: path) {
      for _ in 0..<3 {
        let (page, isWhole) = try readPage(query)
        if isWhole { return page }
        try refresh()
      }
      // Deletions are faster than this reader: what is left of the page is right as far as it goes.
      return try readPage(query).page
    }
  }

  private func readPage(_ query: PageQuery) throws -> (page: FeedPage, isWhole: Bool) {
    guard let feed = try snapshot().feeds[query.feed] else {
      throw FeedError.unknownFeed(query.feed)
    }
    return try pool.read { database in
      var order = feed.order
      for ranking in query.rankings where order.orders[ranking] == nil {
        try load(ranking, feedID: feed.feedID, of: &order, database)
      }
      var position: Position?
      if case .around(.item(let id), _, _) = query.start {
        position = try self.position(of: id, in: feed, database)
      }
      let slice = try order.slice(query, position: position)
      let posts = try PostReader(database: database).posts(slice.entries.map(\.post))
      return (
        FeedPage(feed: feed.summary, slice: slice, posts: posts),
        posts.count == slice.entries.count
      )
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
    catalog.withLock { catalog in
      guard catalog?.entrySequence == sequences.entry,
        catalog?.changeSequence == sequences.change
      else { return }
      catalog?.feeds[order.name]?.order.orders[ranking] = index
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
