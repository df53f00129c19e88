// An experiment holds a policy (arm `b`) against the one in force (arm `a`) on a feed and network. A page names the
// experiment that runs (`RunningExperiment`, in `Prefetch`), the client draws its arm, and its report says which it was.
// `ExperimentSums` adds up the cells of reports by arm and stage; `ExperimentFinding` says what they allow to be said,
// whenever one looks; `PolicyExperiment.decision` says what is to be done. All of it is pure: a server's
// `ExperimentKeeper` reads, decides and writes, one server of a fleet at a time (`ExperimentStore.holdLease`).
//
// What was done is an append-only list of steps: the experiment's state is its last step. A step is written only
// behind the step that it was decided on.

import Feed
import Prefetch
import Reports

/// An experiment on a policy, with all that was done about it.
package struct PolicyExperiment: Hashable, Sendable {
  /// What it is for.
  package enum Kind: String, Sendable {
    /// A policy is tried; if it is better, it becomes the policy in force.
    case trial
    /// A policy is in force, and the one of before stays with a few sessions, so that it is seen if that was better.
    case holdout
  }

  /// Its number.
  package let id: Int
  /// What it is for.
  package let kind: Kind
  /// Whose policy it is on; `nil` for all feeds without a policy of their own.
  @ByBytes package private(set) var feed: String?
  /// On which network; `nil` for all.
  @ByBytes package private(set) var network: String?
  /// What the arm `b` loads by: strategy, weights of images and videos, name.
  package let setting: Policy
  /// Makes its draws independent of those of others.
  package let salt: String
  /// When it is decided, and when it is stopped.
  package let limits: ExperimentLimits
  /// What was done, in order; the first one began it.
  package let steps: [ExperimentStep]

  /// An experiment as it is stored; it has a step at least.
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

  /// When it began.
  package var startedAt: Timestamp { steps.first?.takenAt ?? Timestamp(microseconds: 0) }
  /// Whether sessions draw arms.
  package var isRunning: Bool { steps.last?.kind.isRunning ?? false }

  /// Whether it is suggested, and not begun.
  package var isWaiting: Bool { steps.last?.kind == .suggested }

  /// As pages have it; nil where it does not run.
  package var running: RunningExperiment? {
    guard isRunning, let last = steps.last else { return nil }
    return RunningExperiment(
      id: id, feed: feed, network: network, salt: salt, sharePermille: last.sharePermille,
      setting: setting)
  }

  /// What reports of an arm's sessions say.
  package func name(of arm: ExperimentArm) -> String { "\(id).\(arm.rawValue)" }

  /// Whether it would try two policies on the same sessions as another one.
  package func overlaps(feed: String?, network: String?) -> Bool {
    let sameFeed =
      self.feed.map { mine in feed.map(mine.isSame) ?? false } ?? (feed == nil)
    return sameFeed
      && (self.network.map { mine in network.map(mine.isSame) ?? true } ?? true)
  }
}

extension PolicyExperiment {
  /// Whether it is one of the same policy on the same sessions.
  package func isSame(as trial: NewTrial) -> Bool {
    func same(_ mine: String?, _ other: String?) -> Bool {
      mine.map { mine in other.map(mine.isSame) ?? false } ?? (other == nil)
    }
    return same(feed, trial.feed) && same(network, trial.network)
      && setting.strategy == trial.setting.strategy
  }
}

/// What was done about an experiment.
package struct ExperimentStep: Hashable, Sendable {
  /// What it was.
  package enum Kind: String, CaseIterable, Sendable {
    /// The tuner suggests it: no session has the arm `b`.
    case suggested
    /// The tuner found nothing better than this policy, which is in force.
    case kept
    /// It began.
    case started
    /// More sessions have the arm `b` from then on.
    case ramped
    /// The arm `b` was worse, or broke a guard: all have `a` again.
    case rolledBack
    /// The arm `b` was better, and is the policy in force.
    case applied
    /// The policy that had been applied was worse than the one of before, which is in force again.
    case takenBack
    /// It ended without a difference that matters, or without anything to be said.
    case ended
    /// Somebody stopped it, or its shares were wrong.
    case stopped
    /// Somebody took back what it had applied.
    case undone

    /// Whether sessions draw arms after it.
    package var isRunning: Bool { self == .started || self == .ramped }
  }

  /// Its number: rising over all experiments.
  package let id: Int
  /// When it was taken.
  package let takenAt: Timestamp
  /// What it was.
  package let kind: Kind
  /// How many of a thousand sessions have the arm `b` from then on.
  package let sharePermille: Int
  /// Why, and by what figures: a JSON object.
  package let evidence: [UInt8]

  /// A step as it is stored.
  package init(
    id: Int, takenAt: Timestamp, kind: Kind, sharePermille: Int, evidence: [UInt8]
  ) {
    self.id = id
    self.takenAt = takenAt
    self.kind = kind
    self.sharePermille = sharePermille
    self.evidence = evidence
  }

  /// The hour in which it was taken, in hours since 1970.
  package var hour: Int { Int(takenAt.microseconds / 3_600_000_000) }
}

/// When an experiment is decided, and when it is stopped.
package struct ExperimentLimits: Hashable, Sendable {
  /// How many of a thousand sessions have the arm `b` at the most: 1 to 500.
  package var sharePermille = 500
  /// What is no difference that matters, in percent of the loaders of the policy in force.
  package var marginPercent = 5
  /// After how many days it ends undecided.
  package var days = 14

  /// The defaults.
  package init() {}

  /// What they may be.
  package static let shares = 1...500
  /// What margins may be, in percent.
  package static let margins = 0...100
  /// How long an experiment may take, in days: as long as reports are kept.
  package static let dayRange = 1...3_650

  /// The shares of the arm `b`, rising: of a bad policy few meet much.
  package var ramp: [Int] { [10, 50, 250].filter { $0 < sharePermille } + [sharePermille] }
}

/// A guard: a figure that may not get worse by more than it may.
package struct ExperimentGuard: Hashable, Sendable {
  /// What is looked at.
  package let measure: SessionMeasure
  /// Of a session, and not of an item.
  package let isPerSession: Bool
  /// It may not fall; others may not rise.
  package let mayNotFall: Bool
  /// By how much it may change, in percent of that of the policy in force.
  package let tolerancePercent: Double
  /// What it is called.
  package let words: String

  /// All of them. Loaders are no guard: they decide.
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
