import GRDB
import GRDBSQLite
import Glibc
import Migrations
import System

/// The database's file: whose it is, how it is opened.
package enum DatabaseFile {
  /// Stands in the file's header (https://sqlite.org/fileformat2.html#application_id): "LkAh".
  package static let applicationID: Int32 = 0x4c6b_4168

  /// Returns a new number that identifies a database (`FileWatch`): the user version, which means nothing
  /// to SQLite (https://sqlite.org/pragma.html#pragma_user_version).
  static func newNumber() -> String {
    "PRAGMA user_version = \(Int32.random(in: 1...Int32.max))"
  }

  /// How connections are set up.
  package struct Options: Sendable {
    /// How long to wait for another process's lock.
    package var busyTimeoutMilliseconds: Int
    /// How many connections may read at once.
    package var readers: Int
    /// How large the write-ahead log's file may stay (`PRAGMA journal_size_limit`).
    package var logLimitBytes: Int
    /// How much of the file the connection that writes holds in memory (`PRAGMA cache_size`). What it
    /// touches beyond that within one transaction, it writes more than once.
    package var writerCacheBytes: Int
    /// From how many pages on the WAL is brought into the database with each write. A page that many
    /// transactions change is brought in once for all of them.
    package var logPagesBeforeCheckpoint: Int

    /// The default of `logLimitBytes`: 64 MiB.
    package static let defaultLogLimitBytes = 64 << 20
    /// The default of `writerCacheBytes`, and of SQLite: 2 MiB.
    package static let defaultWriterCacheBytes = 2 << 20
    /// The default of `logPagesBeforeCheckpoint`, and of SQLite: 4 MiB.
    package static let defaultLogPagesBeforeCheckpoint = 1_000

    /// Options; by default five seconds, five readers, and the defaults above.
    package init(
      busyTimeoutMilliseconds: Int = 5_000, readers: Int = 5,
      logLimitBytes: Int = Options.defaultLogLimitBytes,
      writerCacheBytes: Int = Options.defaultWriterCacheBytes,
      logPagesBeforeCheckpoint: Int = Options.defaultLogPagesBeforeCheckpoint
    ) {
      self.busyTimeoutMilliseconds = busyTimeoutMilliseconds
      self.readers = readers
      self.logLimitBytes = logLimitBytes
      self.writerCacheBytes = writerCacheBytes
      self.logPagesBeforeCheckpoint = logPagesBeforeCheckpoint
    }

    /// These options for a program that changes much of the file in one go: it has memory for that, and
    /// ends soon.
    package var forMuch: Options {
      var options = self
      options.writerCacheBytes = 48 << 20
      options.logPagesBeforeCheckpoint = 8_000
      return options
    }
  }

  /// Checks that the file is ours and opens it; creates it if it does not exist.
  ///
  /// WAL, so that readers and the writer do not wait for each other; `synchronous = FULL`, so that
  /// what was answered survives a power cut (https://sqlite.org/pragma.html#pragma_synchronous).
  static func open(path: String, options: Options) throws -> DatabaseConnections {
    try withStoreErrors(path: path) {
      try checkOwner(path: path)
      return try DatabaseConnections(path: path, options: options)
    }
  }

  /// Opens the database once more, for reading alone. What `open` made must be open.
  static func openForReading(path: String, options: Options) throws -> ReadConnection {
    try ReadConnection(path: path, configuration: configuration(options))
  }

  /// Opens the database with one connection, which reads or writes.
  static func openQueue(
    path: String, options: Options = Options(), isReadOnly: Bool = false
  ) throws -> DatabaseQueue {
    var configuration = configuration(options)
    configuration.readonly = isReadOnly
    return try DatabaseQueue(path: path, configuration: configuration)
  }

  /// The configuration of every connection of this program: no connection checkpoints automatically, see
  /// `DatabaseConnections`.
  static func configuration(_ options: Options) -> Configuration {
    FullDisk.isTold
    var configuration = Configuration()
    configuration.busyMode = .timeout(Double(options.busyTimeoutMilliseconds) / 1000)
    configuration.maximumReaderCount = options.readers
    configuration.prepareDatabase { database in
      sqlite3_wal_autocheckpoint(database.sqliteConnection, 0)
    }
    return configuration
  }

  /// Refuses a path at which there is nothing.
  static func requireExisting(path: String) throws {
    do {
      _ = try FileStatus(path: path)
    } catch {
      if error.code == ENOENT { throw StoreError.missing(path: path) }
      throw StoreError.cannotOpen(path: path, reason: error.reason)
    }
  }

  /// Refuses what is not a database, or is one of another application, before anything is written.
  static func checkOwner(path: String) throws {
    let folder = Self.folder(of: path)
    guard let status = try? FileStatus(path: path) else {
      guard (try? FileStatus(path: folder)) != nil else {
        throw StoreError.cannotOpen(path: path, reason: "there is no folder \(folder)")
      }
      try requireAccess(folder, [.writing, .entering], database: path)
      return
    }
    guard !status.isFolder else {
      throw StoreError.cannotOpen(path: path, reason: "it is a folder")
    }
    // Even a process that only reads writes the WAL and the index beside it.
    try requireAccess(folder, [.writing, .entering], database: path)
    // Before SQLite opens it: the index would get the file's mode, and would have it still when the
    // file has another.
    try requireAccess(path, [.reading, .writing], database: path)
    for companion in companions where (try? FileStatus(path: path + companion)) != nil {
      try requireAccess(path + companion, [.reading, .writing], database: path)
    }
    guard status.bytes > 0 else { return }
    let (applicationID, isEmpty) = try owner(path: path)
    guard applicationID == Self.applicationID || (applicationID == 0 && isEmpty) else {
      throw StoreError.foreign(path: path, applicationID: applicationID)
    }
  }

  /// Refuses a file or folder that this user may not use in this way (access(2)).
  private static func requireAccess(
    _ file: String, _ permission: FileSystem.Permission, database: String
  ) throws {
    do throws(SystemError) {
      try FileSystem.require(permission, file)
    } catch {
      if error.code == EROFS { throw StoreError.readOnly(path: database) }
      guard error.code == EACCES, let owner = try? FileStatus(path: file).owner,
        owner != User.number
      else { throw StoreError.cannotOpen(path: file, reason: error.reason) }
      throw StoreError.notPermitted(path: file, owner: owner, user: User.number)
    }
  }

  private static func owner(path: String) throws -> (applicationID: Int32, isEmpty: Bool) {
    do {
      return try owner(path: path, isReadOnly: true)
    } catch let error as DatabaseError
      where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK
      || error.extendedResultCode == .SQLITE_READONLY_RECOVERY
    {
      // A program was killed in the middle of a transaction. Nothing can read the file until that is undone,
      // and opening the file does so (https://sqlite.org/lockingv3.html, section 4.2).
      return try owner(path: path, isReadOnly: false)
    }
  }

  private static func owner(
    path: String, isReadOnly: Bool
  ) throws -> (applicationID: Int32, isEmpty: Bool) {
    try openQueue(path: path, isReadOnly: isReadOnly).read { database in
      let id = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
      let objects = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") ?? 0
      return (id, objects == 0)
    }
  }
}

