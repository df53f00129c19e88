import GRDB
import System

/// A bounded number of connections that read, opened on demand and kept.
final class ReadConnections: Sendable {
  private struct State {
    var idle: [ReadConnection] = []
    /// The number of connections that may still be taken: at zero, a reader waits.
    var free: Int
    var isClosed = false
  }

  private let path: String
  private let options: DatabaseFile.Options
  private let watch: FileWatch
  private let state: Monitor<State>

  init(path: String, options: DatabaseFile.Options, watch: FileWatch) {
    self.path = path
    self.options = options
    self.watch = watch
    state = Monitor(State(free: options.readers))
  }

  /// Runs the body with a connection, within one snapshot of the file.
  ///
  /// - Throws: `StoreError.closed`, `StoreError.replaced`, `DatabaseError`, and what the body throws.
  func read<Result>(
    _ body: (Database, inout PageStatements) throws -> Result
  ) throws -> Result {
    try watch.requireKnown()
    let idle = try take()
    let connection: ReadConnection
    do {
      connection = try idle ?? DatabaseFile.openForReading(path: path, options: options)
    } catch {
      giveBack(nil)
      throw error
    }
    defer { giveBack(connection) }
    return try connection.read(body)
  }

  /// Waits for a place among the readers and takes it, with an idle connection if there is one.
  private func take() throws -> ReadConnection? {
    let taken = state.wait { state -> Result<ReadConnection?, StoreError>? in
      if state.isClosed { return .failure(.closed(path: path)) }
      guard state.free > 0 else { return nil }
      state.free -= 1
      return .success(state.idle.popLast())
    }
    return try taken.get()
  }

  private func giveBack(_ connection: ReadConnection?) {
    state.withLock { state in
      state.free += 1
      if let connection { state.idle.append(connection) }
    }
    state.notify()
  }

  /// Waits for the readers to end, and closes the file.
  func close() throws {
    state.withLock { $0.isClosed = true }
    state.notify()
    let idle = state.wait { state -> [ReadConnection]? in
      guard state.free == options.readers else { return nil }
      defer { state.idle = [] }
      return state.idle
    }
    for connection in idle { try connection.close() }
  }
}
