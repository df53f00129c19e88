import GRDB
import Glibc
import System

/// Returns a database's unused pages to the disk (https://sqlite.org/lang_vacuum.html).
///
/// Readers continue meanwhile, each with its snapshot. Writers wait, and those that wait for longer than
/// their busy timeout are refused. The numbers of posts and entries do not change, so a running server does
/// not notice.
package struct Vacuum {
  /// The room on the disk, and the room that a vacuum needs.
  package struct Room: Sendable {
    /// The current size of the file.
    package let fileBytes: Int
    /// The size of the pages in use: about the size of the file afterwards.
    package let usedBytes: Int
    /// The free bytes on the disk for users other than root.
    package let freeBytes: Int

    /// The bytes that a vacuum needs. The new content is written twice before the old one is removed: to a
    /// temporary file, and to the write-ahead log; and a little more, since pages are laid out again.
    package var neededBytes: Int { usedBytes * 2 + usedBytes / 10 + (1 << 20) }
  }

  /// The error of a vacuum that lacks room.
  package struct NoRoom: Error, Sendable {
    /// The room on the disk, and the room that is needed.
    package let room: Room
  }

  private let path: String
  private let options: DatabaseFile.Options

  /// Creates a vacuum of the database at the path. Temporary files lie beside it from here on, not on
  /// another disk that may be smaller; so this must be called before any database is opened.
  package init(path: String, options: DatabaseFile.Options = DatabaseFile.Options()) {
    self.path = path
    self.options = options
    setenv("SQLITE_TMPDIR", DatabaseFile.folder(of: path), 1)
  }

  /// Returns the room on the disk, and the room that a vacuum needs.
  ///
  /// - Throws: `StoreError`.
  package func room() throws -> Room {
    try DatabaseFile.requireExisting(path: path)
    let connections = try DatabaseFile.open(path: path, options: options)
    return try withStoreErrors(path: path) {
      try connections.read { database in
        func number(_ pragma: String) throws -> Int {
          try Int.fetchOne(database, sql: "PRAGMA \(pragma)") ?? 0
        }
        let (page, pages) = (try number("page_size"), try number("page_count"))
        let unused = try number("freelist_count")
        return Room(
          fileBytes: page * pages, usedBytes: page * (pages - unused),
          freeBytes: try Self.freeBytes(beside: path))
      }
    }
  }

  /// Runs the vacuum.
  ///
  /// - Returns: the size of the file afterwards.
  /// - Throws: `NoRoom`, `StoreError`.
  package func run() throws -> Int {
    let room = try room()
    guard room.freeBytes >= room.neededBytes else { throw NoRoom(room: room) }
    let connections = try DatabaseFile.open(path: path, options: options)
    try withStoreErrors(path: path) {
      try connections.vacuum()
      // Readers may prevent the checkpoint now; then a later one succeeds.
      _ = try connections.cutLog(waiting: options.busyTimeoutMilliseconds)
      try connections.close()
    }
    return try self.room().fileBytes
  }

  private static func freeBytes(beside path: String) throws -> Int {
    do throws(SystemError) {
      // Asks the folder: to open and close the database would release this process's locks on it.
      return try Descriptor(DatabaseFile.folder(of: path), .folder).freeBytes
    } catch {
      throw StoreError.cannotOpen(path: path, reason: error.reason)
    }
  }
}
