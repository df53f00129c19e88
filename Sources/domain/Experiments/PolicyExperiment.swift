// An experiment compares a policy (arm `b`) with the one in force (arm `a`) on a feed and network. A page
// names the running experiment (`RunningExperiment`, in `Prefetch`), the client draws its arm, and its
// report names the arm. `ExperimentSums` adds up the cells of reports by arm and stage. `ExperimentFinding`
// has the conclusions that they allow, at any number of looks. `PolicyExperiment.decision` returns the next
// step. All of this is free of side effects: a server's `ExperimentKeeper` reads, decides and writes, one
// server of a fleet at a time (`ExperimentStore.holdLease`).
//
// The history is an append-only list of steps, and the experiment's state is its last step. A step is only
// written directly after the step on which its decision was based.

import Feed
import Prefetch
import Reports

/// An experiment on a policy, with its history.
package struct PolicyExperiment: Hashable, Sendable {
  /// The purpose of an experiment.
  package enum Kind: String, Sendable {
    /// Tries a policy, which comes into force if it is better.
    case trial
    /// Keeps the previous policy for a few sessions while a new one is in force, to detect whether the
    /// previous one was better.
    case holdout
  }

  /// The number of the experiment.
  package let id: Int
  /// The purpose.
  package let kind: Kind
  /// The feed of the policy; `nil` for all feeds without a policy of their own.
  @ByBytes package private(set) var feed: String?
  /// The network; `nil` for all.
  @ByBytes package private(set) var network: String?
  /// The policy of the arm `b`: strategy, weights of images and videos, name.
  package let setting: Policy
  /// Makes the draws independent of those of other experiments.
  package let salt: String
  /// The limits at which it is decided or stopped.
  package let limits: ExperimentLimits
  /// The steps, in order; the first one began the experiment.
  package let steps: [ExperimentStep]

  /// Creates an experiment from its stored values; `steps` has at least one step.
  package init(
    id: Int, kind: Kind, feed: String?, network: String?, setting: Policy, salt: String,
    limits: ExperimentLimits, steps: [ExperimentStep]
  ) {
    self.id = id
    self.kind = kind
    self.setting = setting
    self.salt = salt
    self.limits = limits
    self.steps = steps
    self.feed = feed
    self.network = network
  }

  /// The time at which it began.
  package var startedAt: Timestamp { steps.first?.takenAt ?? Timestamp(microseconds: 0) }
  /// Whether sessions draw arms.
  package var isRunning: Bool { steps.last?.kind.isRunning ?? false }

  /// Whether it is a suggestion that has not begun.
  package var isWaiting: Bool { steps.last?.kind == .suggested }

  /// The experiment in the form of pages; `nil` if it is not running.
  package var running: RunningExperiment? {
    guard isRunning, let last = steps.last else { return nil }
    return RunningExperiment(
      id: id, feed: feed, network: network, salt: salt, sharePermille: last.sharePermille,
      setting: setting)
  }

  /// Returns the name of an arm in reports.
  package func name(of arm: ExperimentArm) -> String { "\(id).\(arm.rawValue)" }

  /// Whether it would try another policy on the same sessions as an experiment on this feed and network.
  package func overlaps(feed: String?, network: String?) -> Bool {
    let sameFeed =
      self.feed.map { mine in feed.map(mine.isSame) ?? false } ?? (feed == nil)
    return sameFeed
      && (self.network.map { mine in network.map(mine.isSame) ?? true } ?? true)
  }
}

extension PolicyExperiment {
  /// Whether it has the same policy and the same sessions as the trial.
  package func isSame(as trial: NewTrial) -> Bool {
    func same(_ mine: String?, _ other: String?) -> Bool {
      mine.map { mine in other.map(mine.isSame) ?? false } ?? (other == nil)
    }
    return same(feed, trial.feed) && same(network, trial.network)
      && setting.strategy == trial.setting.strategy
  }
}

