import GRDB
import GRDBSQLite
import Synchronization

/// A process's connections to a database: one that writes, a few that read, and one that only checkpoints
/// the write-ahead log.
///
/// Theory of operation. SQLite 3.7.0 to 3.51.2 can lose committed writes: if one connection begins a
/// checkpoint while another commits and restarts the WAL, the former may use what it knew of the old WAL
/// and mark pages of the new one as checkpointed that are not (https://sqlite.org/wal.html#walresetbug).
/// Only a connection that holds the write lock restarts the WAL. So no connection of ours checkpoints
/// automatically, and we hold the write lock during every checkpoint: the writer begins a transaction, the
/// other connection checkpoints what it can without waiting for any other (`PASSIVE`), and the transaction
/// ends without having written. The other checkpoint modes do not work: they take the checkpoint's lock
/// first, and if they cannot get the write lock, they continue without it.
///
/// The checkpoint that SQLite makes when the last connection to a file closes needs none of this: SQLite
/// locks the whole file for it, so no other process can have it open.
final class DatabaseConnections: Sendable {
  /// The path as it was given.
  let path: String
  /// The path of the file itself, beside which the WAL is.
  let file: String
  private let pool: DatabasePool
  private let pagesInLog: PagesInLog
  private let options: DatabaseFile.Options
  /// Checks that the file is still the one that was opened.
  let watch: FileWatch
  private let isClosed = Atomic<Bool>(false)
  /// The connection that checkpoints, opened when it is first needed.
  private let checkpointer = Mutex<DatabaseQueue?>(nil)

  /// The time for which a checkpoint that follows a write waits for other processes that write: one of
  /// them, or the next write here, checkpoints the WAL as well.
  private static let checkpointWaitMilliseconds = 20

  /// Opens the file; creates it if it does not exist.
  ///
  /// - Throws: `DatabaseError`.
  init(path: String, options: DatabaseFile.Options) throws {
    self.path = path
    self.options = options
    LogCheck.surviveCuts
    let pagesInLog = PagesInLog()
    var configuration = DatabaseFile.configuration(options)
    configuration.prepareDatabase { database in pagesInLog.follow(database) }
    pool = try DatabasePool(path: path, configuration: configuration)
    self.pagesInLog = pagesInLog
    file = DatabaseFile.resolvingLinks(path)
    watch = FileWatch(path: path, file: file)
    // Not in `prepareDatabase`: the pool sets NORMAL after it, when it turns WAL on.
    try pool.writeWithoutTransaction {
      try $0.execute(sql: "PRAGMA synchronous = FULL")
      try $0.execute(sql: "PRAGMA journal_size_limit = \(options.logLimitBytes)")
      // A negative number is in KiB, not in pages.
      try $0.execute(sql: "PRAGMA cache_size = -\(options.writerCacheBytes >> 10)")
    }
    number()
    pool.writeWithoutTransaction { watch.begin($0) }
  }

  /// Gives a database without a number one that identifies it. Errors are ignored: a full disk does not
  /// prevent reading.
  private func number() {
    let isNew = try? pool.writeWithoutTransaction { database in
      guard try Int.fetchOne(database, sql: "PRAGMA user_version") == 0 else { return false }
      try database.inTransaction(.immediate) {
        if try Int.fetchOne(database, sql: "PRAGMA user_version") == 0 {
          try database.execute(sql: DatabaseFile.newNumber())
        }
        return .commit
      }
      return true
    }
    // Checkpoints the number from the WAL into the file, where it is read.
    if isNew ?? false { _ = try? checkpoint(waiting: Self.checkpointWaitMilliseconds) }
  }

  /// The connections for reading.
  var reader: any DatabaseReader { pool }

