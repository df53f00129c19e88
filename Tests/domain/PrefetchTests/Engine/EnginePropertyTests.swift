import Feed
import Foundation
import Prefetch
import TestSupport
import Testing

/// What holds of every strategy after whatever events.
@Suite struct EnginePropertyTests {
  static let strategies = EngineProperties.strategies

  @Test(arguments: strategies, TestRandom.seeds)
  func `whatever happens, what must hold of actions holds`(
    _ strategy: Policy.Strategy, _ seed: UInt64
  ) {
    var kinds: Set<Substring> = []
    for round in 0..<2 {
      var random = TestRandom(seed &+ UInt64(round))
      var client = EngineClient(EngineProperties.engine(strategy, &random))
      for _ in 0..<160 {
        client.step(&random)
        if !client.problems.isEmpty { break }
      }
      client.tell(.memoryWarned)
      client.checkHeld()
      #expect(
        client.problems.isEmpty,
        "\(client.problems.prefix(3)), round \(round): \(TestRandom.replay)")
      if !client.problems.isEmpty { return }
      kinds.formUnion(client.log.map { $0.split(separator: " ")[1].prefix { $0 != "(" } })
    }
    // All of it was done, so that what was held against it says something.
    let all: Set<Substring> = [
      "fetch", strategy.name == "weighted" ? "pause" : "cancel", "showPlaceholder",
      "ready", "showFrame", "evict", "waitUntil",
    ]
    #expect(
      seed != TestRandom.usualSeed || kinds.isSuperset(of: all),
      "\(all.subtracting(kinds)) never came")
  }

  /// What the fuzzer checks (`Tests/Fuzz`), of the inputs that it kept.
  @Test func `every sequence of the corpus keeps the properties`() throws {
    let inputs = try Corpus.inputs(of: "engine")
    #expect(!inputs.isEmpty)
    for input in inputs { #expect(EngineProperties.fault(in: input.bytes) == nil, "\(input.name)") }
  }

  @Test(arguments: strategies)
  func `the same events give the same actions, also to an engine that was put away meanwhile`(
    _ strategy: Policy.Strategy
  ) throws {
    for seed in TestRandom.seeds {
      var random = TestRandom(seed)
      var client = EngineClient(EngineProperties.engine(strategy, &random))
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

extension TestRandom: Choices {}
