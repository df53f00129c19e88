import SQLiteStore
import System

/// A file in the making, beside its destination. It gets its name when it is complete and on the disk, at
/// once or not at all.
///
/// It is locked (`flock(2)`) while it is being made, so that two processes that make the same file detect
/// each other, and the leftover of a killed process can be told from a live file.
final class PartialFile {
  /// The path while the file is being made.
  let path: String
  /// The final path.
  let destination: String
  /// Open for reading and writing, and empty at first.
  let file: Descriptor
  private var isDone = false

  /// The suffix of the destination's name.
  static let suffix = ".partial"
  /// The suffix of a copy that is yet to be compressed.
  static let copySuffix = ".copy.partial"
  static let suffixes = [copySuffix, suffix]
  /// The suffixes of the files that SQLite may have left beside a database.
  private static let companions = ["-journal", "-wal", "-shm"]

  /// Creates the file, or takes over the one that a killed program left.
  ///
  /// - Throws: `BackupError.isBeingMade`, `SystemError`.
  init(for destination: String, suffix: String = PartialFile.suffix) throws {
    self.destination = destination
    path = destination + suffix
    file = try Self.openLocked(path, for: destination)
    try file.cut(to: 0)
    // The leftovers of a killed program would be taken for this file's.
    for companion in Self.companions { try FileSystem.requireRemoval(of: path + companion) }
  }

  deinit { discard() }

  private static func openLocked(_ path: String, for destination: String) throws -> Descriptor {
    while true {
      let file = try Descriptor(path, [.readingAndWriting, .creating, .notThroughLink])
      guard file.tryLock() else {
        throw BackupError.isBeingMade(path: destination)
      }
      // The previous holder of the lock may have given the file its name.
      let opened = try file.status.number
      if let named = try? FileStatus(path: path).number, named == opened { return file }
    }
  }

  /// Gives the file its name, in place of any file that had it.
  func finish() throws(SystemError) {
    try file.sync()
    try FileSystem.rename(path, to: destination)
    isDone = true
    try FileSystem.sync(folder: DatabaseFile.folder(of: destination))
  }

  /// Removes the file unless it is finished.
  func discard() {
    guard !isDone else { return }
    isDone = true
    FileSystem.remove(path)
    Self.removeCompanions(of: path)
  }

  /// Removes what a killed program left at this path; `false` if a process is making the file.
  @discardableResult
  static func removeStale(_ path: String) -> Bool {
    guard let file = try? Descriptor(path, [.readingAndWriting, .notThroughLink]), file.tryLock()
    else { return false }
    FileSystem.remove(path)
    removeCompanions(of: path)
    return true
  }

  private static func removeCompanions(of path: String) {
    for companion in companions { FileSystem.remove(path + companion) }
  }
}
