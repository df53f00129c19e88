import Prefetch
import TestSupport
import Testing

@testable import Lab

/// What a sweep writes, and `lab apply` reads.
@Suite struct TuningEvidenceTests {
  private static let experiment: Experiment = {
    let settings: [Contestant] = [1, 5].map { most in
      Contestant(
        name: "max=\(most)",
        policy: Policy(
          name: "weighted", strategy: .weighted(leading: 20, maxCost: most), imageWeight: 3,
          videoWeight: 4))
    }
    return Experiment(
      contestants: settings + [Contestant(.expectedWait(WaitTuning(price: 700)))],
      networks: [SimulationTests.profile("dsl")], feed: .generated(FeedModel()), viewer: .steady,
      items: 40, repeats: 6, seed: 9)
  }()

  private static func swept(_ objective: Objective) -> (Tuning, TuningEvidence, [UInt8]) {
    let tuning = experiment.tune(objective, searches: false) { count, body in
      for index in 0..<count { body(index) }
    }
    let evidence = TuningEvidence(
      tuning, of: experiment, feed: "made \"up\"", viewer: "one item a second", margin: 2)
    return (tuning, evidence, tuning.json(evidence, margin: 2))
  }

  @Test func `what a sweep writes is read back as the setting that won`() throws {
    for objective in [
      Objective(.delayMilliseconds, .kilobytes(1_000)),
      Objective(.loaders, .priced(perMegabyte: 1e6)),
    ] {
      let (tuning, evidence, json) = Self.swept(objective)
      let read = try TuningEvidence(sweep: json)
      let winner = Self.experiment.contestants[tuning.contestant]
      #expect(read.policy.strategy == winner.policy.strategy)
      #expect(read.policy.name == winner.name)
      #expect(read.policy.imageWeight == winner.policy.imageWeight)
      #expect(read.policy.videoWeight == winner.policy.videoWeight)
      #expect(read.isOther == evidence.isOther && read.isOther == (tuning.contestant != 0))
      #expect(read.json == evidence.json && read.json.count < TuningEvidence.byteLimit)
      let text = String(decoding: json, as: UTF8.self)
      for words in [
        #""seed":9"#, #""tunedOn":["dsl"]"#, #""feed":"made \"up\"""#, #""repeats":6"#,
        #""heldBack":{"networks":[],"feed":"other feeds","otherViewers":false}"#,
        #""measure":"\#(objective.measure.rawValue)""#,
        #""loaders":\#(fixed(tuning.judged.mean(0, .loaders), 3))"#,
      ] { #expect(text.contains(words), "\(words)") }
    }
  }

  @Test(arguments: [
    ("{", "the file is not JSON"), ("[]", "\"evidence\" is missing"),
    (#"{"evidence":{}}"#, "\"policy\" is missing"),
    (
      #"{"evidence":{"isOther":true,"policy":{"name":"a","strategy":"fastest","parameters":{},"weights":{"image":1,"video":2}}}}"#,
      "there is no strategy \"fastest\""
    ),
    (
      #"{"evidence":{"isOther":true,"policy":{"name":"a","strategy":"plain","parameters":{"leading":101},"weights":{"image":1,"video":2}}}}"#,
      "the parameter \"leading\" cannot be 101"
    ),
    (
      #"{"evidence":{"isOther":true,"policy":{"name":"a","strategy":"plain","parameters":{"leading":1},"weights":{"image":-1,"video":2}}}}"#,
      "\"policy\" is missing"
    ),
  ]) func `what is no evidence is refused in words`(text: String, words: String) {
    let error = #expect(throws: TuningEvidenceError.self) {
      try TuningEvidence(sweep: Array(text.utf8))
    }
    #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
  }
}