  /// Runs the body within one snapshot.
  func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
    try pool.read(body)
  }

  /// Writes within one transaction, and checkpoints the WAL if it has become long.
  ///
  /// - Throws: errors of the body and of SQLite; then nothing is written. `StoreError.gone` and
  ///   `StoreError.replaced`; then nothing is in the file that the path leads to.
  func write<Result>(_ body: (Database) throws -> Result) throws -> Result {
    let result = try pool.write { database in
      try watch.lookAtWrite(database)
      let result = try body(database)
      // Once the write's frames follow damaged ones, the ends of the WAL no longer show the damage.
      try watch.lookAtWrite(database)
      return result
    }
    // The file may have been replaced meanwhile.
    try pool.writeWithoutTransaction(watch.lookAtWrite)
    checkpointWhereDue()
    return result
  }

  /// Runs the body with the connection that writes, outside of a transaction.
  func writeWithoutTransaction<Result>(_ body: (Database) throws -> Result) throws -> Result {
    let result = try pool.writeWithoutTransaction(body)
    checkpointWhereDue()
    return result
  }

  /// See `Vacuum`. Afterwards, the WAL holds the whole database.
  func vacuum() throws { try pool.vacuum() }

  private func lookForTheLastTime(_ database: Database) throws {
    try watch.look(database)
    try withBusyTimeout(Self.checkpointWaitMilliseconds, database) {
      do {
        try database.execute(sql: "BEGIN IMMEDIATE")
      } catch is DatabaseError {
        // The process that writes has the file open, and checkpoints the WAL when it closes it. Closing reports
        // any other cause.
        return
      }
      defer { if database.isInsideTransaction { try? database.execute(sql: "ROLLBACK") } }
      try watch.lookAtWholeLog(database, isLast: true)
    }
  }

  /// Closes all connections; the last one to a file checkpoints the WAL and removes it. If another file is
  /// there now, or one of the files is damaged, they stay open until the process ends: closing would
  /// checkpoint a foreign WAL into a database.
  ///
  /// - Throws: `DatabaseError`; `StoreError.cannotOpen`; `StoreError.hurt` if no caller has got that error
  ///   before.
  func close() throws {
    guard !isClosed.exchange(true, ordering: .relaxed) else { return }
    let isKnown = watch.isKnownReplaced
    do {
      try pool.writeWithoutTransaction(lookForTheLastTime)
    } catch StoreError.replaced {
      _ = Unmanaged.passRetained(self)
      return
    } catch let error as StoreError where error.isHurt {
      _ = Unmanaged.passRetained(self)
      if isKnown { return }
      throw error
    } catch StoreError.cannotOpen(let path, let reason) {
      _ = Unmanaged.passRetained(self)
      throw StoreError.cannotOpen(path: path, reason: reason)
    } catch is StoreError {
      // SQLite itself sees that there is no such file, and still has the WAL open.
    } catch {
      // The WAL could not be read: the next process that opens the database reads it and its checksums.
      _ = Unmanaged.passRetained(self)
      throw error
    }
    try checkpointer.withLock { queue in
      try queue?.close()
      queue = nil
    }
    // A connection that only reads cannot remove the WAL.
    pool.invalidateReadOnlyConnections()
    try pool.close()
  }
}

// MARK: The WAL

extension DatabaseConnections {
  /// The outcome of a checkpoint.
  enum Checkpoint {
    /// All of the WAL is in the database.
    case whole
    /// Readers still need some of it.
    case partial
    /// Another process wrote for the whole time of the wait.
    case busy
  }

  /// Checkpoints as much of the WAL as readers allow, with the write lock held.
  ///
  /// - Parameter milliseconds: the time to wait for other processes that write.
  /// - Throws: `DatabaseError`.
  func checkpoint(waiting milliseconds: Int) throws -> Checkpoint {
    try pool.writeWithoutTransaction { database in
      try withBusyTimeout(milliseconds, database) {
        do {
          try database.execute(sql: "BEGIN IMMEDIATE")
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
          return .busy
        }
        // SQLite may have ended the transaction itself (https://sqlite.org/lang_transaction.html, section
        // 2.4).
        defer { if database.isInsideTransaction { try? database.execute(sql: "ROLLBACK") } }
        try watch.lookAtWholeLog(database)
        return try checkpointWithWriteLock()
      }
    }
  }

