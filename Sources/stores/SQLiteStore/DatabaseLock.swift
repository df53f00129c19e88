import GRDB
import Glibc
import System

/// A lock that keeps all SQLite connections out of a database's files while they are replaced.
///
/// It locks the bytes that SQLite itself locks, whatever the file holds: those of the file
/// (https://sqlite.org/fileformat2.html#the_lock_byte_page), one of which a connection in WAL mode shares
/// for as long as it is open, and the one of the WAL's index that shows that the index is in use
/// (https://sqlite.org/walformat.html, section 2.3.1). So the lock needs no SQLite connection, which a
/// damaged file could not serve.
package final class DatabaseLock {
  private var files: [Descriptor] = []

  /// `PENDING_BYTE`, and the 512 bytes of locks from there on.
  private static let fileLocks = 0x4000_0000..<0x4000_0200
  /// `UNIX_SHM_DMS`: the byte after the eight locks, which begin at 120.
  private static let indexLocks = 120..<129

  /// Locks those files of the database at the path that exist.
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
  /// The suffixes of the files that SQLite keeps beside a database.
  static let companions = ["-wal", "-shm", "-journal"]

  /// Checkpoints the whole WAL and removes the companions, so that the file is self-contained. A file that
  /// SQLite can no longer read stays as it is.
  ///
  /// - Throws: `StoreError.inUse` if a process has it open, and any other error that prevents it.
  package static func fold(path: String) throws {
    do {
      try withStoreErrors(path: path) {
        try checkOwner(path: path)
        let queue = try DatabaseFile.openQueue(path: path)
        defer { try? queue.close() }
        // Requires that no other connection has the database open (https://sqlite.org/wal.html, section
        // 3.2).
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
      }
    } catch StoreError.busy {
      throw StoreError.inUse(path: path)
    } catch StoreError.damaged, StoreError.notADatabase {
      return
    }
  }

  /// Removes the files that SQLite keeps beside a database. The caller holds a `DatabaseLock`, and what the
  /// files hold is checkpointed or of no use.
  ///
  /// - Throws: `SystemError` if a file stays: it would be taken for that of another database at this path.
  package static func removeCompanions(path: String) throws(SystemError) {
    for companion in companions { try FileSystem.requireRemoval(of: path + companion) }
  }
}
