import Synchronization

/// The knowledge that a server is unreachable: why, and when the next attempt is due. Pools of the same server share
/// one: what one pool finds out, the others know, and of all callers one tries.
package final class Outage: Sendable {
  private struct State {
    var failure: PostgresError?
    var nextAttempt = ContinuousClock.Instant.now
    var pause = Outage.shortestPause
    var isTrying = false
    var attempts = 0
  }

  private static let shortestPause = Duration.milliseconds(100)
  /// So long, at the most, is a server that takes writes again not found; and so often, at the least, is one that is
  /// gone for hours tried.
  private static let longestPause = Duration.seconds(1)

  private let state = Mutex(State())
  private let lesser: Outage?

  /// Nothing is known to be wrong.
  package init() { lesser = nil }

  /// The same, beside that of those who want less of a server: where a connection is made here, they find one, too.
  package init(endingToo lesser: Outage) { self.lesser = lesser }

  /// How often it was tried to connect.
  var attempts: Int { state.withLock { $0.attempts } }

  private func end() {
    state.withLock { state in
      state.failure = nil
      state.isTrying = false
      state.pause = Self.shortestPause
    }
  }

  /// Connects unless that is known to be in vain: then callers get the error at once, except one each time that a pause
  /// is over.
  ///
  /// - Throws: `PostgresError`.
  func connect(_ body: () throws(PostgresError) -> Connection) throws(PostgresError) -> Connection {
    let known = state.withLock { state -> PostgresError? in
      if let failure = state.failure {
        guard !state.isTrying, state.nextAttempt <= .now else { return failure }
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
        if state.failure == nil || state.isTrying {
          state.nextAttempt = .now + state.pause
          state.pause = min(state.pause * 2, Self.longestPause)
        }
        state.failure = error
        state.isTrying = false
      }
      throw error
    }
  }
}
