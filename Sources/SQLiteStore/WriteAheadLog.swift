import GRDB
import Glibc
import Synchronization

/// Keeps a database's write-ahead log from growing for ever.
///
/// Theory of operation (https://sqlite.org/wal.html, section 2.2). The writer brings the log into the
/// database whenever it has a thousand pages, and then begins it anew, which it can only do at a
/// moment in which nobody reads from it. Under steady load such moments may be rare, and the log's
/// file never shrinks by itself. So somebody looks at it now and then: a log that is larger than its
/// limit, or that nobody has written to since the last look, is brought into the database and cut to
/// nothing. First without being in anybody's way; then, for the little that is left, with the writer
/// and the readers waiting for a moment, of which there is a limit, too.
///
/// A reader that goes on and on (an export into a pipe that nobody reads) holds the log for as long:
/// nothing but its end helps, and whoever looks is told.
public final class WriteAheadLog: Sendable {
  /// What a look came to.
  public enum Outcome: Sendable, Equatable {
    /// There was nothing to do.
    case small
    /// The log was brought into the database and cut.
    case cut
    /// Somebody reads from it, or writes, and did not end in time.
    case held(bytes: Int)
  }

  private let path: String
  private let limitBytes: Int
  private let last = Mutex<stat?>(nil)

  /// How long writers may be kept waiting for the readers' end.
  private static let waitSeconds = 0.1

  /// The log of the database at the path.
  public init(path: String, limitBytes: Int) {
    self.path = path
    self.limitBytes = limitBytes
  }

  /// Looks at the log, and brings it in where that is due.
  ///
  /// - Throws: `StoreError`.
  public func look() throws -> Outcome {
    var status = stat()
    guard stat(path + "-wal", &status) == 0, status.st_size > 0 else { return .small }
    let isIdle = last.withLock { last in
      defer { last = status }
      return last.map { $0.st_mtim == status.st_mtim && $0.st_size == status.st_size } ?? false
    }
    guard isIdle || Int(status.st_size) > limitBytes else { return .small }
    return try cut() ? .cut : .held(bytes: Int(status.st_size))
  }

  private func cut() throws -> Bool {
    try withStoreErrors(path: path) {
      var configuration = Configuration()
      configuration.busyMode = .timeout(Self.waitSeconds)
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      defer { try? queue.close() }
      do {
        try queue.writeWithoutTransaction { database in
          try database.checkpoint(.passive)
          try database.checkpoint(.truncate)
        }
        return true
      } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
        return false
      }
    }
  }
}

extension timespec {
  fileprivate static func == (left: timespec, right: timespec) -> Bool {
    left.tv_sec == right.tv_sec && left.tv_nsec == right.tv_nsec
  }
}
