import GRDB
import GRDBSQLite
import Glibc
import Migrations
import System

/// The database's file: its owner, and how it is opened.
package enum DatabaseFile {
  /// The application id in the file's header (https://sqlite.org/fileformat2.html#application_id): "LkAh".
  package static let applicationID: Int32 = 0x4c6b_4168

  /// Returns a statement that gives a database a new number to identify it (`FileWatch`): the user version,
  /// which means nothing to SQLite (https://sqlite.org/pragma.html#pragma_user_version).
  static func newNumber() -> String {
    "PRAGMA user_version = \(Int32.random(in: 1...Int32.max))"
  }

  /// Options of connections.
  package struct Options: Sendable {
    /// The time to wait for another process's lock.
    package var busyTimeoutMilliseconds: Int
    /// The maximum number of connections that read at once.
    package var readers: Int
    /// The size to which the write-ahead log's file is truncated (`PRAGMA journal_size_limit`).
    package var logLimitBytes: Int
    /// The part of the file that the connection that writes holds in memory (`PRAGMA cache_size`). It
    /// writes pages more than once that one transaction touches beyond that size.
    package var writerCacheBytes: Int
    /// The number of pages from which on each write checkpoints the WAL. A page that many transactions
    /// change is checkpointed once for all of them.
    package var logPagesBeforeCheckpoint: Int

    /// The default of `logLimitBytes`: 64 MiB.
    package static let defaultLogLimitBytes = 64 << 20
    /// The default of `writerCacheBytes`, and of SQLite: 2 MiB.
    package static let defaultWriterCacheBytes = 2 << 20
    /// The default of `logPagesBeforeCheckpoint`, and of SQLite: 4 MiB.
    package static let defaultLogPagesBeforeCheckpoint = 1_000

    /// Creates options; by default five seconds, five readers, and the defaults above.
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

    /// These options for a program that changes much of the file at once: it may use more memory, since it
    /// ends soon.
    package var forMuch: Options {
      var options = self
      options.writerCacheBytes = 48 << 20
      options.logPagesBeforeCheckpoint = 8_000
      return options
    }
  }

  /// Checks that the file is this program's and opens it; creates it if it does not exist.
  ///
  /// Uses WAL, so that readers and the writer do not wait for each other, and `synchronous = FULL`, so that
  /// acknowledged writes survive a power failure (https://sqlite.org/pragma.html#pragma_synchronous).
  static func open(path: String, options: Options) throws -> DatabaseConnections {
    try withStoreErrors(path: path) {
      try checkOwner(path: path)
      return try DatabaseConnections(path: path, options: options)
    }
  }

  /// Opens one more connection, which only reads. The result of `open` must be open.
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

  /// Returns the configuration of every connection of this program. No connection checkpoints
  /// automatically; see `DatabaseConnections`.
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

  /// Refuses a path at which there is no file.
  static func requireExisting(path: String) throws {
    do {
      _ = try FileStatus(path: path)
    } catch {
      if error.code == ENOENT { throw StoreError.missing(path: path) }
      throw StoreError.cannotOpen(path: path, reason: error.reason)
    }
  }

  /// Refuses a file that is not a database, or is another application's, before anything is written.
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
    // Checked before SQLite opens the file: the index would get the file's mode, and keep it when the file
    // gets another.
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

  /// Refuses a file or folder to which this user lacks this access (access(2)).
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
      // A program was killed in the middle of a transaction. No process can read the file until the
      // transaction is undone, and opening the file undoes it (https://sqlite.org/lockingv3.html, section
      // 4.2).
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
  /// Returns the folder of a path, as dirname(3) does: `.` for a name alone.
  ///
  /// Foundation's `deletingLastPathComponent` ends the process at a path of one character. The function
  /// compares bytes instead of characters, since a slash may be followed by a combining accent of the next
  /// name.
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

  /// Returns the path of the file itself if the path is a link to it: SQLite keeps the WAL and its index
  /// beside the file (https://sqlite.org/howtocorrupt.html, section 2.5). A path to nothing is returned
  /// unchanged.
  package static func resolvingLinks(_ path: String) -> String {
    FileSystem.resolvingLinks(path) ?? path
  }
}

extension DatabaseFile.Options {
  /// Settings for the time to wait for others.
  package static let waitNumbers: [SettableNumber<Self>] = [
    .init(
      "busy-timeout-milliseconds", 0...Most.dayMilliseconds, \.busyTimeoutMilliseconds,
      "Time to wait for another process that writes.")
  ]

  /// Settings for the care of the database.
  package static let careNumbers: [SettableNumber<Self>] = [
    .init(
      "wal-limit-bytes", (1 << 20)...Most.tebibyte, \.logLimitBytes,
      "Length of the write-ahead log beyond which it is checkpointed and truncated.")
  ]
}
