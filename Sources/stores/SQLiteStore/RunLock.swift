import Glibc
import System

/// A lock that shows that a run of records is in progress, for exactly as long as its process lives. Other
/// processes check it before they treat the run's ranking as abandoned.
///
/// A run locks the byte of its number in a file beside the database, which exists while runs exist. A load
/// that makes its indexes last (`LateIndexes`) locks byte 0. The file is created and removed under the
/// database's write lock.
final class RunLock: Sendable {
  /// The number of a load; no run has it.
  static let load: Int64 = 0

  private let file: Descriptor

  /// Whether the run of this number is in progress; true if that cannot be determined.
  static func isHeld(run: Int64, path: String) -> Bool {
    do {
      return try Descriptor(file(path)).isLocked(byte(run))
    } catch {
      return error.code != ENOENT
    }
  }

  /// Removes the file unless a load is in progress. No run may exist.
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

  /// Returns the same path in all processes that open the database, through any links.
  private static func file(_ path: String) -> String { DatabaseFile.resolvingLinks(path) + "-runs" }

  private static func byte(_ run: Int64) -> Range<Int> { Int(run)..<Int(run) + 1 }
}

/// A lock that shows that a server reads the media files of a database, for exactly as long as its process
/// lives.
///
/// The lock is on an empty file beside the database. The file is never removed: if it were removed while
/// another server opens it, each server would hold a lock of its own.
final class MediaLock: Sendable {
  private let file: Descriptor

  /// Returns the same path in all processes that open the database, through any links.
  static func path(ofDatabase path: String) -> String {
    (FileSystem.resolvingLinks(path) ?? path) + "-media"
  }

  /// Takes the lock; returns nil if another process holds it.
  ///
  /// - Throws: `SystemError` if the file cannot be created.
  init?(path: String) throws(SystemError) {
    file = try Descriptor(path, [.readingAndWriting, .creating], mode: 0o644)
    guard file.tryLock() else { return nil }
  }
}
