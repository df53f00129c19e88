import SQLiteStore
import System

/// A file in the making, beside its later place: it gets its name when it is whole and on the disk, at
/// once, or not at all.
///
/// It is locked (`flock(2)`) while it is being made, so that two processes that make the same file find each
/// other, and the leftover of a killed process can be told from a live file.
final class PartialFile {
  /// The name under which it is made.
  let path: String
  /// Where it will be.
  let destination: String
  /// Open for reading and writing, and empty at first.
  let file: Descriptor
  private var isDone = false

  /// What is put behind the destination's name.
  static let suffix = ".partial"
  /// The same for a copy that is yet to be compressed.
  static let copySuffix = ".copy.partial"
  static let suffixes = [copySuffix, suffix]
  /// What SQLite may have left beside one that is a database.
  private static let companions = ["-journal", "-wal", "-shm"]

  /// Makes the file, or takes over the one that a killed program left.
  ///
  /// - Throws: `BackupError.isBeingMade`, `SystemError`.
  init(for destination: String, suffix: String = PartialFile.suffix) throws {
    self.destination = destination
    path = destination + suffix
    file = try Self.openLocked(path, for: destination)
    try file.cut(to: 0)
    // What a killed program left would be taken for this file's.
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

  /// Gives the file its name, in place of what had it.
  func finish() throws(SystemError) {
    try file.sync()
    try FileSystem.rename(path, to: destination)
    isDone = true
    try FileSystem.sync(folder: DatabaseFile.folder(of: destination))
  }

  /// Removes it, where it is not finished.
  func discard() {
    guard !isDone else { return }
    isDone = true
    FileSystem.remove(path)
    Self.removeCompanions(of: path)
  }

  /// Removes what a killed program left at this path; `false` if a process is making it.
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
