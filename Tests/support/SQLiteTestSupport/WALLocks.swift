import CLockShim
import Synchronization

/// The locks that this process takes on the shared memory of a database's write-ahead log
/// (https://sqlite.org/walformat.html, section 2.3.1), told by a VFS around the system's.
package final class WALLocks: Sendable {
  private struct State {
    /// The connections that hold the lock of who writes.
    var writers: Set<UInt> = []
    /// The connection that holds the lock of who brings the WAL in.
    var checkpointer: UInt?
    var checkpoints = 0
    var checkpointsWithoutWriteLock = 0
    var pause: (@Sendable () -> Void)?
  }

  private let path: String
  private let state = Mutex(State())

  /// Who is told, by the paths as SQLite has them.
  private static let watched = Mutex<[String: WALLocks]>([:])
  private static let isInstalled: Bool = {
    let observer = lookahead_lock_shim_observer(
      locked: { path, file, first, count, flags in
        WALLocks.watcher(of: path)?.note(
          UInt(bitPattern: file), Int(first)..<Int(first + count), Int(flags))
      },
      unfetched: { path, file in WALLocks.watcher(of: path)?.pause(UInt(bitPattern: file)) })
    return lookahead_lock_shim_install(observer) == 0
  }()

  /// From now on the locks of what is opened can be watched.
  package static func install() { precondition(isInstalled, "SQLite has no VFS to watch") }

  /// Watches a database that is not open yet, or was opened after `install`, as long as this is held.
  package init(of path: String) {
    Self.install()
    self.path = path
    Self.watched.withLock { $0[path] = self }
  }

  /// Ends watching.
  package func end() { Self.watched.withLock { $0[path] = nil } }

  private static func watcher(of path: UnsafePointer<CChar>?) -> WALLocks? {
    guard let path else { return nil }
    return watched.withLock { $0.isEmpty ? nil : $0[String(cString: path)] }
  }

  /// How often the WAL was brought in, through shared memory.
  package var checkpoints: Int { state.withLock { $0.checkpoints } }

  /// How often of these no connection of this process held the write lock.
  package var checkpointsWithoutWriteLock: Int {
    state.withLock { $0.checkpointsWithoutWriteLock }
  }

  /// Has the next checkpoint that finds the WAL changed wait between its look at the WAL and its work
  /// for as long as the body takes.
  package func pauseNextCheckpoint(_ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.pause = body }
  }

  /// No checkpoint has waited since.
  package var isPausePending: Bool { state.withLock { $0.pause != nil } }

  // `SQLITE_SHM_LOCK` and `SQLITE_SHM_EXCLUSIVE`.
  private static let lockFlag = 2
  private static let exclusiveFlag = 8
  private static let writeLock = 0
  private static let checkpointLock = 1

  private func note(_ file: UInt, _ locks: Range<Int>, _ flags: Int) {
    guard flags & Self.exclusiveFlag != 0 else { return }
    let isTaken = flags & Self.lockFlag != 0
    state.withLock { state in
      if locks.contains(Self.writeLock) {
        if isTaken { state.writers.insert(file) } else { state.writers.remove(file) }
      }
      guard locks.contains(Self.checkpointLock) else { return }
      state.checkpointer = isTaken ? file : nil
      guard isTaken else { return }
      state.checkpoints += 1
      if state.writers.isEmpty { state.checkpointsWithoutWriteLock += 1 }
    }
  }

  private func pause(_ file: UInt) {
    let body = state.withLock { state in
      state.checkpointer == file ? state.pause.take() : nil
    }
    body?()
  }
}
