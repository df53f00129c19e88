import Feed
import Foundation
import Prefetch
import TestSupport
import Testing

/// What holds of every strategy after whatever events.
@Suite struct EnginePropertyTests {
  static let strategies: [Policy.Strategy] = [
    .plain(leading: 5), .weighted(leading: 5, maxCost: 5), .standard(leading: 2), .endless,
    .thresholdFixed(percent: 70), .thresholdDynamic(percent: 70),
    .lazyTarget(leading: 2, trailing: 1), .rangeController(RangeTuning()), .stages(StageTuning()),
    .expectedWait(WaitTuning(stepBytes: 1_024, futures: 8, leading: 6)),
  ]

  /// A policy and settings in which files of a few KB are large.
  static func engine(
    _ strategy: Policy.Strategy, _ random: inout TestRandom
  ) -> PrefetchEngine {
    let policy = Policy(
      name: strategy.name, strategy: strategy, videoStartBytes: 900, videoBytes: 3_000,
      videoKbps: 8, imageBytes: 700, webappBytes: 500)
    var settings = PrefetchSettings()
    settings.heldItems = 256
    settings.heldFiles = random.number(1...200)
    settings.heldBytes = random.number(20_000...200_000)
    settings.speculativeBytes = random.number(0...30_000)
    settings.saveDataSpeculativeBytes = random.once(in: 2) ? 0 : 1_000
    settings.meteredSpeculativeBytes = random.number(0...6_000)
    settings.stressSpeculativeBytes = random.number(0...6_000)
    settings.parallelTransfers = random.number(1...6)
    settings.pausedTransfers = random.number(0...4)
    settings.downlinkKbps = random.number(1...400)
    settings.flingMilliitemsPerSecond = 3_000
    settings.retryLimitMilliseconds = 2_000
    return PrefetchEngine(policy: policy, settings: settings)
  }

  @Test(arguments: strategies, TestRandom.seeds)
  func `whatever happens, what must hold of actions holds`(
    _ strategy: Policy.Strategy, _ seed: UInt64
  ) {
    var kinds: Set<Substring> = []
    for round in 0..<3 {
      var random = TestRandom(seed &+ UInt64(round))
      var client = EngineClient(Self.engine(strategy, &random))
      for _ in 0..<200 {
        client.step(&random)
        if !client.problems.isEmpty { break }
      }
      client.checkHeld()
      #expect(
        client.problems.isEmpty,
        "\(client.problems.prefix(3)), round \(round): \(TestRandom.replay)")
      if !client.problems.isEmpty { return }
      kinds.formUnion(client.log.map { $0.split(separator: " ")[1].prefix { $0 != "(" } })
    }
    // All of it was done, so that what was held against it says something.
    let all: Set<Substring> = [
      "fetch", strategy.name == "weighted" ? "pause" : "cancel", "askForPage", "showPlaceholder",
      "ready", "showFrame", "evict", "waitUntil",
    ]
    #expect(kinds.isSuperset(of: all), "\(all.subtracting(kinds)) never came")
  }

  @Test(arguments: strategies)
  func `the same events give the same actions, also to an engine that was put away meanwhile`(
    _ strategy: Policy.Strategy
  ) throws {
    for seed in TestRandom.seeds {
      var random = TestRandom(seed)
      var client = EngineClient(Self.engine(strategy, &random))
      for step in 0..<120 {
        if step % 30 == 0 {
          let away = try JSONEncoder().encode(client.engine)
          let back = try JSONDecoder().decode(PrefetchEngine.self, from: away)
          #expect(back == client.engine)
          var (other, otherRandom) = (client, random)
          other.engine = back
          for _ in 0..<10 {
            client.step(&random)
            other.step(&otherRandom)
          }
          #expect(client.log == other.log, TestRandom.replay)
          #expect(client.engine == other.engine, TestRandom.replay)
        }
        client.step(&random)
      }
    }
  }
}