extension DatabaseFile {
  /// The folder in which a path lies, as dirname(3) has it: `.` for a name alone.
  ///
  /// Foundation's `deletingLastPathComponent` ends the process at a path of one character. Bytes are
  /// looked at and not characters: a slash may have an accent of the next name upon it.
  package static func folder(of path: String) -> String {
    let slash = UInt8(ascii: "/")
    var bytes = Array(path.utf8)[...]
    func drop(while condition: (UInt8) -> Bool) {
      while let last = bytes.last, condition(last) { bytes.removeLast() }
    }
    drop { $0 == slash }
    drop { $0 != slash }
    drop { $0 == slash }
    if !bytes.isEmpty { return String(decoding: bytes, as: UTF8.self) }
    return path.utf8.first == slash ? "/" : "."
  }

  /// The path of the file itself where the path is a link to it: SQLite keeps the WAL and its index
  /// beside that (https://sqlite.org/howtocorrupt.html, section 2.5). A path to nothing stays as it is.
  package static func resolvingLinks(_ path: String) -> String {
    FileSystem.resolvingLinks(path) ?? path
  }
}

extension DatabaseFile.Options {
  /// What an operator can set: how long it waits for others.
  package static let waitNumbers: [SettableNumber<Self>] = [
    .init(
      "busy-timeout-milliseconds", 0...Most.dayMilliseconds, \.busyTimeoutMilliseconds,
      "Time to wait for another process that writes.")
  ]

  /// What an operator can set: care of the database.
  package static let careNumbers: [SettableNumber<Self>] = [
    .init(
      "wal-limit-bytes", (1 << 20)...Most.tebibyte, \.logLimitBytes,
      "Length of the write-ahead log beyond which it is checkpointed and truncated.")
  ]
}
