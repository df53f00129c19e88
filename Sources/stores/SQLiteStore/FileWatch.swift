import GRDB
import GRDBSQLite
import Glibc
import Synchronization
import System

/// Checks whether a database's file, its WAL and the WAL's index are still those that were opened: not
/// deleted, not moved, not replaced or overwritten by another, not truncated. Anything written after that
/// is lost at the latest when the program ends, or damages the new file.
///
/// stat(2) says which file a path leads to. The header shows that a file was copied over it
/// (https://sqlite.org/fileformat2.html#the_database_header): each database of ours has a number in the
/// field of the user version, a backup has another number than its source, and the change counter never
/// decreases. The header is read through the connection's own descriptor: to open and close the file once
/// more would release the locks that this process has on it (https://sqlite.org/howtocorrupt.html, section
/// 2.2). `LogCheck` compares the WAL with its index, which says how much of the WAL there must be.
final class FileWatch: Sendable {
  private struct State {
    var database: FileStatus.Number?
    var rights: Rights?
    /// The WAL and its index, as they were opened.
    var companions: [Companion] = []
    /// The database file at the last check.
    var seen: Seen?
    /// The WAL when it was last compared with its index.
    var seenLog: Seen?
    /// The part of the WAL that need not be read again before a checkpoint.
    var wholeLog: LogCheck.Prefix?
    var header: Header?
    var problem: StoreError?
  }

  private struct Companion {
    let path: String
    let number: FileStatus.Number
    let isIndex: Bool
    var rights: Rights
    /// The minimum size of the index, which never shrinks: it stays mapped at the size that it had.
    var leastBytes = 0
  }

  private struct Rights: Equatable {
    let owner: UInt32
    let group: UInt32
    let permissions: UInt32

    init(_ status: FileStatus) {
      (owner, group, permissions) = (status.owner, status.group, status.permissions)
    }
  }

  private struct Seen: Equatable {
    let bytes: Int
    let modified: Moment

    init(_ status: FileStatus) { (bytes, modified) = (status.bytes, status.modified) }
  }

  private let path: String
  /// The file to which the path led, if it is a link.
  private let file: String
  private let state = Mutex(State())
  /// Whether there is a permanent problem.
  private let isReplaced = Atomic<Bool>(false)

  init(path: String, file: String) {
    self.path = path
    self.file = file
  }

  /// The suffix of a WAL whose database is no longer there.
  private static let keptWALSuffix = ".before"

  /// Records the connection's files as those that have to stay.
  func begin(_ database: Database) {
    state.withLock { state in
      let status = try? Self.status(path)
      state.database = status?.number
      state.rights = status.map(Rights.init)
      state.seen = status.map(Seen.init)
      state.companions = ["-wal", "-shm"].compactMap { ending in
        let path = file + ending
        return (try? Self.status(path)).map { status in
          let isIndex = ending == "-shm"
          return Companion(
            path: path, number: status.number, isIndex: isIndex, rights: Rights(status),
            leastBytes: isIndex ? status.bytes : 0)
        }
      }
      state.header = try? Header(database)
    }
  }

  /// Whether there is a permanent problem.
  var isKnownReplaced: Bool { isReplaced.load(ordering: .relaxed) }

  /// - Throws: the permanent problem, if there is one. Cheap enough for every read.
  func requireKnown() throws {
    guard isReplaced.load(ordering: .relaxed) else { return }
    if let problem = state.withLock({ $0.problem }) { throw problem }
  }

  /// Checks the files.
  ///
  /// - Throws: `StoreError.gone`, which ends when the file is there again; `StoreError.replaced`,
  ///   `StoreError.companionGone` and `StoreError.hurt`, which are permanent; `StoreError.cannotOpen` and
  ///   `DatabaseError` if the system does not answer, which may pass.
  func look(_ database: Database) throws { try look(database, isWriting: false) }

  /// The same check before and after a write: the WAL is compared with its index, whatever its times are.
  func lookAtWrite(_ database: Database) throws { try look(database, isWriting: true) }

