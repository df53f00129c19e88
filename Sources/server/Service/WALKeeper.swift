import CoreMetrics
import Logging
import Observability
import SQLiteStore
import Synchronization

/// Checks the database's write-ahead log now and then, and keeps it small.
final class WALKeeper: Sendable {
  /// The result of a look.
  enum Outcome: String, CaseIterable, Sendable {
    case cut, held, failed
  }

  private let log: WriteAheadLog
  private let logger: Logger
  private let outcomes: [Outcome: Counter]
  private let state = Mutex(State())

  private struct State {
    /// The number of looks in a row that found the WAL too large and held.
    var heldLooks = 0
    /// The problem of the last look.
    var problem: String?
  }

  /// The number of such looks before a warning: a backup, too, holds the WAL for a while.
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
      // Logged once, and not every few seconds.
      if !isKnown { logger.error("cannot maintain the write-ahead log: \(problem)") }
    }
  }
}
