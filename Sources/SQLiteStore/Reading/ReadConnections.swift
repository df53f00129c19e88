import Dispatch
import GRDB
import Synchronization

/// A bounded number of connections that read, opened as they are needed and kept.
final class ReadConnections: Sendable {
  private struct State {
    var idle: [ReadConnection] = []
    var isClosed = false
  }

  private let path: String
  private let options: DatabaseFile.Options
  private let watch: FileWatch
  private let state = Mutex(State())
  /// One for each connection that may be taken: who finds none waits.
  private let free: DispatchSemaphore

  init(path: String, options: DatabaseFile.Options, watch: FileWatch) {
    self.path = path
    self.options = options
    self.watch = watch
    free = DispatchSemaphore(value: options.readers)
  }

  /// Runs the body with a connection, within one snapshot of the file.
  ///
  /// - Throws: `StoreError.closed`, `StoreError.replaced`, `DatabaseError`, what the body throws.
  func read<Result>(
    _ body: (Database, inout PageStatements) throws -> Result
  ) throws -> Result {
    try watch.requireKnown()
    free.wait()
    defer { free.signal() }
    let idle = try state.withLock { state in
      if state.isClosed { throw StoreError.closed(path: path) }
      return state.idle.popLast()
    }
    let connection = try idle ?? DatabaseFile.openForReading(path: path, options: options)
    defer { state.withLock { $0.idle.append(connection) } }
    return try connection.read(body)
  }

  /// Waits for those who read, and closes the file.
  func close() throws {
    let wasClosed = state.withLock { state in
      defer { state.isClosed = true }
      return state.isClosed
    }
    guard !wasClosed else { return }
    for _ in 0..<options.readers { free.wait() }
    defer { for _ in 0..<options.readers { free.signal() } }
    for connection in state.withLock({ $0.idle }) { try connection.close() }
    state.withLock { $0.idle = [] }
  }
}
