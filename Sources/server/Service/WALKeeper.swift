import CoreMetrics
import Logging
import Observability
import SQLiteStore
import Synchronization

/// Looks at the database's write-ahead log now and then, and keeps it small.
final class WALKeeper: Sendable {
  /// What a look came to.
  enum Outcome: String, CaseIterable, Sendable {
    case cut, held, failed
  }

  private let log: WriteAheadLog
  private let logger: Logger
  private let outcomes: [Outcome: Counter]
  private let state = Mutex(State())

  private struct State {
    /// How often in a row the WAL was too large and held.
    var heldLooks = 0
    /// What the last look said that failed.
    var problem: String?
  }

  /// As often before it is said: a backup, too, holds it for a while.
  private static let looksBeforeWarning = 6

  init(_ log: WriteAheadLog, logger: Logger, figures: PrometheusRegistry) {
    self.log = log
    self.logger = logger
    outcomes = figures.counters(
      "lookahead_sqlite_checkpoints_total",
      help: "Checkpoints that truncated the write-ahead log, or failed to.", of: Outcome.self)
  }

  private func count(_ outcome: Outcome) { outcomes[outcome]?.increment() }

  func look() {
    do {
      let outcome = try log.look()
      let heldLooks = state.withLock { state in
        state.problem = nil
        if case .held = outcome { state.heldLooks += 1 } else { state.heldLooks = 0 }
        return state.heldLooks
      }
      switch outcome {
      case .small: break
      case .cut: count(.cut)
      case .held(let bytes):
        count(.held)
        guard heldLooks == Self.looksBeforeWarning else { return }
        logger.warning(
          "the write-ahead log cannot be truncated: a long-running reader blocks it",
          metadata: ["bytes": .stringConvertible(bytes)])
      }
    } catch {
      count(.failed)
      let problem = "\(error)"
      let isKnown = state.withLock { state in
        defer { state.problem = problem }
        return state.problem == problem
      }
      // Said once, and not every few seconds.
      if !isKnown { logger.error("cannot maintain the write-ahead log: \(problem)") }
    }
  }
}
