import Catalog
import Experiments
import Feed
import JSON
import PostJSON
import Prefetch
import Reports

/// Experiments with what their arms met: read from a store.
package struct ExperimentLedger: Sendable {
  /// An experiment, and what its arms met.
  package struct Entry: Sendable {
    /// The experiment.
    package let experiment: PolicyExperiment
    /// What they met.
    package let sums: ExperimentSums
    /// What that says.
    package let finding: ExperimentFinding
  }

  /// The newest first.
  package let entries: [Entry]

  /// The most experiments that are shown.
  package static let limit = 100

  /// Reads the newest experiments, and what the arms of those that run met.
  ///
  /// - Parameters:
  ///   - hour: now, in hours since 1970.
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
  /// The most steps of an experiment in an answer, the newest: a policy may be kept night after night.
  private static let steps = 100

  /// The experiments as `/v1/experiments` has them.
  package mutating func experiments(_ ledger: ExperimentLedger) {
    object { writer in
      writer.key("experiments")
      writer.array { writer in
        for entry in ledger.entries { writer.experiment(entry.experiment, entry.finding) }
      }
    }
  }

  /// An experiment: what is tried, what was done, and of one that runs what is known.
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
      writer.key("steps")
      writer.array { writer in
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
