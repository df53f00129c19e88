import Glibc
import System

/// Says that a run of records is at work, for as long as its program lives and no longer: other processes
/// check whether its lock is held before they treat its ranking as abandoned.
///
/// A run locks the byte of its number in a file beside the database, which exists while runs exist. A load
/// that makes its indexes last (`LateIndexes`) locks the byte of 0, which no run has. The file is created and removed
/// under the database's write lock.
final class RunLock: Sendable {
  /// No run has this number.
  static let load: Int64 = 0

  private let file: Descriptor

  /// Whether the run of this number is at work. Where that cannot be seen, it is taken to be.
  static func isHeld(run: Int64, path: String) -> Bool {
    do {
      return try Descriptor(file(path)).isLocked(byte(run))
    } catch {
      return error.code != ENOENT
    }
  }

  /// Removes the file, unless there is a load: only where there is no run.
  static func removeFile(path: String) {
    if !isHeld(run: load, path: path) { FileSystem.remove(file(path)) }
  }

  /// - Throws: `StoreError.cannotOpen`.
  init(run: Int64, path: String) throws {
    do throws(SystemError) {
      file = try Descriptor(Self.file(path), [.readingAndWriting, .creating], mode: 0o644)
      try file.lockBytes(Self.byte(run))
    } catch {
      throw StoreError.cannotOpen(path: Self.file(path), reason: error.reason)
    }
  }

  /// The same path for all processes that open the database, by whatever links.
  private static func file(_ path: String) -> String { DatabaseFile.resolvingLinks(path) + "-runs" }

  private static func byte(_ run: Int64) -> Range<Int> { Int(run)..<Int(run) + 1 }
}

/// Says that a server reads the media files of a database, for as long as it lives and no longer.
///
/// It is a lock on an empty file beside the database, which is never removed: removing it while another server
/// opens it would give each server its own lock.
final class MediaLock: Sendable {
  private let file: Descriptor

  /// The same path for all processes that open the database, by whatever links.
  static func path(ofDatabase path: String) -> String {
    (FileSystem.resolvingLinks(path) ?? path) + "-media"
  }

  /// Nil if another process has it.
  ///
  /// - Throws: `SystemError` where the file cannot be made.
  init?(path: String) throws(SystemError) {
    file = try Descriptor(path, [.readingAndWriting, .creating], mode: 0o644)
    guard file.tryLock() else { return nil }
  }
}
