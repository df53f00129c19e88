import Catalog
import Experiments
import Feed
import JSON
import PostJSON
import Prefetch
import Reports

/// Experiments with the results of their arms, read from a store.
package struct ExperimentLedger: Sendable {
  /// An experiment, and the results of its arms.
  package struct Entry: Sendable {
    /// The experiment.
    package let experiment: PolicyExperiment
    /// The sums of what the arms' sessions reported.
    package let sums: ExperimentSums
    /// The finding from these sums.
    package let finding: ExperimentFinding
  }

  /// The entries, newest first.
  package let entries: [Entry]

  /// The maximum number of entries.
  package static let limit = 100

  /// Reads the newest experiments, and the results of the arms of running ones.
  ///
  /// - Parameters:
  ///   - hour: the current hour since 1970.
  ///   - onlyRunning: leaves out all others.
  /// - Throws: what the store throws.
  package init(
    _ store: any ExperimentStore & ReportStore, atHour hour: Int, onlyRunning: Bool
  ) throws {
    let experiments = try store.experiments(onlyRunning ? .running : .newest(Self.limit))
    var sums = experiments.map(ExperimentSums.init)
    let running = experiments.indices.filter { experiments[$0].isRunning }
    if let since = running.map({ sums[$0].sinceHour }).min() {
      try store.readReportCells(since: since) { key, cell in
        for index in running { sums[index].add(key, cell) }
      }
    }
    entries = zip(experiments, sums).map { experiment, sums in
      Entry(
        experiment: experiment, sums: sums,
        finding: ExperimentFinding(experiment, sums, atHour: hour))
    }
  }
}

extension JSONWriter {
  /// The maximum number of steps of an experiment in an answer, the newest: a policy may be kept night after
  /// night.
  private static let steps = 100

  /// Writes the experiments as `/v1/experiments` has them.
  package mutating func experiments(_ ledger: ExperimentLedger) {
    object { writer in
      writer.array("experiments") { writer in
        for entry in ledger.entries { writer.experiment(entry.experiment, entry.finding) }
      }
    }
  }

  /// Writes an experiment: the policy on trial, the steps, and the finding if there is one.
  package mutating func experiment(
    _ experiment: PolicyExperiment, _ finding: ExperimentFinding?
  ) {
    object { writer in
      writer.member("id", experiment.id)
      writer.member("kind", experiment.kind.rawValue)
      writer.member("feed", experiment.feed)
      writer.member("network", experiment.network)
      writer.key("policy")
      writer.policy(experiment.setting)
      writer.key("share")
      writer.number(Double(experiment.limits.sharePermille) / 10)
      writer.member("margin", experiment.limits.marginPercent)
      writer.member("days", experiment.limits.days)
      writer.key("running")
      writer.boolean(experiment.isRunning)
      writer.array("steps") { writer in
        for step in experiment.steps.suffix(Self.steps) {
          writer.object { writer in
            writer.member("at", step.takenAt.rfc3339)
            writer.member("kind", step.kind.rawValue)
            writer.key("share")
            writer.number(Double(step.sharePermille) / 10)
            writer.key("evidence")
            writer.raw(step.evidence)
          }
        }
      }
      guard experiment.isRunning, let finding else { return }
      writer.key("finding")
      writer.finding(finding)
    }
  }
}
