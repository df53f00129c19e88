import Prefetch
import TestSupport
import Testing

@Suite struct StrategyTests {
  typealias Case = (name: String, parameters: [String: Int], error: StrategyError)

  @Test(arguments: [
    Policy.Strategy.plain(leading: 0), .plain(leading: 100), .weighted(leading: 7, maxCost: 0),
    .weighted(leading: 0, maxCost: 1_000_000), .standard(leading: 3), .endless,
    .thresholdFixed(percent: 70), .thresholdDynamic(percent: 1),
    .lazyTarget(leading: 4, trailing: 2), .rangeController(RangeTuning()), .stages(StageTuning()),
    .expectedWait(WaitTuning()),
  ])
  func `a strategy is read back from its name and parameters`(_ strategy: Policy.Strategy) throws {
    let parameters = Dictionary(
      uniqueKeysWithValues: strategy.parameters.map { ($0.name, $0.value) })
    #expect(try Policy.Strategy(name: strategy.name, parameters: parameters) == strategy)
    #expect(parameters["leading"].map { $0 == strategy.leading } ?? true)
    #expect(strategy.maxCost == parameters["maxCost"] ?? strategy.leading)
  }

  @Test func `the sample of the documentation runs, and is what the documentation shows`() throws {
    let fetches = firstFetches()
    #expect(fetches.count == 1)
    #expect(fetches[0].hasPrefix("https://example.org/small.mp4 0..<93750: "))
    let sample = try Repository.text("Tests/domain/PrefetchTests/Engine/firstFetches.swift")
    #expect(try Repository.text("docs/engine.md").contains("```swift\n\(sample)```"))
  }

  @Test(arguments: Policy.Strategy.usual)
  func `a parameter that is left out has its usual value`(_ strategy: Policy.Strategy) throws {
    #expect(try Policy.Strategy(name: strategy.name) == strategy)
    for (name, value) in strategy.parameters {
      #expect(try Policy.Strategy(name: strategy.name, parameters: [name: value]) == strategy)
    }
  }

  @Test(
    arguments: [
      ("", [:], .unknown("")), ("Plain", ["leading": 5], .unknown("Plain")),
      ("later", ["leading": 5], .unknown("later")),
      ("plain", ["leading": -1], .outOfRange("leading", -1, allowed: 0...100)),
      ("plain", ["leading": 101], .outOfRange("leading", 101, allowed: 0...100)),
      (
        "weighted", ["leading": 5, "maxCost": 1_000_001],
        .outOfRange("maxCost", 1_000_001, allowed: 0...1_000_000)
      ),
      ("plain", ["leading": 5, "maxCost": 5], .superfluous("maxCost")),
      ("weighted", ["leading": 5, "maxCost": 5, "b": 1, "a": 1], .superfluous("a")),
      ("endless", ["leading": 5], .superfluous("leading")),
      ("threshold-fixed", ["percent": 0], .outOfRange("percent", 0, allowed: 1...100)),
      ("expected-wait", ["price": -1], .outOfRange("price", -1, allowed: 0...1_000_000)),
    ] as [Case])
  func `what is no strategy is refused, with the reason`(_ sample: Case) {
    #expect(throws: sample.error) {
      try Policy.Strategy(name: sample.name, parameters: sample.parameters)
    }
  }
}