  private func look(_ database: Database, isWriting: Bool) throws {
    try state.withLock { state in
      if isWriting { state.seenLog = nil }
      if let problem = state.problem { throw problem }
      guard let known = state.database else { return }
      guard let status = try Self.status(path) else { throw StoreError.gone(path: path) }
      if status.number != known {
        throw replaced(&state)
      }
      if Rights(status) != state.rights { try requireRights(path, database) }
      try lookAtCompanions(&state, database)
      // No process has written to it.
      if Seen(status) == state.seen { return }
      guard let header = state.header else { return }
      // Read twice, since a checkpoint may be writing it.
      guard let now = try header.successor(database) ?? header.successor(database) else {
        throw replaced(&state, isSameFile: true)
      }
      state.header = now
      // A checkpoint that shrinks the file has said so in its header before. One that extends it may be in
      // progress if the write lock is not held.
      if let seen = state.seen, status.bytes < seen.bytes, status.bytes < now.bytes {
        let problem = StoreError.hurt(path: path)
        throw database.isInsideTransaction ? stays(problem, &state) : problem
      }
      state.seen = Seen(status)
    }
  }

  private func lookAtCompanions(_ state: inout State, _ database: Database) throws {
    for index in state.companions.indices {
      let companion = state.companions[index]
      guard let status = try Self.status(companion.path), status.number == companion.number else {
        throw stays(.companionGone(path: companion.path), &state)
      }
      if Rights(status) != companion.rights { try requireRights(companion.path, database) }
      if status.bytes < companion.leastBytes { throw stays(.hurt(path: companion.path), &state) }
      if companion.isIndex {
        state.companions[index].leastBytes = status.bytes
      } else if Seen(status) != state.seenLog {
        state.seenLog = nil
      }
    }
    guard let check = LogCheck(database) else { return }
    if try check.isIndexCutOff() { throw stays(.hurt(path: file + "-shm"), &state) }
    guard state.seenLog == nil, let log = state.companions.first(where: { !$0.isIndex }),
      let status = try Self.status(log.path)
    else { return }
    guard try check.isPlausible() else { throw stays(.hurt(path: log.path), &state) }
    state.seenLog = Seen(status)
  }

  /// Throws if the program may no longer use a file. Open descriptors still work, but an operator who
  /// removes a right means it: writes end when the right to write is removed.
  private func requireRights(_ file: String, _ database: Database) throws {
    let isWriting = database.isInsideTransaction
    do throws(SystemError) {
      try FileSystem.require(isWriting ? [.reading, .writing] : .reading, file)
    } catch {
      throw isWriting
        ? StoreError.readOnly(path: path)
        : StoreError.cannotOpen(path: file, reason: error.reason)
    }
  }

  /// Checks the files, and reads the WAL before a checkpoint.
  ///
  /// - Parameter isLast: whether to read all of the WAL, not only what was added since the last time.
  /// - Throws: the errors of `look`.
  func lookAtWholeLog(_ database: Database, isLast: Bool = false) throws {
    try look(database)
    try state.withLock { state in
      guard let log = state.companions.first(where: { !$0.isIndex }),
        let check = LogCheck(database)
      else { return }
      if isLast { state.wholeLog = nil }
      guard try check.isWhole(beyond: &state.wholeLog) else {
        throw stays(.hurt(path: log.path), &state)
      }
    }
  }

  private func replaced(_ state: inout State, isSameFile: Bool = false) -> StoreError {
    // If the path is a link that now leads elsewhere, the database and its WAL stay where they are.
    let isThere = !isSameFile && (try? Self.status(file))?.number == state.database
    let keptWAL = isThere ? nil : keepLog(&state)
    return stays(.replaced(path: path, keptWAL: keptWAL), &state)
  }

  private func stays(_ problem: StoreError, _ state: inout State) -> StoreError {
    state.problem = problem
    isReplaced.store(true, ordering: .relaxed)
    return problem
  }

