import GRDB
import Glibc
import System

/// Keeps every SQLite connection out of a database's files while they are replaced.
///
/// It locks the bytes that SQLite itself locks, whatever the file holds: those of the file
/// (https://sqlite.org/fileformat2.html#the_lock_byte_page), of which a connection in WAL mode shares
/// one for as long as it is open, and the one of the WAL's index that says somebody uses it
/// (https://sqlite.org/walformat.html, section 2.3.1). So the lock needs no SQLite connection, which a
/// damaged file could not serve.
package final class DatabaseLock {
  private var files: [Descriptor] = []

  /// `PENDING_BYTE`, and the 512 bytes of locks from there on.
  private static let fileLocks = 0x4000_0000..<0x4000_0200
  /// `UNIX_SHM_DMS`: the byte behind the eight locks, which begin at 120.
  private static let indexLocks = 120..<129

  /// Locks what there is of the database at the path.
  ///
  /// - Throws: `StoreError.inUse` if a process has it open, `StoreError.cannotOpen`.
  package init(path: String) throws {
    try lock(path, Self.fileLocks, database: path)
    try lock(path + "-shm", Self.indexLocks, database: path)
  }

  private func lock(_ path: String, _ bytes: Range<Int>, database: String) throws {
    let file: Descriptor
    do throws(SystemError) {
      file = try Descriptor(path, .readingAndWriting)
    } catch {
      if error.code == ENOENT { return }
      throw StoreError.cannotOpen(path: path, reason: error.reason)
    }
    guard (try? file.lockBytes(bytes)) != nil else { throw StoreError.inUse(path: database) }
    files.append(file)
  }
}

extension DatabaseFile {
  /// The names of what SQLite keeps beside a database.
  static let companions = ["-wal", "-shm", "-journal"]

  /// Brings all that the WAL holds into the file and leaves it without companions, so that it stands
  /// for itself. A file that SQLite cannot read any more stays as it is.
  ///
  /// - Throws: `StoreError.inUse` if a process has it open, and what else keeps it from being done.
  package static func fold(path: String) throws {
    do {
      try withStoreErrors(path: path) {
        try checkOwner(path: path)
        let queue = try DatabaseFile.openQueue(path: path)
        defer { try? queue.close() }
        // Needs the database alone (https://sqlite.org/wal.html, section 3.2).
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
      }
    } catch StoreError.busy {
      throw StoreError.inUse(path: path)
    } catch StoreError.damaged, StoreError.notADatabase {
      return
    }
  }

  /// Removes what SQLite keeps beside a database: only while a `DatabaseLock` is held, and once what
  /// they hold is folded or of no use.
  ///
  /// - Throws: `SystemError` where one stays: it would be taken for that of another database at this path.
  package static func removeCompanions(path: String) throws(SystemError) {
    for companion in companions { try FileSystem.requireRemoval(of: path + companion) }
  }
}
