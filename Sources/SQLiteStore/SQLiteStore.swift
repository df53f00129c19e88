import Feed
import GRDB
import Prefetch
import Synchronization
import System

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
  let pool: DatabaseConnections
  /// What pages and items are read with, from any thread.
  let readers: ReadConnections
  let options: Options
  /// The single writes that wait; imports do not go through it.
  let writes: WriteQueue<WaitingWrite>
  let memory: Mutex<Memory>
  /// Of the catalog that was published last; greater only once memory has everything up to it.
  let publishedVersion = Atomic<UInt64>(0)
  /// One refresh at a time: the loser of a race would publish an older catalog over a newer one.
  let refreshing: Mutex<CatalogSource>
  /// Reads what `beginLoading` leaves to be read.
  let loading = WorkerPool(threads: 1, limit: 2)

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
      try Migrator().verify(pool.reader)
      return try Migrator().status(pool.reader).filter { $0.appliedAt == nil }.map(\.name)
    }
    guard pending.isEmpty else { throw StoreError.pendingMigrations(pending) }
    self.init(path: path, pool: pool, options)
  }

  private init(path: String, pool: DatabaseConnections, _ options: Options) {
    options.requireSensible()
    self.path = path
    self.pool = pool
    self.options = options
    refreshing = Mutex(CatalogSource(path: path, options: options.file, watch: pool.watch))
    readers = ReadConnections(path: path, options: options.file, watch: pool.watch)
    memory = Mutex(Memory(journal: ChangeJournal(limit: options.journalledChanges)))
    writes = WriteQueue(
      limit: options.maximumWaitingWrites, groupLimit: options.maximumWritesInGroup)
  }

  private static func migratedPool(path: String, options: Options) throws -> DatabaseConnections {
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
    loading.wait()
    try withStoreErrors(path: path) {
      try refreshing.withLock { try $0.close() }
      try readers.close()
      try pool.close()
    }
  }
}