  /// Moves the WAL aside. It belongs to the old database: a process that opens the new one would checkpoint
  /// it into that.
  private func keepLog(_ state: inout State) -> String? {
    let log = file + "-wal"
    guard let known = state.companions.first(where: { $0.path == log })?.number,
      (try? Self.status(log))?.number == known
    else { return nil }
    // The index describes that WAL, and no process may join those that have it open.
    FileSystem.remove(file + "-shm")
    let kept = log + Self.keptWALSuffix
    return (try? FileSystem.rename(log, to: kept)) == nil ? nil : kept
  }

  /// Returns nil if there is no file. A disk that does not answer, or a folder that may not be entered, is
  /// an error, which may pass.
  private static func status(_ path: String) throws -> FileStatus? {
    do throws(SystemError) {
      return try FileStatus(path: path)
    } catch {
      if error.code == ENOENT || error.code == ENOTDIR { return nil }
      throw StoreError.cannotOpen(path: path, reason: error.reason)
    }
  }
}

/// The fields of a database's header that distinguish it from others. A field is 0 while only the WAL has
/// it.
private struct Header: Equatable {
  let changes: UInt32
  let number: UInt32
  let application: UInt32
  /// The size of the file once all pages are in it.
  let bytes: Int

  private static let byteCount = 100
  private static let magic = Array("SQLite format 3\u{0}".utf8)

  /// Reads the header of the file on the disk; nil if it is not one of SQLite's.
  ///
  /// - Throws: `DatabaseError` if it cannot be read.
  init?(_ database: Database) throws {
    var file: UnsafeMutablePointer<sqlite3_file>?
    // A closed connection has no file.
    guard let connection = database.sqliteConnection,
      sqlite3_file_control(
        connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
      let file, file.pointee.pMethods != nil,
      let header = try LogCheck.read(file, Self.byteCount, at: 0), header.starts(with: Self.magic)
    else { return nil }
    func field(_ start: Int) -> UInt32 {
      header[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
    // 1 stands for 65 536, which does not fit.
    let pageBytes = Int(field(16) >> 16)
    bytes = Int(field(28)) * (pageBytes == 1 ? 65_536 : pageBytes)
    changes = field(24)
    number = field(60)
    application = field(68)
  }

  /// Returns the current header; nil if it is another database's.
  ///
  /// - Throws: `DatabaseError` if it cannot be read.
  func successor(_ database: Database) throws -> Header? {
    guard let next = try Header(database), next.changes >= changes,
      number == 0 || next.number == number,
      application == 0 || next.application == application
    else { return nil }
    return next
  }
}

/// The rule by which a process with many changes shares the file with other writers.
///
/// A process that waits for SQLite's lock polls it only now and then
/// (https://sqlite.org/c3ref/busy_timeout.html). While another process writes, transactions are short and
/// the lock is free for three quarters of the time, so that a waiting process gets it at the second poll.
/// Otherwise it is free for a fifth of the time: a process that comes then waits for some polls, once.
struct OtherWriters {
  /// The file's data version, which another connection's writes change.
  private var version: Int64?
  private var seen: ContinuousClock.Instant?
  private var isBusy = false

  private static let rememberedSeconds = 1

  /// Checks, at the start of a transaction, whether another process has written since the last one.
  mutating func look(_ database: Database, now: ContinuousClock.Instant) throws {
    let version = try Int64.fetchOne(database.cachedStatement(sql: "PRAGMA data_version"))
    if self.version != nil, version != self.version { seen = now }
    self.version = version
    isBusy = seen.map { now - $0 < .seconds(Self.rememberedSeconds) } ?? false
  }

  /// The time after which a transaction begins nothing more.
  var longestTransaction: Duration { .milliseconds(isBusy ? 10 : 50) }

  /// Returns the time to leave to others after a transaction.
  func pause(after taken: Duration) -> Duration { isBusy ? taken * 3 : taken / 4 }
}
