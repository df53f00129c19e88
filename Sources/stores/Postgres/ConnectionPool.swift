import System

/// A bounded number of connections to a database, opened on demand and kept. A lost connection is replaced;
/// while none can be made, callers get the error at once (`Outage`).
package final class ConnectionPool: Sendable {
  private struct State {
    var idle: [Connection] = []
    /// The number of connections that may still be taken: at zero, a caller waits.
    var free: Int
    var isClosed = false
  }

  private let address: DatabaseAddress
  private let options: Connection.Options
  private let limit: Int
  private let outage: Outage
  private let state: Monitor<State>

  /// Creates a pool of at most this many connections.
  ///
  /// - Parameter outage: shared by all that connect to the same server.
  package init(
    _ address: DatabaseAddress, _ options: Connection.Options = .init(), limit: Int,
    outage: Outage = Outage()
  ) {
    self.address = address
    self.options = options
    self.limit = limit
    self.outage = outage
    state = Monitor(State(free: limit))
  }

  /// Runs the body with a connection that no other caller uses meanwhile. If the connection is lost, the
  /// body runs once more with another one.
  ///
  /// - Throws: `PostgresError`, and what the body throws.
  package func run<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    do {
      return try runOnce(body)
    } catch let error as PostgresError {
      guard case .lost = error else { throw error }
      return try runOnce(body)
    }
  }

  /// The same, but once: for work that may have been done when the connection was lost.
  ///
  /// - Throws: `PostgresError`, and what the body throws.
  package func runOnce<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    let connection = try take()
    defer { giveBack(connection) }
    return try body(connection)
  }

  private func take() throws(PostgresError) -> Connection {
    let taken = state.wait { state -> Swift.Result<Connection?, PostgresError>? in
      if state.isClosed { return .failure(.cannotConnect(reason: "it was closed")) }
      guard state.free > 0 else { return nil }
      state.free -= 1
      return .success(state.idle.popLast())
    }
    if let idle = try taken.get(), idle.isThere { return idle }
    do throws(PostgresError) {
      return try connect()
    } catch {
      giveBack(nil)
      throw error
    }
  }

  private func connect() throws(PostgresError) -> Connection {
    do throws(PostgresError) {
      return try outage.connect { () throws(PostgresError) in try Connection(address, options) }
    } catch {
      // The idle connections are most likely useless, too.
      closeIdle()
      throw error
    }
  }

  /// Closes the idle connections: the next caller connects again.
  package func closeIdle() { state.withLock { $0.idle = [] } }

  private func giveBack(_ connection: Connection?) {
    state.withLock { state in
      state.free += 1
      if let connection, !connection.isLost, !state.isClosed { state.idle.append(connection) }
    }
    state.notify()
  }

  /// Waits for the callers that have a connection, and closes all connections.
  package func close() {
    state.withLock { state in
      state.isClosed = true
      state.idle = []
    }
    state.notify()
    state.wait { $0.free == limit ? () : nil }
  }
}
