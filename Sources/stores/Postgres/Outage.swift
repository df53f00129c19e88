import Synchronization

/// The knowledge that a server is unreachable: why, and when the next attempt is due. Pools of the same
/// server share one: what one pool finds out, the others know, and only one caller at a time tries.
package final class Outage: Sendable {
  private struct State {
    var failure: (error: PostgresError, nextAttempt: ContinuousClock.Instant)?
    var pause = Outage.shortestPause
    var isTrying = false
    var attempts = 0
  }

  private static let shortestPause = Duration.milliseconds(100)
  /// The maximum time until a server that is back is found, and between attempts on one that is gone for hours.
  private static let longestPause = Duration.seconds(1)

  private let state = Mutex(State())
  private let lesser: Outage?
  private let now: @Sendable () -> ContinuousClock.Instant

  /// Creates an outage with no known failure.
  ///
  /// - Parameters:
  ///   - lesser: the outage of callers that require less of a server: a connection made here ends it, too.
  ///   - now: the clock by which pauses end.
  package init(
    endingToo lesser: Outage? = nil,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.lesser = lesser
    self.now = now
  }

  /// The number of attempts to connect.
  var attempts: Int { state.withLock { $0.attempts } }

  private func end() {
    state.withLock { state in
      state.failure = nil
      state.isTrying = false
      state.pause = Self.shortestPause
    }
  }

  /// Connects, unless that is known to fail: callers then get the error at once, except for one caller each
  /// time a pause is over.
  ///
  /// - Throws: `PostgresError`.
  func connect(_ body: () throws(PostgresError) -> Connection) throws(PostgresError) -> Connection {
    let known = state.withLock { state -> PostgresError? in
      if let failure = state.failure {
        guard !state.isTrying, failure.nextAttempt <= now() else { return failure.error }
        state.isTrying = true
      }
      state.attempts += 1
      return nil
    }
    if let known { throw known }
    do throws(PostgresError) {
      let connection = try body()
      end()
      lesser?.end()
      return connection
    } catch {
      state.withLock { state in
        // Concurrent attempts failed for one reason: the pause does not grow for each of them.
        if let failure = state.failure, !state.isTrying {
          state.failure = (error, failure.nextAttempt)
        } else {
          state.failure = (error, now() + state.pause)
          state.pause = min(state.pause * 2, Self.longestPause)
        }
        state.isTrying = false
      }
      throw error
    }
  }
}
