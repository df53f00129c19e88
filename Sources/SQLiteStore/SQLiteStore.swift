// In SQLite the mark is the newest entry and the newest change: there is one writer, new entries
// have ascending numbers, and everything else that happens to the order or to a post is written to
// `change_log` by triggers, whichever program does it. A look is `PRAGMA data_version`. New posts
// log nothing, so that loading them costs nothing: their entries are written last, and what has no
// entry is on no page.

import Catalog
import GRDB
import RowStore

/// Posts, feeds and policies in a SQLite file: the default store.
///
/// Theory of operation. The order of every feed is held in memory (`CatalogFollower`); a page is cut out
/// of that, and only the page's posts are read from the file, by their primary key. What other connections
/// and processes write reaches the catalog by `refresh()`, which reads the new entries and the change log
/// since the last time; a write through this store does so before it returns.
///
/// Single writes wait in a queue for the one writer, which takes all that wait into one transaction
/// (`WriteGroup`), each in a savepoint of its own.
public final class SQLiteStore: FeedStore, PolicyStore, Sendable {
  /// Where the file is.
  public let path: String
  let pool: DatabaseConnections
  /// What pages and items are read with, from any thread.
  let readers: ReadConnections
  let options: StoreOptions
  /// The single writes that wait; imports do not go through it.
  let writes: WriteQueue
  let follower: CatalogFollower<SQLiteCatalogSource>

  /// Opens the database at the path, making and migrating it as needed.
  ///
  /// - Throws: `StoreError`.
  public convenience init(
    path: String, file: DatabaseFile.Options = DatabaseFile.Options(),
    options: StoreOptions = StoreOptions()
  ) throws {
    self.init(path: path, pool: try Self.migratedPool(path: path, file), file, options)
  }

  /// Opens a database that is there and up to date, and changes nothing in it.
  ///
  /// - Throws: `StoreError`.
  public convenience init(
    existing path: String, file: DatabaseFile.Options = DatabaseFile.Options(),
    options: StoreOptions = StoreOptions()
  ) throws {
    try DatabaseFile.requireExisting(path: path)
    let pool = try DatabaseFile.open(path: path, options: file)
    let pending = try withStoreErrors(path: path) {
      try Migrator().verify(pool.reader)
      return try Migrator().status(pool.reader).filter { $0.appliedAt == nil }.map(\.name)
    }
    guard pending.isEmpty else { throw StoreError.pendingMigrations(pending) }
    self.init(path: path, pool: pool, file, options)
  }

  private init(
    path: String, pool: DatabaseConnections, _ file: DatabaseFile.Options, _ options: StoreOptions
  ) {
    options.requireSensible()
    self.path = path
    self.pool = pool
    self.options = options
    let readers = ReadConnections(path: path, options: file, watch: pool.watch)
    self.readers = readers
    follower = CatalogFollower(
      SQLiteCatalogSource(path: path, options: file, watch: pool.watch),
      journalledChanges: options.journalledChanges, orderMemoryBytes: options.orderMemoryBytes
    ) { _, needs in
      try withStoreErrors(path: path) {
        try readers.read { database, _ in
          try needs.read(from: SQLiteCatalogReader(database: database))
        }
      }
    }
    writes = WriteQueue(
      limit: options.maximumWaitingWrites, groupLimit: options.maximumWritesInGroup)
  }

  private static func migratedPool(
    path: String, _ file: DatabaseFile.Options
  ) throws -> DatabaseConnections {
    let pool = try DatabaseFile.open(path: path, options: file)
    _ = try withStoreErrors(path: path) { try Migrator().migrate(pool) }
    pool.makeLateIndexes()
    return pool
  }

  /// Finishes the writes that were taken, refuses later ones, and closes the file; what is in the
  /// write-ahead log is brought into it as far as readers allow. Not to be called by a completion.
  ///
  /// - Throws: `StoreError`.
  public func close() throws {
    writes.close()
    try follower.close()
    try withStoreErrors(path: path) {
      try readers.close()
      try pool.close()
    }
  }
}
