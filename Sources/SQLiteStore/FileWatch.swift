import GRDB
import GRDBSQLite
import Synchronization
import System

/// Sees whether a database's file is still the one that was opened, and its WAL and the WAL's index are:
/// not deleted, not moved, not another one in their place or copied over them. What is written then is gone
/// at the latest when the program ends, or damages what was put there.
///
/// Which file a path leads to, stat(2) says. What was copied over it is told by its header
/// (https://sqlite.org/fileformat2.html#the_database_header): each database of ours has a number in the
/// field of the user version, a backup another than what it is a copy of, and the counter of changes
/// never falls. The header is read by the connection's own descriptor: to open and close the file once
/// more would give up the locks that this process has on it (https://sqlite.org/howtocorrupt.html,
/// section 2.2).
final class FileWatch: Sendable {
  private struct State {
    var database: FileStatus.Number?
    /// The WAL and its index, as they were opened.
    var companions: [(path: String, number: FileStatus.Number)] = []
    var modified: Moment?
    var header: Header?
    var problem: StoreError?
  }

  private let path: String
  /// Where the path led to, if it is a link.
  private let file: String
  private let state = Mutex(State())
  /// The same as whether there is a problem that stays.
  private let isReplaced = Atomic<Bool>(false)

  init(path: String, file: String) {
    self.path = path
    self.file = file
  }

  /// What is put behind the name of a WAL whose database is no longer there.
  private static let keptWALSuffix = ".before"

  /// Takes the file as the connection has it for the one that has to stay.
  func begin(_ database: Database) {
    state.withLock { state in
      let status = Self.status(path)
      state.database = status?.number
      state.modified = status?.modified
      state.companions = ["-wal", "-shm"].compactMap { companion in
        let path = file + companion
        return Self.status(path).map { (path, $0.number) }
      }
      state.header = Header(database)
    }
  }

  /// - Throws: what was noticed before and stays: cheap enough for every read.
  func requireKnown() throws {
    guard isReplaced.load(ordering: .relaxed) else { return }
    if let problem = state.withLock({ $0.problem }) { throw problem }
  }

  /// Looks.
  ///
  /// - Throws: `StoreError.gone`, which ends when the file is there again, and `StoreError.replaced` and
  ///   `StoreError.companionGone`, which stay.
  func look(_ database: Database) throws {
    try state.withLock { state in
      if let problem = state.problem { throw problem }
      guard let known = state.database else { return }
      guard let status = Self.status(path) else { throw StoreError.gone(path: path) }
      if status.number != known {
        throw replaced(&state)
      }
      for (path, number) in state.companions
      where Self.status(path)?.number != number {
        throw stays(StoreError.companionGone(path: path), &state)
      }
      // Nobody has written to it.
      if status.modified == state.modified { return }
      guard let header = state.header else { return }
      // Once more where a checkpoint may have been writing it.
      guard let now = header.successor(database) ?? header.successor(database) else {
        throw replaced(&state, isSameFile: true)
      }
      state.header = now
      state.modified = status.modified
    }
  }

  private func replaced(_ state: inout State, isSameFile: Bool = false) -> StoreError {
    // A link that leads elsewhere now leaves the database with its WAL where both are.
    let isThere = !isSameFile && Self.status(file)?.number == state.database
    let keptWAL = isThere ? nil : keepLog(&state)
    return stays(.replaced(path: path, keptWAL: keptWAL), &state)
  }

  private func stays(_ problem: StoreError, _ state: inout State) -> StoreError {
    state.problem = problem
    isReplaced.store(true, ordering: .relaxed)
    return problem
  }

  /// The WAL that is there belongs to the database that was: whoever opens the new one would bring it
  /// into that.
  private func keepLog(_ state: inout State) -> String? {
    let log = file + "-wal"
    guard let known = state.companions.first(where: { $0.path == log })?.number,
      Self.status(log)?.number == known
    else { return nil }
    // It tells what is in that WAL, and nobody is to join those who have it open.
    FileSystem.remove(file + "-shm")
    let kept = log + Self.keptWALSuffix
    return (try? FileSystem.rename(log, to: kept)) == nil ? nil : kept
  }

  private static func status(_ path: String) -> FileStatus? { try? FileStatus(path: path) }
}

/// What of a database's header tells it from others. A field is 0 as long as only the WAL has it.
private struct Header: Equatable {
  let changes: UInt32
  let number: UInt32
  let application: UInt32

  private static let byteCount = 100
  private static let magic = Array("SQLite format 3\u{0}".utf8)

  /// The header of the file as it lies on the disk; nil where that is not one of SQLite's.
  init?(_ database: Database) {
    var file: UnsafeMutablePointer<sqlite3_file>?
    var bytes = [UInt8](repeating: 0, count: Self.byteCount)
    // A connection that was closed has none.
    guard let connection = database.sqliteConnection,
      sqlite3_file_control(
        connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
      let file, let read = file.pointee.pMethods?.pointee.xRead,
      read(file, &bytes, CInt(bytes.count), 0) == SQLITE_OK, bytes.starts(with: Self.magic)
    else { return nil }
    func field(_ start: Int) -> UInt32 {
      bytes[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
    changes = field(24)
    number = field(60)
    application = field(68)
  }

  /// The header as it is now; nil where it is another database's.
  func successor(_ database: Database) -> Header? {
    guard let next = Header(database), next.changes >= changes,
      number == 0 || next.number == number,
      application == 0 || next.application == application
    else { return nil }
    return next
  }
}
