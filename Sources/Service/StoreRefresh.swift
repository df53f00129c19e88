import CoreMetrics
import FeedServer
import Logging
import Prefetch
import SQLiteStore
import Synchronization

/// One look at what other processes wrote, done again and again; what is wrong is said once, not fifty times
/// a second.
final class StoreRefresh: Sendable {
  private let store: SQLiteStore
  private let readiness: Readiness
  private let figures: ServiceFigures
  private let logger: Logger
  private let problem = Mutex<PolicyError?>(nil)

  init(
    _ store: SQLiteStore, _ readiness: Readiness, _ figures: ServiceFigures, logger: Logger
  ) {
    self.store = store
    self.readiness = readiness
    self.figures = figures
    self.logger = logger
  }

  func run() {
    do {
      if try store.refresh() { notePolicies(try store.snapshot().policyBook.problem) }
      figures.refreshes.increment()
      readiness.noteSuccess()
    } catch {
      figures.failedRefreshes.increment()
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
    figures.refusedPolicies.record(found == nil ? 0 : 1)
    if let found {
      logger.error("policies not taken, those of before stay in force: \(found)")
    } else {
      logger.notice("policies taken: all of them are understood again")
    }
  }
}
