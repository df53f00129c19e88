import Glibc
import SQLiteStore

/// A file in the making, beside where it will be: it comes to bear its name whole, on the disk, and at
/// once, or not at all.
///
/// It is locked (`flock(2)`) while it is being made, so that two who make the same file find each
/// other, and what a killed one left behind is told from what is alive.
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
  /// - Throws: `BackupError.isBeingMade`, `FileError`.
  init(for destination: String, suffix: String = PartialFile.suffix) throws {
    self.destination = destination
    path = destination + suffix
    file = try Self.openLocked(path, for: destination)
    try retrying("write \(path)") { [path] in truncate(path, 0) }
    Self.removeCompanions(of: path)
  }

  deinit { discard() }

  private static func openLocked(_ path: String, for destination: String) throws -> Descriptor {
    while true {
      let file = try Descriptor(path, O_RDWR | O_CREAT | O_NOFOLLOW)
      guard flock(file.number, LOCK_EX | LOCK_NB) == 0 else {
        throw BackupError.isBeingMade(path: destination)
      }
      // Who held the lock until now may have given the file its name.
      let opened = try file.status
      if let named = status(of: path), named.st_ino == opened.st_ino,
        named.st_dev == opened.st_dev
      {
        return file
      }
    }
  }

  /// Gives the file its name, in place of what had it.
  func finish() throws(FileError) {
    try file.sync()
    try retrying("rename \(path) to \(destination)") { rename(path, destination) }
    isDone = true
    try syncFolder(of: destination)
  }

  /// Removes it, where it is not finished.
  func discard() {
    guard !isDone else { return }
    isDone = true
    unlink(path)
    Self.removeCompanions(of: path)
  }

  /// Removes what a killed program left at this path; `false` where somebody is making it.
  @discardableResult
  static func removeStale(_ path: String) -> Bool {
    guard let file = try? Descriptor(path, O_RDWR | O_NOFOLLOW),
      flock(file.number, LOCK_EX | LOCK_NB) == 0
    else { return false }
    unlink(path)
    removeCompanions(of: path)
    return true
  }

  private static func removeCompanions(of path: String) {
    for companion in companions { unlink(path + companion) }
  }
}

/// Waits until the names in the path's folder are on the disk.
func syncFolder(of path: String) throws(FileError) {
  try Descriptor(DatabaseFile.folder(of: path), O_RDONLY | O_DIRECTORY).sync()
}
