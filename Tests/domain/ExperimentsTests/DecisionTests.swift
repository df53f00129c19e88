import Experiments
import Feed
import Prefetch
import Reports
import TestSupport
import Testing

/// What is decided, on simulated sessions.
@Suite struct DecisionTests {
  /// How many experiments are simulated.
  private static let count = TestRandom.often(200, nightly: 1_000)

  @Test(arguments: TestRandom.statisticalSeeds)
  func `of experiments of a policy with itself, at most one in twenty ever says different`(
    _ seed: UInt64
  ) {
    var random = TestRandom(seed)
    let sessions = SimulatedSessions(loaders: 30, &random)
    var decided: [ExperimentStep.Kind: Int] = [:]
    for _ in 0..<Self.count {
      var simulated = SimulatedExperiment()
      let end = simulated.run(
        hours: 14 * 24, sessionsPerHour: 83, a: sessions, b: sessions, &random)
      decided[end?.decision.kind ?? .ramped, default: 0] += 1
    }
    let wrong =
      decided[.rolledBack, default: 0] + decided[.applied, default: 0]
      + decided[.stopped, default: 0]
    print(
      "a policy with itself, 14 days of 2000 sessions:", decided.map { ($0.key.rawValue, $0.value) }
    )
    #expect(wrong <= Self.count / 20, "\(decided), \(TestRandom.replay)")
  }

  @Test(arguments: TestRandom.statisticalSeeds)
  func `a fifth more loaders is found within a day of ten thousand sessions`(_ seed: UInt64) {
    var random = TestRandom(seed)
    let (a, b) = (
      SimulatedSessions(loaders: 30, &random), SimulatedSessions(loaders: 36, &random)
    )
    var hours: [Int] = []
    for _ in 0..<Self.count {
      var simulated = SimulatedExperiment()
      let end = simulated.run(hours: 24, sessionsPerHour: 417, a: a, b: b, &random)
      if let end, end.decision.kind == .rolledBack { hours.append(end.hours) }
    }
    hours.sort()
    print(
      "a fifth more loaders: rolled back", hours.count, "of", Self.count, "median hours",
      hours.isEmpty ? 0 : hours[hours.count / 2])
    #expect(hours.count >= Self.count * 95 / 100, TestRandom.replay)
  }

