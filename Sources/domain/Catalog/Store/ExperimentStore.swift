import Experiments
import Feed
import Prefetch

/// A selection of experiments to read; the history of each is always complete.
package enum ExperimentSelection: Sendable {
  /// The experiments that began last, at most this number.
  case newest(Int)
  /// The running experiments.
  case running
  /// The suggested experiments that have not begun.
  case waiting
  /// The experiment with this number.
  case one(Int)
}

/// The newest step of several experiments.
package struct NewestStep: Hashable, Sendable {
  /// The step's number; 0 if there is no step.
  package let id: Int

  /// Finds the newest step of the experiments on the sessions of this feed and network.
  package init(of experiments: [PolicyExperiment], feed: String?, network: String?) {
    id =
      experiments.lazy.filter { $0.overlaps(feed: feed, network: network) }
      .flatMap { $0.steps.lazy.map(\.id) }.max() ?? 0
  }
}

/// A store for experiments on policies, beside the policies. Decisions are never edited.
///
/// For threads that may block. Each method throws the store's own failures.
package protocol ExperimentStore: Sendable {
  /// Returns experiments with all their steps, the latest started first.
  ///
  /// - Throws: `PolicyError` for a setting that this program does not support.
  func experiments(_ selection: ExperimentSelection) throws -> [PolicyExperiment]
  /// Adds a trial with its first step. Ends suggestions on the same sessions; a started trial also ends a
  /// hold-out on the same policy. A trial that is kept for the second time becomes a step of the first one.
  ///
  /// - Parameters:
  ///   - kind: `started`, `suggested` or `kept`.
  ///   - last: The newest step on the same sessions when the trial was decided; `nil` to add it
  ///     unconditionally.
  /// - Returns: The experiment's number.
  /// - Throws: `ExperimentError`.
  func add(
    _ trial: NewTrial, _ kind: ExperimentStep.Kind, after last: NewestStep?, at time: Timestamp
  ) throws -> Int
  /// Takes a step with all its effects, or nothing of it: an applied policy comes into force and its
  /// hold-out begins; a reverted policy is no longer in force.
  ///
  /// - Parameters:
  ///   - evidence: A JSON object of at most 64 KiB.
  ///   - last: The step on which the decision was based; `nil` to take the step unconditionally.
  /// - Throws: `ExperimentError`.
  func take(
    _ kind: ExperimentStep.Kind, sharePermille: Int, evidence: [UInt8], of experiment: Int,
    after last: Int?, at time: Timestamp) throws
  /// Acquires or extends the holder's lease to decide. One of several processes holds it; the lease of a
  /// process that dies ends when it expires.
  ///
  /// - Parameters:
  ///   - milliseconds: The duration of the lease; 0 releases it.
  ///   - now: Milliseconds of the machine's monotonic clock, used if the store has no clock of its own. The
  ///     store's processes are then on one machine, and setting the wall clock cannot make a second holder.
  /// - Returns: Whether the holder has the lease.
  func holdLease(
    _ name: String, holder: String, milliseconds: Int, now: Int64
  ) throws -> Bool
}

extension ExperimentStore {
  /// Begins a trial.
  ///
  /// - Returns: The experiment's number.
  /// - Throws: `ExperimentError`, and errors of the store.
  package func begin(_ trial: NewTrial, at time: Timestamp) throws -> Int {
    try add(trial, .started, after: nil, at: time)
  }
}
