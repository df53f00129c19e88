import Logging
import RowStore
import Synchronization
import System

/// Indexes the texts of posts of before the index, a few at a time, so that other writes come in between; a server of
/// an old database answers at once, and finds texts when this is done.
///
/// Any number of servers of a database do so together: each transaction takes up where the last one ended.
final class TextIndexKeeper: Sendable {
  private struct State {
    /// Since when posts are being indexed, by the monotonic clock in nanoseconds; nil while none are missing.
    var startedAt: UInt64?
    /// What the last look said that failed.
    var problem: String?
    /// Below which number posts were missing when it was said last.
    var said: Int64 = 0
  }

  private let store: any DatabaseStore
  private let logger: Logger
  private let state = Mutex(State())
  private let task = Mutex<PeriodicTask?>(nil)

  /// How many posts one transaction indexes: some 20 ms on two cores.
  private static let postsAtOnce = 500
  /// Between two of them, for other writers.
  private static let pauseMilliseconds = 5
  /// Between two looks whether a copy has come that is not indexed.
  private static let lookMilliseconds = 5_000
  private static let saidEveryPosts: Int64 = 100_000

  init(_ store: any DatabaseStore, logger: Logger) {
    (self.store, self.logger) = (store, logger)
  }

  /// - Throws: `SystemError`.
  func start() throws(SystemError) {
    let task = PeriodicTask(scheduling: .background, firstPauseMilliseconds: { 0 }) { [self] in
      look() ? Self.pauseMilliseconds : Self.lookMilliseconds
    }
    try task.start()
    self.task.withLock { $0 = task }
  }

  func stop() { task.withLock { $0 }?.stop() }

  /// - Returns: whether more is to be done at once.
  private func look() -> Bool {
    do {
      let left = try store.indexTexts(atMost: Self.postsAtOnce)
      let now = MonotonicClock.nanoseconds
      let message = state.withLock { state -> String? in
        state.problem = nil
        guard left > 0 else {
          defer { state.startedAt = nil }
          return state.startedAt.map {
            "texts indexed in \((now - $0) / 1_000_000) ms: searches find all items"
          }
        }
        let isBegun = state.startedAt != nil
        if isBegun, state.said - left < Self.saidEveryPosts { return nil }
        state.startedAt = state.startedAt ?? now
        state.said = left
        return "indexing texts: about \(left) posts are left"
      }
      if let message { logger.notice("\(message)") }
      return left > 0
    } catch {
      let problem = "\(error)"
      let isKnown = state.withLock { state in
        defer { state.problem = problem }
        return state.problem == problem
      }
      // Said once, and not every few seconds.
      if !isKnown { logger.error("cannot index texts: \(problem)") }
      return false
    }
  }
}