/// A step of an experiment.
package struct ExperimentStep: Hashable, Sendable {
  /// The kind of a step.
  package enum Kind: String, CaseIterable, Sendable {
    /// The tuner suggested the policy: no session has the arm `b`.
    case suggested
    /// The tuner found nothing better than this policy, which stays in force.
    case kept
    /// The experiment began.
    case started
    /// The share of the arm `b` was increased.
    case ramped
    /// The arm `b` was worse, or broke a guard: all sessions have `a` again.
    case rolledBack
    /// The arm `b` was better, and is now the policy in force.
    case applied
    /// The applied policy was worse than the previous one, which is in force again.
    case takenBack
    /// It ended without a relevant difference, or without a result.
    case ended
    /// An operator stopped it, or its shares were wrong.
    case stopped
    /// An operator reverted the policy that it had applied.
    case undone

    /// Whether sessions draw arms after it.
    package var isRunning: Bool { self == .started || self == .ramped }
  }

  /// The number of the step, increasing over all experiments.
  package let id: Int
  /// The time of the step.
  package let takenAt: Timestamp
  /// The kind.
  package let kind: Kind
  /// The share of the arm `b` from then on, in thousandths of the sessions.
  package let sharePermille: Int
  /// The reason and its figures: a JSON object.
  package let evidence: [UInt8]

  /// Creates a step from its stored values.
  package init(
    id: Int, takenAt: Timestamp, kind: Kind, sharePermille: Int, evidence: [UInt8]
  ) {
    self.id = id
    self.takenAt = takenAt
    self.kind = kind
    self.sharePermille = sharePermille
    self.evidence = evidence
  }

  /// The hour of the step, in hours since 1970.
  package var hour: Int { Int(takenAt.microseconds / 3_600_000_000) }
}

/// The limits at which an experiment is decided or stopped.
package struct ExperimentLimits: Hashable, Sendable {
  /// The maximum share of the arm `b`, in thousandths of the sessions: 1 to 500.
  package var sharePermille = 500
  /// The margin below which a difference is irrelevant, in percent of the loaders of the policy in force.
  package var marginPercent = 5
  /// The number of days after which it ends undecided.
  package var days = 14

  /// Creates the default limits.
  package init() {}

  /// The allowed shares, in thousandths.
  package static let shares = 1...500
  /// The allowed margins, in percent.
  package static let margins = 0...100
  /// The allowed durations of an experiment, in days: as long as reports are kept.
  package static let dayRange = 1...3_650

  /// The shares of the arm `b`, ascending, so that few sessions have a bad policy.
  package var ramp: [Int] { [10, 50, 250].filter { $0 < sharePermille } + [sharePermille] }
}

/// A guard: a figure that must not get worse by more than its tolerance.
package struct ExperimentGuard: Hashable, Sendable {
  /// The measure.
  package let measure: SessionMeasure
  /// Whether the figure is per session; otherwise it is per item.
  package let isPerSession: Bool
  /// Whether it must not decrease; otherwise it must not increase.
  package let mayNotFall: Bool
  /// The allowed change, in percent of the figure of the policy in force.
  package let tolerancePercent: Double
  /// The display name.
  package let words: String

  /// All guards. Loaders are not a guard, because they decide the experiment.
  package static let all = [
    ExperimentGuard(
      measure: .waiting, isPerSession: false, mayNotFall: false, tolerancePercent: 5,
      words: "waiting at loaders an item"),
    ExperimentGuard(
      measure: .frames, isPerSession: false, mayNotFall: false, tolerancePercent: 5,
      words: "time to first frames an item"),
    ExperimentGuard(
      measure: .stalled, isPerSession: false, mayNotFall: false, tolerancePercent: 10,
      words: "stalls an item"),
    ExperimentGuard(
      measure: .bytes, isPerSession: true, mayNotFall: false, tolerancePercent: 25,
      words: "bytes a session"),
    ExperimentGuard(
      measure: .items, isPerSession: true, mayNotFall: true, tolerancePercent: 5,
      words: "items a session, as sessions end early"),
  ]
}
