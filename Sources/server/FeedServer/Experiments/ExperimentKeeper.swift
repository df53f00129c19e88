import Catalog
import CoreMetrics
import Experiments
import Feed
import Logging
import Observability
import Reports
import Synchronization
import System

/// Decides the experiments of a database: begins, ramps, rolls back, applies, takes back. Of the servers of a
/// database, only the one that holds the lease decides; if it dies, another one continues. For one thread.
///
/// Each action is written together with the step that records it, and only if the experiment's last step is
/// the one that the decision was based on: if two servers decide at once after a clock jump, the step is
/// taken once.
final class ExperimentKeeper: Sendable {
  private let store: any PolicyStore & ExperimentStore & ReportStore
  private let seconds: Int
  private let logger: Logger
  private let hour: @Sendable () -> Int
  private let holder = "\(UInt64.random(in: 0...UInt64.max))"
  private let isFailing = Atomic(false)
  private let running = Atomic(0)
  private let waiting = Atomic(0)
  private let failures: CoreMetrics.Counter
  private let steps: [ExperimentStep.Kind: CoreMetrics.Counter]

  /// The name of the lease.
  static let lease = "experiments"

  /// - Parameters:
  ///   - seconds: the interval between looks.
  ///   - hour: the current hour since 1970, by which reports are counted.
  init(
    _ store: any PolicyStore & ExperimentStore & ReportStore, seconds: Int,
    _ figures: PrometheusRegistry, _ logger: Logger, hour: @escaping @Sendable () -> Int
  ) {
    (self.store, self.seconds, self.logger, self.hour) = (store, seconds, logger, hour)
    figures.describe(
      "lookahead_experiment_failures_total",
      help: "Failed checks of experiments; none is decided meanwhile.")
    failures = CoreMetrics.Counter(label: "lookahead_experiment_failures_total", factory: figures)
    steps = figures.counters(
      "lookahead_experiment_steps_total", help: "Steps of experiments that this server took.",
      of: ExperimentStep.Kind.self, label: "kind")
  }

  func register(in registry: PrometheusRegistry) {
    registry.gauge(
      "lookahead_experiments_running", help: "Experiments that run, as of the last check."
    ) { [self] in running.load(ordering: .relaxed) }
    registry.gauge(
      "lookahead_experiments_suggested",
      help: "Suggestions that were not begun, as of the last check."
    ) { [self] in waiting.load(ordering: .relaxed) }
  }

  /// Checks the experiments, and takes the steps that are due.
  func look() {
    do {
      let count = try store.snapshot().policyBook.experiments.count
      running.store(count, ordering: .relaxed)
      waiting.store(try store.experiments(.waiting).count, ordering: .relaxed)
      guard count > 0 else { return }
      let isHeld = try store.holdLease(
        Self.lease, holder: holder, milliseconds: min(600_000, 3_000 * seconds),
        now: Int64(MonotonicClock.milliseconds))
      guard isHeld else { return }
      let hour = hour()
      let ledger = try ExperimentLedger(store, atHour: hour, onlyRunning: true)
      for entry in ledger.entries {
        guard let decision = entry.experiment.decision(entry.finding, entry.sums, atHour: hour)
        else { continue }
        try take(decision, of: entry.experiment)
      }
      if isFailing.exchange(false, ordering: .relaxed) {
        logger.notice("experiments are decided again")
      }
    } catch {
      failures.increment()
      if !isFailing.exchange(true, ordering: .relaxed) {
        logger.error("cannot decide experiments: \(error)")
      }
    }
  }

  /// - Throws: what the store throws, except for steps that another server has taken meanwhile.
  private func take(_ decision: ExperimentDecision, of experiment: PolicyExperiment) throws {
    // By the clock of reports: stages are counted in its hours.
    let time = Timestamp(microseconds: Int64(hour()) * 3_600_000_000 + Self.microsecondsOfHour)
    do {
      try store.take(
        decision.kind, sharePermille: decision.sharePermille,
        evidence: decision.evidence(of: experiment), of: experiment.id,
        after: experiment.steps.last?.id, at: time)
    } catch ExperimentError.hasMovedOn(_) {
      return
    } catch ExperimentError.isOver(_) {
      return
    } catch let error as ExperimentError where [.applied, .takenBack].contains(decision.kind) {
      // The policy or the feed's name was changed since: there is nothing to apply or take back.
      try take(
        ExperimentDecision(.stopped, reason: "\(error)", finding: decision.finding),
        of: experiment)
      return
    }
    steps[decision.kind]?.increment()
    let isBad = [.rolledBack, .takenBack, .stopped].contains(decision.kind)
    logger.log(
      level: isBad ? .warning : .notice, "experiment \(decision.kind.rawValue)",
      metadata: [
        "experiment": .stringConvertible(experiment.id),
        "feed": .string(experiment.feed ?? ""), "network": .string(experiment.network ?? ""),
        "policy": .string(experiment.setting.name), "reason": .string(decision.reason),
      ])
  }

  private static var microsecondsOfHour: Int64 {
    Int64(WallClock.now.nanosecondsSince1970 / 1_000) % 3_600_000_000
  }
}
