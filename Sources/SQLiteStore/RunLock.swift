import Glibc

/// Says that a run of records is at work, for as long as its program lives and no longer: others look
/// whether its lock is held before they take its ranking for one that nobody will finish.
///
/// Runs lock the byte of their number in a file beside the database, which is there while runs are. It
/// is made and removed under the database's write lock.
final class RunLock: Sendable {
  private let descriptor: Int32

  /// `F_OFD_GETLK` and `F_OFD_SETLK`: locks of an open file and not of a process (fcntl(2)).
  private static let getLock: Int32 = 36
  private static let setLock: Int32 = 37

  /// Whether the run of this number is at work. Where that cannot be seen, it is taken to be.
  static func isHeld(run: Int64, path: String) -> Bool {
    let descriptor = open(file(path), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return errno != ENOENT }
    defer { close(descriptor) }
    var request = Self.request(run)
    guard fcntl(descriptor, getLock, &request) == 0 else { return true }
    return request.l_type != Int16(F_UNLCK)
  }

  /// Removes the file: only where there is no run.
  static func removeFile(path: String) { unlink(file(path)) }

  /// - Throws: `StoreError.cannotOpen`.
  init(run: Int64, path: String) throws {
    let file = Self.file(path)
    descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw StoreError.cannotOpen(path: file, reason: String(cString: strerror(errno)))
    }
    var request = Self.request(run)
    guard fcntl(descriptor, Self.setLock, &request) == 0 else {
      let reason = String(cString: strerror(errno))
      close(descriptor)
      throw StoreError.cannotOpen(path: file, reason: reason)
    }
  }

  deinit { close(descriptor) }

  /// The same for all who open the database, by whatever links.
  private static func file(_ path: String) -> String { DatabaseFile.resolvingLinks(path) + "-runs" }

  private static func request(_ run: Int64) -> flock {
    var request = flock()
    request.l_type = Int16(F_WRLCK)
    request.l_whence = Int16(SEEK_SET)
    request.l_start = off_t(run)
    request.l_len = 1
    return request
  }
}
