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
/// returns. Beside the catalog stands a journal of what changed at which version, so that whoever keeps
/// pages knows which of them still hold.
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
  let memory: Mutex<Memory>
  /// Of the catalog that was published last; greater only once memory has everything up to it.
  private let publishedVersion = Atomic<UInt64>(0)
  /// One refresh at a time: the loser of a race would publish an older catalog over a newer one.
  private let refreshing = Mutex(())

  /// What is held in memory of the file.
  struct Memory {
    /// `nil` until it is read for the first time: who only writes has no use for it.
    var catalog: Catalog?
    var journal: ChangeJournal
  }

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
    memory = Mutex(Memory(journal: ChangeJournal(limit: options.journalledChanges)))
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
        guard let known = memory.withLock({ $0.catalog }),
          let update = try pool.read({ try CatalogReader(database: $0).update(known) })
        else { return false }
        publish(update)
        return true
      }
    }
  }

  /// The catalog as it is now: reading it takes a lock for the time of a copy, and the first time as
  /// long as it takes to load.
  func snapshot() throws -> Catalog {
    if let catalog = memory.withLock({ $0.catalog }) { return catalog }
    return try refreshing.withLock { _ in
      if let catalog = memory.withLock({ $0.catalog }) { return catalog }
      return try withStoreErrors(path: path) {
        publish(
          CatalogUpdate(
            catalog: try pool.read { try CatalogReader(database: $0).load() }, changes: nil))
      }
    }
  }

  /// Makes the catalog the one that is read, as the next version. Only while `refreshing` is held.
  @discardableResult
  private func publish(_ update: CatalogUpdate) -> Catalog {
    var catalog = update.catalog
    let version = StoreVersion(number: publishedVersion.load(ordering: .relaxed) + 1)
    catalog.version = version
    memory.withLock { memory in
      memory.catalog = catalog
      memory.journal.note(update.changes, at: version)
    }
    publishedVersion.store(version.number, ordering: .releasing)
    return catalog
  }

  /// The version of the catalog that was published last; `start` before the first.
  public var version: StoreVersion {
    StoreVersion(number: publishedVersion.load(ordering: .acquiring))
  }

  /// See `FeedStore.isUnchanged`. It takes a lock for as long as it takes to look up the posts.
  public func isUnchanged(feed: String, posts: [Int64], since version: StoreVersion) -> Bool {
    if version == self.version { return true }
    return memory.withLock { $0.journal.isUnchanged(feed: feed, posts: posts, since: version) }
  }

  /// See `FeedStore.changedPosts`: as far back as `Options.journalledChanges` reaches.
  public func changedPosts(since version: StoreVersion) -> [Int64]? {
    memory.withLock { $0.journal.changedPosts(since: version) }
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
    guard let catalog = memory.withLock({ $0.catalog }) else { return false }
    guard let feed = catalog.feeds[query.feed] else { return true }
    let order = feed.order
    return query.rankings.allSatisfy {
      $0 == order.ranking || ($0 < order.oldestRanking || $0 > order.ranking)
        || (order.orders[$0] != nil && !query.readsArrivals)
    }
  }

  /// A page of a feed without its posts, from the catalog as of the last refresh.
  ///
  /// - Throws: `FeedError` for what the store does not have, `StoreError` for what SQLite says.
  public func cut(_ query: PageQuery) throws -> PageCut {
    let catalog = try snapshot()
    guard let feed = catalog.feeds[query.feed] else { throw FeedError.unknownFeed(query.feed) }
    var order = feed.order
    var position: Position?
    if case .around(.item(let id), _, _) = query.start {
      position = try withStoreErrors(path: path) {
        try pool.read { try self.position(of: id, in: feed, $0) }
      }
    }
    let missing = query.rankings.filter { order.orders[$0] == nil }
    if !missing.isEmpty {
      try withStoreErrors(path: path) {
        try pool.read { database in
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
      try pool.read { try PostReader(database: $0).flatPosts(numbers) }
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
      memory.catalog?.feeds[order.name]?.order.orders[ranking] = index
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
