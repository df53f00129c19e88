import CoreMetrics
import FeedServer
import Logging
import Observability
import Prefetch
import SQLiteStore
import Synchronization

/// One look at what other processes wrote, done again and again; what is wrong is said once, not fifty times
/// a second.
final class StoreRefresh: Sendable {
  private let store: SQLiteStore
  private let readiness: Readiness
  private let refreshes: Counter
  private let failures: Counter
  private let refusedPolicies: Gauge
  private let logger: Logger
  private let problem = Mutex<PolicyError?>(nil)

  init(
    _ store: SQLiteStore, _ readiness: Readiness, logger: Logger, figures: PrometheusRegistry
  ) {
    self.store = store
    self.readiness = readiness
    figures.describe(
      "lookahead_sqlite_refreshes_total", help: "Looks at what other processes wrote.")
    figures.describe("lookahead_sqlite_failed_refreshes_total", help: "Those that failed.")
    figures.describe(
      "lookahead_refused_policies",
      help:
        "1 while policies are written that are not understood, so that those of before stay in force."
    )
    refreshes = Counter(label: "lookahead_sqlite_refreshes_total", factory: figures)
    failures = Counter(label: "lookahead_sqlite_failed_refreshes_total", factory: figures)
    refusedPolicies = Gauge(label: "lookahead_refused_policies", factory: figures)
    refusedPolicies.record(0)
    self.logger = logger
  }

  func run() {
    do {
      if try store.refresh() { notePolicies(try store.snapshot().policyBook.problem) }
      refreshes.increment()
      readiness.noteSuccess()
    } catch {
      failures.increment()
      if readiness.note(storeProblem: "\(error)") {
        logger.error("cannot read the database: \(error)")
      }
    }
  }

  /// The policies that are not understood do no harm yet: those of before stay in force.
  private func notePolicies(_ found: PolicyError?) {
    let known = problem.withLock { problem in
      defer { problem = found }
      return problem
    }
    guard found != known else { return }
    refusedPolicies.record(found == nil ? 0 : 1)
    if let found {
      logger.error("policies not taken, those of before stay in force: \(found)")
    } else {
      logger.notice("policies taken: all of them are understood again")
    }
  }
}
