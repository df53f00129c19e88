import HTTP
import Sockets
import Synchronization
import System

/// Limits the requests of each client: the generic cell rate algorithm, which stores one number a client
/// (ITU-T I.371, annex A).
///
/// The number is the time at which the client has earned all its requests back; a client whose time has come
/// needs no entry. If there are more clients than entries, those without an entry share one.
final class RequestRate: Sendable {
  private struct State {
    var earnedAt: [IPAddress: UInt64] = [:]
    var sharedEarnedAt: UInt64 = 0
    var sweptAt: UInt64 = 0
  }

  private let state = Mutex(State())
  private let nanosecondsPerRequest: UInt64
  private let burst: UInt64
  private let maximumClients: Int
  private let now: @Sendable () -> UInt64

  /// The minimum time between searches for entries that are no longer needed.
  private static let sweepNanoseconds: UInt64 = 1_000_000_000

  /// - Parameters:
  ///   - perMinute: the requests that a client may make each minute in the long run.
  ///   - burst: the requests that it may make at once.
  ///   - now: a clock in nanoseconds.
  init(
    perMinute: Int, burst: Int, maximumClients: Int,
    now: @escaping @Sendable () -> UInt64 = { MonotonicClock.nanoseconds }
  ) {
    nanosecondsPerRequest = 60_000_000_000 / UInt64(perMinute)
    self.burst = UInt64(burst)
    self.maximumClients = maximumClients
    self.now = now
  }

  /// Counts a request of the client.
  ///
  /// - Throws: `Problem` 429 if the client has to wait first.
  func admit(_ client: IPAddress?) throws {
    let now = now()
    let wait = state.withLock { state -> UInt64? in
      guard let client = client?.client else { return take(&state.sharedEarnedAt, now) }
      if state.earnedAt[client] == nil, state.earnedAt.count >= maximumClients {
        sweep(&state, now)
        if state.earnedAt.count >= maximumClients { return take(&state.sharedEarnedAt, now) }
      }
      return take(&state.earnedAt[client, default: 0], now)
    }
    guard let wait else { return }
    var problem = Problem(
      .tooManyRequests, .tooManyRequests, "The client's address sends too many requests.")
    problem.retryAfterSeconds = Int((wait + 999_999_999) / 1_000_000_000)
    throw problem
  }

  /// Takes one request; or returns the time to wait for it, in nanoseconds.
  private func take(_ earnedAt: inout UInt64, _ now: UInt64) -> UInt64? {
    let next = max(earnedAt, now) + nanosecondsPerRequest
    let latest = now + burst * nanosecondsPerRequest
    guard next <= latest else { return next - latest }
    earnedAt = next
    return nil
  }

  private func sweep(_ state: inout State, _ now: UInt64) {
    guard now >= state.sweptAt + Self.sweepNanoseconds else { return }
    state.sweptAt = now
    state.earnedAt = state.earnedAt.filter { $0.value > now }
  }
}
