import Experiments
import Feed
import Prefetch
import Reports
import TestSupport

/// Sessions that were drawn before, in portions, so that days of thousands are added up fast.
struct SimulatedSessions {
  private let portions: [(size: Int, cells: [ReportCell])]

  /// Of the same random numbers, sessions with fewer loaders are the same ones without some of these: by how much the
  /// two differ is then no matter of chance.
  ///
  /// - Parameters:
  ///   - loaders: loaders of 1000 items; a tenth of the sessions is on a bad network and has five times as many.
  ///   - kilobytes: bytes of an item.
  ///   - sizes: how many sessions a portion has, falling, the last one 1.
  init(
    loaders: Double, kilobytes: Int = 100, sizes: [Int] = [25, 5, 1], _ random: inout TestRandom
  ) {
    var portions: [(Int, [ReportCell])] = []
    for size in sizes {
      let cells = (0..<2_000 / size.squareRoot).map { _ in
        var cell = ReportCell()
        for _ in 0..<size {
          var own = TestRandom(random.next())
          cell.add(Self.session(loaders, kilobytes, &own))
        }
        return cell
      }
      portions.append((size, cells))
    }
    self.portions = portions
  }

  private static func session(
    _ loaders: Double, _ kilobytes: Int, _ random: inout TestRandom
  ) -> ReportCell {
    var part = ReportPart(session: "s", part: 0)
    part.figures.items = random.number(1...30) + random.number(0...69)
    let rate = loaders / 1_000 / 1.4 * (random.once(in: 10) ? 5 : 1)
    for _ in 0..<part.figures.items {
      let (drawn, wait) = (random.next() % 1_000_000, random.next() % 2_900)
      guard Double(drawn) < rate * 1e6 else { continue }
      part.figures.loaders[.video] += 1
      part.figures.waits.add(milliseconds: Double(100 + wait))
    }
    part.figures.bytes[.seen] = part.figures.items * kilobytes * random.number(500...1_500)
    return ReportCell(part)
  }

  /// Loaders of 1000 items, of all of them.
  var loadersPerThousand: Double {
    let all = portions.flatMap(\.cells)
    let met = all.reduce((items: 0, loaders: 0)) {
      ($0.items + $1.figures.items, $0.loaders + $1.figures.loaders.total)
    }
    return 1_000 * Double(met.loaders) / Double(met.items)
  }

  /// This many sessions.
  func sum(of count: Int, _ random: inout TestRandom) -> ReportCell {
    var (cell, rest) = (ReportCell(), count)
    for (size, cells) in portions {
      while rest >= size {
        cell.add(cells[Int(random.next() % UInt64(cells.count))])
        rest -= size
      }
    }
    return cell
  }
}

extension Int {
  fileprivate var squareRoot: Int { Swift.max(1, Int(Double(self).squareRoot())) }
}

/// An experiment that runs hour by hour on simulated sessions.
struct SimulatedExperiment {
  var experiment: PolicyExperiment
  /// How many of a thousand sessions really have the arm `b`; nil for as many as are to.
  var truePermille: Int?
  private(set) var sums: ExperimentSums
  private(set) var hour = 1_000

  init(kind: PolicyExperiment.Kind = .trial, limits: ExperimentLimits = ExperimentLimits()) {
    let share = kind == .trial ? limits.ramp[0] : 50
    let setting = Policy(name: "b", strategy: .plain(leading: 1))
    let first = Self.step(1, 1_000, .started, share)
    experiment = PolicyExperiment(
      id: 7, kind: kind, feed: "f", network: nil, setting: setting, salt: "salt", limits: limits,
      steps: [first])
    sums = ExperimentSums(experiment)
  }

  private static func step(
    _ id: Int, _ hour: Int, _ kind: ExperimentStep.Kind, _ share: Int
  ) -> ExperimentStep {
    ExperimentStep(
      id: id, takenAt: Timestamp(microseconds: Int64(hour) * 3_600_000_000), kind: kind,
      sharePermille: share, evidence: Array("{}".utf8))
  }

  private static func key(_ hour: Int, _ arm: String) -> ReportCellKey {
    ReportCellKey(hour: hour, feed: "f", policy: arm, arm: arm, network: "3g")
  }

  /// What may be said now.
  var finding: ExperimentFinding { ExperimentFinding(experiment, sums, atHour: hour) }

  /// Hours of sessions, and what is decided after each of them. It goes on where it ended once all stages are over.
  ///
  /// - Returns: what ended it, if anything did, and after how many hours.
  mutating func run(
    hours: Int, sessionsPerHour: Int, a: SimulatedSessions, b: SimulatedSessions,
    _ random: inout TestRandom
  ) -> (decision: ExperimentDecision, hours: Int)? {
    var cells: [(ReportCellKey, ReportCell)] = []
    for passed in 1...hours {
      let share = truePermille ?? experiment.steps[experiment.steps.count - 1].sharePermille
      let ofB = (0..<sessionsPerHour).count { _ in Int(random.next() % 1_000) < share }
      for (arm, sessions, count) in [("7.a", a, sessionsPerHour - ofB), ("7.b", b, ofB)] {
        let cell = sessions.sum(of: count, &random)
        cells.append((Self.key(hour, arm), cell))
        sums.add(Self.key(hour, arm), cell)
      }
      hour += 1
      guard let decision = experiment.decision(finding, sums, atHour: hour) else { continue }
      guard decision.kind == .ramped else { return (decision, passed) }
      let steps =
        experiment.steps
        + [Self.step(experiment.steps.count + 1, hour, .ramped, decision.sharePermille)]
      experiment = PolicyExperiment(
        id: 7, kind: experiment.kind, feed: "f", network: nil, setting: experiment.setting,
        salt: "salt", limits: experiment.limits, steps: steps)
      sums = ExperimentSums(experiment)
      for (key, cell) in cells { sums.add(key, cell) }
    }
    return nil
  }
}
