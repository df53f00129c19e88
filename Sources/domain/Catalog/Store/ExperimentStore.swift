import Experiments
import Feed
import Prefetch

/// Which experiments are read: a history is never cut.
package enum ExperimentSelection: Sendable {
  /// So many, those that began last.
  case newest(Int)
  /// Those that run.
  case running
  /// The one of this number.
  case one(Int)
}

/// Where experiments on policies are kept, beside the policies: nothing of what was decided is ever edited.
///
/// For threads that may wait. Each method throws the store's own failures.
package protocol ExperimentStore: Sendable {
  /// Experiments, those that began last first; with all of their steps.
  ///
  /// - Throws: `PolicyError` for a setting that this program does not understand.
  func experiments(_ selection: ExperimentSelection) throws -> [PolicyExperiment]
  /// Begins a trial. A hold-out on the same policy ends with it.
  ///
  /// - Returns: its number.
  /// - Throws: `ExperimentError`.
  func begin(_ trial: NewTrial, at time: Timestamp) throws -> Int
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
  ///   - now: milliseconds since 1970, where the store has no clock of its own.
  /// - Returns: whether the holder has it.
  func holdLease(
    _ name: String, holder: String, milliseconds: Int, now: Int64
  ) throws -> Bool
}
