import Catalog
import CoreMetrics
import FeedServer
import Logging
import Observability
import Prefetch
import RowStore
import Synchronization

/// One look at what other processes wrote, repeated many times a second; each problem is logged once.
final class StoreRefresh: Sendable {
  private let store: any DatabaseStore
  private let readiness: Readiness
  private let refreshes: Counter
  private let failures: Counter
  private let refusedPolicies: Gauge
  private let logger: Logger
  private let problem = Mutex<PolicyError?>(nil)
  /// The reason why the database is unavailable, while the server answers from memory.
  private let outage = Mutex<String?>(nil)

  init(
    _ store: any DatabaseStore, _ readiness: Readiness, logger: Logger, figures: PrometheusRegistry
  ) {
    self.store = store
    self.readiness = readiness
    let (looks, failed) = (
      "lookahead_\(store.kind)_refreshes_total", "lookahead_\(store.kind)_failed_refreshes_total"
    )
    figures.describe(looks, help: "Refreshes: reads of what other processes wrote.")
    figures.describe(failed, help: "Failed refreshes.")
    figures.describe(
      "lookahead_refused_policies",
      help:
        "1 while the database has policies that are not understood, so the previous ones stay "
        + "in force."
    )
    refreshes = Counter(label: looks, factory: figures)
    failures = Counter(label: failed, factory: figures)
    refusedPolicies = Gauge(label: "lookahead_refused_policies", factory: figures)
    refusedPolicies.record(0)
    self.logger = logger
  }

  func run() {
    do {
      if try store.refresh() { notePolicies(try store.snapshot().policyBook.problem) }
      refreshes.increment()
      readiness.noteSuccess()
      outage.withLock { $0 = nil }
    } catch {
      failures.increment()
      let isNews: Bool
      if store.outlivesDatabase, store.version > .start {
        isNews = outage.withLock { outage in
          defer { outage = "\(error)" }
          return outage != "\(error)"
        }
      } else {
        isNews = readiness.note(storeProblem: "\(error)")
      }
      if isNews { logger.error("cannot read the database: \(error)") }
    }
  }

  /// Records the policies that are not understood; the previous policies stay in force.
  private func notePolicies(_ found: PolicyError?) {
    let known = problem.withLock { problem in
      defer { problem = found }
      return problem
    }
    guard found != known else { return }
    refusedPolicies.record(found == nil ? 0 : 1)
    if let found {
      logger.error("policies not applied, the previous ones stay in force: \(found)")
    } else {
      logger.notice("policies applied: all of them are understood again")
    }
  }
}
