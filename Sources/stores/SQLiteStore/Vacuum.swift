import GRDB
import Glibc
import System

/// Gives a database's unused pages back to the disk (https://sqlite.org/lang_vacuum.html).
///
/// Readers go on meanwhile, each with its snapshot; writers wait, and those that wait for longer than
/// their busy time-out are refused. The numbers of posts and entries stay what they are, so that a
/// running server does not notice.
package struct Vacuum {
  /// How much room there is, and how much is needed.
  package struct Room: Sendable {
    /// What the file has now.
    package let fileBytes: Int
    /// What of it is in use: about what it will have.
    package let usedBytes: Int
    /// The free bytes on the disk for users other than root.
    package let freeBytes: Int

    /// The new content is written twice before the old one is removed: to a temporary file, and to the
    /// write-ahead log; and a little more, since pages are laid out again.
    package var neededBytes: Int { usedBytes * 2 + usedBytes / 10 + (1 << 20) }
  }

  /// Why it is not done.
  package struct NoRoom: Error, Sendable {
    /// How much there is and how much is needed.
    package let room: Room
  }

  private let path: String
  private let options: DatabaseFile.Options

  /// A vacuum of the database at the path. Temporary files lie beside it from here on, and not where
  /// the disk may be smaller: to be called before any database is opened.
  package init(path: String, options: DatabaseFile.Options = DatabaseFile.Options()) {
    self.path = path
    self.options = options
    setenv("SQLITE_TMPDIR", DatabaseFile.folder(of: path), 1)
  }

  /// How much room there is, and how much is needed.
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

  /// Does it.
  ///
  /// - Returns: what the file has then.
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
      // Of the folder: to open and close the database would give up this process's locks on it.
      return try Descriptor(DatabaseFile.folder(of: path), .folder).freeBytes
    } catch {
      throw StoreError.cannotOpen(path: path, reason: error.reason)
    }
  }
}
