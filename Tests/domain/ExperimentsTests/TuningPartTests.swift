import Experiments
import Feed
import Prefetch
import Testing

/// What is tuned together, when, and what is not tried again.
@Suite struct TuningPartTests {
  private static let hour = 500_000
  private static let networks = NetworkProfile.usual

  private static func parts(_ sessions: [String: Int]) -> [TuningPart] {
    let byName = Dictionary(uniqueKeysWithValues: sessions.map { (ByteText($0.key), $0.value) })
    return TuningPart.parts(of: "f", sessions: byName, networks: networks)
  }

  @Test(
    arguments: [
      ([:], []),
      (["3g": 0], []),
      (["offline": 1_000_000], []),
      (["gone": 1_000_000], []),
      (["3g": 1], ["all networks 0: 3g"]),
      (["3g": 7_000, "lte": 14_000], ["all networks 3000: lte, 3g"]),
      (["3g": 69_999, "lte": 69_999], ["all networks 19998: 3g, lte"]),
      (["3g": 70_000, "lte": 700_000, "edge": 69_999], ["lte 100000: lte", "3g 10000: 3g"]),
    ] as [([String: Int], [String])])
  func `networks with many sessions are tuned each for itself`(
    _ sessions: [String: Int], _ expected: [String]
  ) {
    let parts = Self.parts(sessions)
    #expect(
      parts.map {
        "\($0.words) \($0.sessionsPerDay): \($0.profiles.map(\.name).joined(separator: ", "))"
      } == expected)
  }

  private static func experiment(
    _ id: Int, kind: PolicyExperiment.Kind = .trial, feed: String? = "f", network: String? = nil,
    of strategy: String = "endless", _ steps: [(ExperimentStep.Kind, Int)]
  ) throws -> PolicyExperiment {
    PolicyExperiment(
      id: id, kind: kind, feed: feed, network: network, setting: try Policy(text: strategy),
      salt: "s", limits: ExperimentLimits(),
      steps: steps.enumerated().map { index, step in
        ExperimentStep(
          id: 10 * id + index,
          takenAt: Timestamp(microseconds: Int64(hour - step.1) * 3_600_000_000),
          kind: step.0, sharePermille: 0, evidence: [])
      })
  }

  @Test func `a part is due when nothing was done about its sessions today`() throws {
    let part = try #require(Self.parts(["3g": 7_000]).first)
    for (experiments, isDue) in [
      ([], true),
      ([try Self.experiment(1, [(.kept, 20)])], true),
      ([try Self.experiment(1, [(.kept, 40), (.kept, 19)])], false),
      // By a clock that was wrong.
      ([try Self.experiment(1, [(.kept, -100)])], true),
      ([try Self.experiment(1, [(.started, 900)])], false),
      ([try Self.experiment(1, [(.started, 900), (.ended, 21)])], true),
      ([try Self.experiment(1, [(.started, 900), (.rolledBack, 3)])], false),
      ([try Self.experiment(1, [(.suggested, 100)])], false),
      ([try Self.experiment(1, [(.suggested, 168)])], true),
      ([try Self.experiment(1, feed: "g", [(.started, 1)])], true),
      ([try Self.experiment(1, network: "lte", [(.started, 1)])], false),
      // The hold-out of what was applied.
      ([try Self.experiment(1, kind: .holdout, network: "3g", [(.started, 1)])], true),
    ] as [([PolicyExperiment], Bool)] {
      #expect(
        part.isDue(experiments, atHour: Self.hour) == isDue, "\(experiments.map(\.steps))")
    }
  }

  @Test func `what was tried and lost is not tried again`() throws {
    let part = try #require(Self.parts(["3g": 7_000]).first)
    func lost(_ experiments: [PolicyExperiment]) -> [String] {
      part.lost(experiments, sinceHour: Self.hour - 100).map(\.name).sorted()
    }
    for (kind, isLost) in [
      (.rolledBack, true), (.stopped, true), (.ended, true), (.undone, true), (.applied, false),
      (.ramped, false),
    ] as [(ExperimentStep.Kind, Bool)] {
      let one = try Self.experiment(1, [(.started, 90), (kind, 50)])
      #expect(lost([one]) == (isLost ? ["endless"] : []), "\(kind)")
      let old = try Self.experiment(1, [(.started, 190), (kind, 101)])
      #expect(lost([old]) == [])
    }
    #expect(lost([try Self.experiment(1, [(.suggested, 90), (.stopped, 50)])]) == ["endless"])
    // Another suggestion took its place.
    #expect(lost([try Self.experiment(1, [(.suggested, 90), (.ended, 50)])]) == [])
    #expect(lost([try Self.experiment(1, [(.kept, 90)])]) == [])
    #expect(lost([try Self.experiment(1, feed: "g", [(.stopped, 50)])]) == [])
    // A hold-out that won: what had been applied is what lost, and not what it keeps.
    #expect(
      lost([
        try Self.experiment(
          3, kind: .holdout, network: "3g", of: "plain", [(.started, 60), (.takenBack, 9)]),
        try Self.experiment(2, [(.started, 90), (.applied, 60)]),
        try Self.experiment(1, of: "standard", [(.started, 98), (.applied, 95)]),
      ]) == ["endless"])
  }

  @Test func `an answer is read as it was written, and what is none is refused`() throws {
    var limits = ExperimentLimits()
    limits.sharePermille = 100
    let answers = [
      TuningAnswer(
        feed: "f\"", network: nil, against: "expected-wait:price=500", limits: limits,
        reason: "because",
        expected: LabExpectation(loadersPerThousand: (30.25, 12), kilobytes: (90, 100.5))),
      TuningAnswer(
        feed: "f", network: "3g", against: nil, limits: limits, reason: "nothing",
        expected: LabExpectation(loadersPerThousand: (0, 0), kilobytes: (1, 1))),
    ]
    #expect(TuningAnswer.answers(json: TuningAnswer.json(answers)) == answers)
    #expect(TuningAnswer.answers(json: TuningAnswer.json([])) == [])
    let whole = TuningAnswer.json(answers)
    for length in stride(from: 0, to: whole.count, by: 7) {
      #expect(TuningAnswer.answers(json: Array(whole.prefix(length))) == nil)
    }
    for wrong in ["{}", "[]", "{\"tunings\":[{}]}", "{\"tunings\":{}}"] {
      #expect(TuningAnswer.answers(json: Array(wrong.utf8)) == nil, "\(wrong)")
    }
    let inForce = Policy(name: "mine", strategy: .plain(leading: 5))
    #expect(try answers[1].trial(inForce: inForce).setting.name == "mine")
    #expect(try answers[0].trial(inForce: inForce).setting.strategy.name == "expected-wait")
    #expect(answers[0].expected.isBetter(byPercent: 60))
    #expect(!answers[0].expected.isBetter(byPercent: 61))
    #expect(!answers[1].expected.isBetter(byPercent: 0))
  }
}
