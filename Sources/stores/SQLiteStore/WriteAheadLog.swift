import GRDB
import Synchronization
import System

/// Keeps a store's write-ahead log from growing without limit.
///
/// Theory of operation (https://sqlite.org/wal.html, section 2.2). Writers checkpoint the WAL into the
/// database from a thousand pages on (`DatabaseConnections`), and the next write restarts it, which is
/// possible only at a moment when no connection reads from it. Under steady load such moments may be rare,
/// and the WAL's file never shrinks on its own. So a thread checks it periodically: a WAL that is larger
/// than its limit, or that was not written since the last check, is checkpointed into the database and
/// truncated to a page, if no connection writes or reads at that moment.
///
/// An endless reader (an export into a pipe that no process reads) holds the WAL for as long as it runs:
/// only its end helps, and the outcome `held` reports it to the caller of the check.
package final class WriteAheadLog: Sendable {
  /// The outcome of a check.
  package enum Outcome: Sendable, Equatable {
    /// There was nothing to do.
    case small
    /// The WAL was checkpointed and truncated.
    case cut
    /// Another connection reads from it or writes, and did not end in time.
    case held(bytes: Int)
  }

  private let connections: DatabaseConnections
  private let limitBytes: Int
  private let last = Mutex<FileStatus?>(nil)

  /// The time to wait for other processes that write.
  private static let waitMilliseconds = 100
  /// The size up to which a WAL is not worth truncating: a truncated one has a page and its header.
  static let smallBytes = 1 << 17

  /// Creates a check of the WAL of the store's database.
  package init(of store: SQLiteStore, limitBytes: Int) {
    connections = store.pool
    self.limitBytes = limitBytes
  }

  /// Checks the WAL, and checkpoints it if that is due.
  ///
  /// - Throws: `StoreError`.
  package func look() throws -> Outcome {
    guard let status = fileStatus(), status.bytes > Self.smallBytes else { return .small }
    let isIdle = last.withLock { last in
      defer { last = status }
      return last.map { $0.modified == status.modified && $0.bytes == status.bytes } ?? false
    }
    guard isIdle || status.bytes > limitBytes else { return .small }
    let isCut = try withStoreErrors(path: connections.path) {
      try connections.cutLog(waiting: Self.waitMilliseconds)
    }
    return isCut ? .cut : .held(bytes: fileStatus()?.bytes ?? 0)
  }

  private func fileStatus() -> FileStatus? {
    try? FileStatus(path: connections.file + "-wal")
  }
}
