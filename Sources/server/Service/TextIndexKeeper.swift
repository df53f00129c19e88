import Logging
import RowStore
import Synchronization
import System

/// Indexes the texts of posts that were written before the index existed, a few at a time, so that other
/// writes come in between. A server of an old database answers at once, and finds all texts when the index is
/// complete.
///
/// Any number of servers of a database do so together: each transaction continues where the last one ended.
final class TextIndexKeeper: Sendable {
  private struct State {
    /// The start of indexing, by the monotonic clock in nanoseconds; `nil` while no posts are missing.
    var startedAt: UInt64?
    /// The problem of the last look.
    var problem: String?
    /// The number below which posts were missing in the last logged message.
    var said: Int64 = 0
  }

  private let store: any DatabaseStore
  private let logger: Logger
  private let state = Mutex(State())
  private let task = Mutex<PeriodicTask?>(nil)

  /// The number of posts that one transaction indexes: some 20 ms on two cores.
  private static let postsAtOnce = 500
  /// The pause between two transactions, for other writers.
  private static let pauseMilliseconds = 5
  /// The interval between looks for copied posts that are not indexed.
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

  /// - Returns: whether there is more to do at once.
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
      // Logged once, and not every few seconds.
      if !isKnown { logger.error("cannot index texts: \(problem)") }
      return false
    }
  }
}
