import System

/// A bounded number of connections to a database, opened as they are needed and kept. One that is lost is
/// replaced; while none can be made, whoever asks is told so at once, and somebody tries again after a pause that
/// grows.
public final class ConnectionPool: Sendable {
  private struct State {
    var idle: [Connection] = []
    /// How many more may be taken: who finds none waits.
    var free: Int
    var isClosed = false
    /// Why no connection came about, and until when nobody tries again.
    var failure: (error: PostgresError, until: ContinuousClock.Instant)?
    var pause = ConnectionPool.shortestPause
    var attempts = 0
  }

  private static let shortestPause = Duration.milliseconds(100)
  private static let longestPause = Duration.seconds(5)

  private let address: DatabaseAddress
  private let options: Connection.Options
  private let limit: Int
  private let state: Monitor<State>

  /// A pool of so many connections at the most.
  public init(_ address: DatabaseAddress, _ options: Connection.Options = .init(), limit: Int) {
    self.address = address
    self.options = options
    self.limit = limit
    state = Monitor(State(free: limit))
  }

  /// How often it was tried to connect.
  var attempts: Int { state.withLock { $0.attempts } }

  /// Runs the body with a connection that nobody else has meanwhile. Where the server ended the connection before
  /// it said anything, the body is run once more with another one.
  ///
  /// - Throws: `PostgresError`, what the body throws.
  public func run<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    do {
      return try runOnce(body)
    } catch let error as PostgresError {
      guard case .lost = error else { throw error }
      return try runOnce(body)
    }
  }

  /// The same, but once: for what may have been done where the connection was lost.
  ///
  /// - Throws: `PostgresError`, what the body throws.
  public func runOnce<Result>(_ body: (Connection) throws -> Result) throws -> Result {
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
    let known = state.withLock { state -> PostgresError? in
      guard let failure = state.failure, .now < failure.until else {
        state.attempts += 1
        return nil
      }
      return failure.error
    }
    if let known { throw known }
    do throws(PostgresError) {
      let connection = try Connection(address, options)
      state.withLock { state in
        state.failure = nil
        state.pause = Self.shortestPause
      }
      return connection
    } catch {
      state.withLock { state in
        state.failure = (error, .now + state.pause)
        state.pause = min(state.pause * 2, Self.longestPause)
        // Those that are idle most likely are of no more use.
        state.idle.removeAll()
      }
      throw error
    }
  }

  private func giveBack(_ connection: Connection?) {
    state.withLock { state in
      state.free += 1
      if let connection, !connection.isLost, !state.isClosed { state.idle.append(connection) }
    }
    state.notify()
  }

  /// Waits for those who have a connection, and closes all.
  public func close() {
    state.withLock { state in
      state.isClosed = true
      state.idle = []
    }
    state.notify()
    state.wait { $0.free == limit ? () : nil }
  }
}