  private func checkpointWithWriteLock() throws -> Checkpoint {
    try checkpointer.withLock { queue in
      let opened = try queue ?? DatabaseFile.openQueue(path: path, options: options)
      queue = opened
      do {
        let pages = try opened.writeWithoutTransaction { try $0.checkpoint(.passive) }
        return pages.walFrameCount == pages.checkpointedFrameCount ? .whole : .partial
      } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
        // A program that is not ours checkpoints.
        return .busy
      }
    }
  }

  /// Checkpoints the WAL, and truncates its file to one page.
  ///
  /// The next write restarts a checkpointed WAL, which truncates it to the connection's limit: this method
  /// makes that write, which changes nothing.
  ///
  /// - Returns: whether the whole WAL was checkpointed, and no connection wrote or read meanwhile.
  /// - Throws: `DatabaseError`.
  func cutLog(waiting milliseconds: Int) throws -> Bool {
    guard try checkpoint(waiting: milliseconds) == .whole else { return false }
    return try pool.writeWithoutTransaction { database in
      try withBusyTimeout(milliseconds, database) {
        try database.execute(sql: "PRAGMA journal_size_limit = 0")
        defer {
          try? database.execute(sql: "PRAGMA journal_size_limit = \(options.logLimitBytes)")
        }
        do {
          try database.inTransaction(.immediate) {
            let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            try database.execute(sql: "PRAGMA user_version = \(version)")
            return .commit
          }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
          return false
        }
        return pagesInLog.count == 1
      }
    }
  }

  /// Checkpoints the WAL with each write, once it has grown by `logPagesBeforeCheckpoint` pages since its
  /// last complete checkpoint or its restart, until a checkpoint is complete. SQLite's own rule checkpoints
  /// with each write while the WAL has that many pages (https://sqlite.org/wal.html, section 2.1); but
  /// while others read, a checkpointed WAL keeps growing, and here the writer waits meanwhile.
  ///
  /// The commit is durable, whatever the checkpoint's outcome: the next write tries again, and the periodic
  /// check of the WAL reports errors.
  private func checkpointWhereDue() {
    guard pagesInLog.countSinceWhole >= options.logPagesBeforeCheckpoint else { return }
    let count = pagesInLog.count
    let outcome = try? checkpoint(waiting: Self.checkpointWaitMilliseconds)
    if outcome == .whole { pagesInLog.noteWhole(count) }
  }

  private func withBusyTimeout<Result>(
    _ milliseconds: Int, _ database: Database, _ body: () throws -> Result
  ) throws -> Result {
    guard let connection = database.sqliteConnection else { throw StoreError.closed(path: path) }
    sqlite3_busy_timeout(connection, CInt(clamping: milliseconds))
    defer { sqlite3_busy_timeout(connection, CInt(clamping: options.busyTimeoutMilliseconds)) }
    return try body()
  }
}

/// The number of pages in the WAL after the last commit of a connection.
///
/// The hook replaces SQLite's own, which checkpoints automatically
/// (https://sqlite.org/c3ref/wal_hook.html).
private final class PagesInLog: Sendable {
  private let pages = Atomic<Int>(0)
  /// The number of pages in the WAL when all of them were last in the database.
  private let whole = Atomic<Int>(0)

  var count: Int { pages.load(ordering: .relaxed) }

  /// The number of pages added since all were in the database, or the WAL was restarted.
  var countSinceWhole: Int {
    let (count, whole) = (count, whole.load(ordering: .relaxed))
    return count < whole ? count : count - whole
  }

  /// Records that all of the `count` pages are in the database.
  func noteWhole(_ count: Int) { whole.store(count, ordering: .relaxed) }

  /// Counts the pages of a connection. The connection must be closed before this object is released: the
  /// opener holds the object in its configuration, which it keeps for longer than its connections.
  func follow(_ database: Database) {
    sqlite3_wal_hook(
      database.sqliteConnection,
      { context, _, _, count in
        // `context` is an object that its connection's configuration holds.
        Unmanaged<PagesInLog>.fromOpaque(context!).takeUnretainedValue().pages
          .store(Int(count), ordering: .relaxed)
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }
}
