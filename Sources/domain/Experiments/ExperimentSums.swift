import Feed
import Prefetch
import Reports

/// What sessions of an arm met.
package struct ArmSums: Hashable, Sendable {
  /// Sessions that began.
  package var sessions = 0
  /// Of these, those of hours in which the share was the same throughout.
  package var sharedSessions = 0
  /// What they met.
  package var moments = SessionMoments()

  /// Nothing counted.
  package init() {}

  /// Adds what another one counted.
  package mutating func add(_ other: ArmSums) {
    sessions += other.sessions
    sharedSessions += other.sharedSessions
    moments.add(other.moments)
  }
}

/// What the arms of an experiment met: apart for each stage of its ramp. A stage has one share throughout, so that a
/// difference within it is one of the arms, and not of the days on which more sessions had the one or the other.
package struct ExperimentSums: Hashable, Sendable {
  /// What both arms met.
  package struct Pair: Hashable, Sendable {
    /// The policy in force.
    package var a = ArmSums()
    /// The other one.
    package var b = ArmSums()

    /// Nothing counted.
    package init() {}
  }

  /// A stage.
  package struct Stage: Hashable, Sendable {
    /// Its first hour, since 1970.
    package let hour: Int
    /// How many of a thousand sessions are to have the arm `b`.
    package let sharePermille: Int
    /// What was met.
    package var arms = Pair()
  }

  /// In the order in which they were.
  package private(set) var stages: [Stage]
  /// By network, over all stages.
  package private(set) var networks: [ByteText: Pair] = [:]
  private let names: (a: String, b: String)

  /// Nothing met yet.
  package init(_ experiment: PolicyExperiment) {
    stages = experiment.steps.filter(\.kind.isRunning).map {
      Stage(hour: $0.hour, sharePermille: $0.sharePermille)
    }
    names = (experiment.name(of: .a), experiment.name(of: .b))
  }

  /// The first hour that counts, in hours since 1970.
  package var sinceHour: Int { stages.first?.hour ?? 0 }

  /// Adds a cell if it is one of the experiment's.
  package mutating func add(_ key: ReportCellKey, _ cell: ReportCell) {
    let isB = key.arm.isSame(as: names.b)
    guard isB || key.arm.isSame(as: names.a),
      let place = stages.lastIndex(where: { $0.hour <= key.hour })
    else { return }
    var sums = ArmSums()
    sums.sessions = cell.sessions
    // In its first hour caches and clients have the share of before.
    sums.sharedSessions = key.hour > stages[place].hour ? cell.sessions : 0
    sums.moments = cell.moments
    let network = ByteText(key.network)
    if isB {
      stages[place].arms.b.add(sums)
      networks[network, default: Pair()].b.add(sums)
    } else {
      stages[place].arms.a.add(sums)
      networks[network, default: Pair()].a.add(sums)
    }
  }

  /// All stages together.
  package var total: Pair {
    stages.reduce(into: Pair()) { sum, stage in
      sum.a.add(stage.arms.a)
      sum.b.add(stage.arms.b)
    }
  }

  /// The same sums, whatever the arms are called.
  package static func == (left: Self, right: Self) -> Bool {
    left.stages == right.stages && left.networks == right.networks
  }

  /// Adds the stages.
  package func hash(into hasher: inout Hasher) { hasher.combine(stages) }
}
