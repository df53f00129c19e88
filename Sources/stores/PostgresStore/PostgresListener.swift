import Postgres
import System

/// Receives notifications of other processes' writes (https://www.postgresql.org/docs/15/sql-listen.html).
/// The regular checks of the database find what it misses without a connection.
final class PostgresListener: Sendable {
  private struct State {
    var connection: Connection?
    var isStopped = false
  }

  private let connections: ConnectionPool
  private let state = Monitor(State())

  init(_ address: DatabaseAddress, _ options: Connection.Options, _ outage: Outage) {
    connections = ConnectionPool(address, options, limit: 1, outage: outage)
  }

  /// The maximum time that a stop has to wait.
  private static let longestWaitMilliseconds = 200

  /// Waits for a notification, or until the time is over. Only one thread waits.
  func wait(atMostMilliseconds limit: Int) {
    var left = limit
    while left > 0, !state.withLock({ $0.isStopped }) {
      let portion = min(left, Self.longestWaitMilliseconds)
      left -= portion
      guard let isTold = try? listen(atMostMilliseconds: portion) else {
        // Without a connection, the wait is a pause.
        CurrentThread.rest(nanoseconds: UInt64(portion) * 1_000_000)
        continue
      }
      if isTold { return }
    }
  }

  private func listen(atMostMilliseconds limit: Int) throws -> Bool {
    try connections.runOnce { connection in
      if state.withLock({ $0.connection !== connection }) {
        try connection.run(script: "LISTEN lookahead_changes")
        state.withLock { $0.connection = connection }
      }
      return try connection.waitForNotification(atMostMilliseconds: limit)
    }
  }

  func stop() {
    state.withLock { state in
      state.isStopped = true
      state.connection = nil
    }
    connections.close()
  }
}
