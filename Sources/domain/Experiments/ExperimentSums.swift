import Feed
import Prefetch
import Reports

/// The sums of sessions of an arm.
package struct ArmSums: Hashable, Sendable {
  /// The number of sessions that began.
  package var sessions = 0
  /// The number of these that began in hours with a constant share.
  package var sharedSessions = 0
  /// The moments of the sessions.
  package var moments = SessionMoments()

  /// Creates sums of zero.
  package init() {}

  /// Adds other sums.
  package mutating func add(_ other: ArmSums) {
    sessions += other.sessions
    sharedSessions += other.sharedSessions
    moments.add(other.moments)
  }
}

/// The sums of an experiment's arms, separately for each stage of its ramp. A stage has a constant share,
/// so a difference within it is caused by the arms, and not by the days on which more sessions had one of
/// them.
package struct ExperimentSums: Hashable, Sendable {
  /// The sums of both arms.
  package struct Pair: Hashable, Sendable {
    /// The arm with the policy in force.
    package var a = ArmSums()
    /// The arm with the other policy.
    package var b = ArmSums()

    /// Creates sums of zero.
    package init() {}
  }

  /// A stage of the ramp.
  package struct Stage: Hashable, Sendable {
    /// The first hour, in hours since 1970.
    package let hour: Int
    /// The intended share of the arm `b`, in thousandths of the sessions.
    package let sharePermille: Int
    /// The sums of the stage.
    package var arms = Pair()
  }

  /// The stages, in order.
  package private(set) var stages: [Stage]
  /// The sums by network, over all stages.
  package private(set) var networks: [ByteText: Pair] = [:]
  private let names: (a: String, b: String)

  /// Creates sums of zero.
  package init(_ experiment: PolicyExperiment) {
    stages = experiment.steps.filter(\.kind.isRunning).map {
      Stage(hour: $0.hour, sharePermille: $0.sharePermille)
    }
    names = (experiment.name(of: .a), experiment.name(of: .b))
  }

  /// The first hour of the sums, in hours since 1970.
  package var sinceHour: Int { stages.first?.hour ?? 0 }

  /// Adds a cell if it is one of the experiment's.
  package mutating func add(_ key: ReportCellKey, _ cell: ReportCell) {
    let isB = key.arm.isSame(as: names.b)
    guard isB || key.arm.isSame(as: names.a),
      let place = stages.lastIndex(where: { $0.hour <= key.hour })
    else { return }
    var sums = ArmSums()
    sums.sessions = cell.sessions
    // In its first hour, caches and clients still use the previous share.
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

  /// The sums of all stages.
  package var total: Pair {
    stages.reduce(into: Pair()) { sum, stage in
      sum.a.add(stage.arms.a)
      sum.b.add(stage.arms.b)
    }
  }

  /// Whether the sums are equal; ignores the names of the arms.
  package static func == (left: Self, right: Self) -> Bool {
    left.stages == right.stages && left.networks == right.networks
  }

  /// Hashes the stages.
  package func hash(into hasher: inout Hasher) { hasher.combine(stages) }
}