  /// The table of docs/experiments.md; at night of 200 experiments each.
  @Test(arguments: TestRandom.statisticalSeeds)
  func `the difference that an experiment says it would find by its end is found in four of five`(
    _ seed: UInt64
  ) {
    let count = TestRandom.often(20, nightly: 200)
    for perDay in TestRandom.often([10_000], nightly: [1_000, 10_000, 100_000]) {
      func sessions(loaders: Double) -> SimulatedSessions {
        var random = TestRandom(seed)
        return SimulatedSessions(
          loaders: loaders, sizes: perDay < 50_000 ? [25, 5, 1] : [625, 25, 5, 1], &random)
      }
      let usual = sessions(loaders: 30)
      var random = TestRandom(seed &+ 1)
      // By the theory: of both arms equally many for all of the days.
      var pair = ExperimentSums.Pair()
      for _ in 0..<100 {
        for arm in [\ExperimentSums.Pair.a, \.b] {
          let cell = usual.sum(of: perDay / 2, &random)
          pair[keyPath: arm].sessions += cell.sessions
          pair[keyPath: arm].moments.add(cell.moments)
        }
      }
      let difference = ArmDifference(.loaders, isPerSession: false, [pair])!
      let theory =
        100 * difference.detectable(error: ExperimentFinding.error, sessions: 0.14)
        / difference.base
      for factor in [0.7, 1, 1.4] {
        let fewer = sessions(loaders: 30 * (1 - factor * theory / 100))
        let truly = 100 * (1 - fewer.loadersPerThousand / usual.loadersPerThousand)
        var (applied, said) = (0, [Double]())
        for _ in 0..<count {
          var limits = ExperimentLimits()
          // Otherwise small differences end it as none that matter.
          limits.marginPercent = 0
          var simulated = SimulatedExperiment(limits: limits)
          func run(hours: Int) -> ExperimentStep.Kind? {
            simulated.run(
              hours: hours, sessionsPerHour: perDay / 24, a: usual, b: fewer, &random)?
              .decision.kind
          }
          let early = run(hours: 36)
          said.append(simulated.finding.detectablePercent ?? .infinity)
          applied += (early ?? run(hours: 14 * 24 - 36)) == .applied ? 1 : 0
        }
        said.sort()
        print(
          "\(perDay) sessions a day: theory \(theory) %, said on the second day \(said[count / 2]) %, "
            + "planted \(truly) %: found in \(applied) of \(count)")
        let share = Double(applied) / Double(count)
        switch factor {
        case 1: #expect((0.5...0.98).contains(share), "\(perDay): \(share), \(TestRandom.replay)")
        case ..<1: #expect(share < 0.75, "\(perDay): \(share), \(TestRandom.replay)")
        default: #expect(share > 0.85, "\(perDay): \(share), \(TestRandom.replay)")
        }
        #expect(
          (0.8...1.25).contains(said[count / 2] / theory),
          "\(perDay): \(said[count / 2]) beside \(theory), \(TestRandom.replay)")
      }
    }
  }

  @Test(arguments: TestRandom.statisticalSeeds)
  func `a better policy is applied, and a holdout takes back a worse one`(_ seed: UInt64) {
    var random = TestRandom(seed)
    let (many, few) = (
      SimulatedSessions(loaders: 40, &random), SimulatedSessions(loaders: 28, &random)
    )
    for _ in 0..<20 {
      var trial = SimulatedExperiment()
      let end = trial.run(hours: 14 * 24, sessionsPerHour: 417, a: many, b: few, &random)
      #expect(end?.decision.kind == .applied, "\(String(describing: end)), \(TestRandom.replay)")
      // Never by the few sessions of the first stages.
      #expect(trial.experiment.steps.map(\.sharePermille) == [10, 50, 250, 500])
      var holdout = SimulatedExperiment(kind: .holdout)
      let back = holdout.run(hours: 30 * 24, sessionsPerHour: 417, a: many, b: few, &random)
      #expect(
        back?.decision.kind == .takenBack, "\(String(describing: back)), \(TestRandom.replay)")
      var good = SimulatedExperiment(kind: .holdout)
      #expect(good.run(hours: 10 * 24, sessionsPerHour: 417, a: few, b: many, &random) == nil)
    }
  }

  @Test(arguments: TestRandom.statisticalSeeds)
  func `more bytes than may be break a guard, though there are fewer loaders`(_ seed: UInt64) {
    var random = TestRandom(seed)
    let (a, b) = (
      SimulatedSessions(loaders: 30, kilobytes: 100, &random),
      SimulatedSessions(loaders: 25, kilobytes: 160, &random)
    )
    var simulated = SimulatedExperiment()
    let end = simulated.run(hours: 10 * 24, sessionsPerHour: 417, a: a, b: b, &random)
    #expect(end?.decision.kind == .rolledBack, TestRandom.replay)
    #expect(end?.decision.reason == "it broke a guard: bytes a session", TestRandom.replay)
  }

  /// A client that always takes the arm `b`, a cache that drops the parameter, a tenth of the clients that do not draw.
  @Test(arguments: TestRandom.statisticalSeeds)
  func `wrong shares stop an experiment`(_ seed: UInt64) {
    var random = TestRandom(seed)
    let sessions = SimulatedSessions(loaders: 30, &random)
    for (share, most) in [(1_000, 24), (0, 24), (450, 14 * 24)] {
      var simulated = SimulatedExperiment()
      simulated.truePermille = share
      let end = simulated.run(
        hours: most, sessionsPerHour: 417, a: sessions, b: sessions, &random)
      #expect(end?.decision.kind == .stopped, "\(share): \(TestRandom.replay)")
      #expect(end?.decision.reason.hasPrefix("the shares are wrong: ") == true)
    }
  }

  @Test func `with nothing met nothing is decided before the end`() {
    var simulated = SimulatedExperiment()
    var random = TestRandom(1)
    let none = SimulatedSessions(loaders: 0, &random)
    let end = simulated.run(hours: 14 * 24 + 1, sessionsPerHour: 0, a: none, b: none, &random)
    #expect(end?.decision.kind == .ended && end?.hours == 14 * 24)
    var calm = SimulatedExperiment()
    // Neither arm has a loader: that is no proof.
    let last = calm.run(hours: 14 * 24, sessionsPerHour: 40, a: none, b: none, &random)
    #expect(last?.decision.reason.hasPrefix("undecided after 14 days: ") == true)
  }

  @Test func `of sessions in parts the squares are those of whole sessions`() {
    var random = TestRandom(2)
    var (whole, parts) = (SessionMoments(), SessionMoments())
    for _ in 0..<200 {
      var (all, met) = (ReportFigures(), SessionTotals())
      for _ in 0..<random.number(1...5) {
        var figures = ReportFigures()
        figures.items = random.number(0...900)
        figures.loaders[.image] = random.number(0...9)
        figures.waits.add(random.number(0...9), inBin: random.number(0...100))
        figures.stalledMilliseconds = random.number(0...9_999)
        figures.bytes[.left] = random.number(0...2_000_000_000)
        parts.add(SessionMoments(of: figures, before: met))
        met.add(figures)
        all.add(figures)
      }
      var once = SessionTotals()
      once.add(all)
      #expect(abs(once[.waiting] - met[.waiting]) <= 5)
      // Bins are rounded by the part; all else is the same to the last digit.
      var sum = SessionMoments(of: all, before: SessionTotals())
      let index = SessionMeasure.waiting.rawValue
      (sum.sums[index], sum.squares[index], sum.timesItems[index]) = (0, 0, 0)
      whole.add(sum)
    }
    let index = SessionMeasure.waiting.rawValue
    (parts.sums[index], parts.squares[index], parts.timesItems[index]) = (0, 0, 0)
    #expect(whole == parts)
  }
}
