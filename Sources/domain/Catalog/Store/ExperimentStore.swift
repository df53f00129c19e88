import Experiments
import Feed
import Prefetch

/// Which experiments are read: a history is never cut.
package enum ExperimentSelection: Sendable {
  /// This many, those that began last.
  case newest(Int)
  /// Those that run.
  case running
  /// Those that are suggested, and not begun.
  case waiting
  /// The one of this number.
  case one(Int)
}

/// The newest of several experiments' steps.
package struct NewestStep: Hashable, Sendable {
  /// Its number; 0 where there is no step.
  package let id: Int

  /// Of the experiments on these sessions.
  package init(of experiments: [PolicyExperiment], feed: String?, network: String?) {
    id =
      experiments.lazy.filter { $0.overlaps(feed: feed, network: network) }
      .flatMap { $0.steps.lazy.map(\.id) }.max() ?? 0
  }
}

/// Where experiments on policies are kept, beside the policies: nothing of what was decided is ever edited.
///
/// For threads that may wait. Each method throws the store's own failures.
package protocol ExperimentStore: Sendable {
  /// Experiments, those that began last first; with all of their steps.
  ///
  /// - Throws: `PolicyError` for a setting that this program does not understand.
  func experiments(_ selection: ExperimentSelection) throws -> [PolicyExperiment]
  /// Writes a trial with its first step. Suggestions on the same sessions end with it, and with one that is started a
  /// hold-out on the same policy. One that is kept for the second time is a step of the first.
  ///
  /// - Parameters:
  ///   - kind: `started`, `suggested` or `kept`.
  ///   - last: the newest step on the same sessions as of when it was decided; nil where it is written whatever was done.
  /// - Returns: its number.
  /// - Throws: `ExperimentError`.
  func add(
    _ trial: NewTrial, _ kind: ExperimentStep.Kind, after last: NewestStep?, at time: Timestamp
  ) throws -> Int
  /// Takes a step, with all that it brings about, or nothing of it: a policy that is applied is in force, and its
  /// hold-out begins; one that is taken back is no longer.
  ///
  /// - Parameters:
  ///   - evidence: a JSON object of at most 64 KiB.
  ///   - last: the step on which it was decided; nil where it is taken whatever was decided.
  /// - Throws: `ExperimentError`.
  func take(
    _ kind: ExperimentStep.Kind, sharePermille: Int, evidence: [UInt8], of experiment: Int,
    after last: Int?, at time: Timestamp) throws
  /// Makes the holder the one that decides, for so long, or goes on with it. Of several processes one holds it; one that
  /// dies holds it until its time is over.
  ///
  /// - Parameters:
  ///   - milliseconds: 0 gives it up.
  ///   - now: milliseconds by the machine's monotonic clock, where the store has no clock of its own: then its processes are
  ///     on one machine, and a wall clock that is set makes no second holder.
  /// - Returns: whether the holder has it.
  func holdLease(
    _ name: String, holder: String, milliseconds: Int, now: Int64
  ) throws -> Bool
}

extension ExperimentStore {
  /// Begins a trial.
  ///
  /// - Returns: its number.
  /// - Throws: `ExperimentError`, what the store throws.
  package func begin(_ trial: NewTrial, at time: Timestamp) throws -> Int {
    try add(trial, .started, after: nil, at: time)
  }
}
