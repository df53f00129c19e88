import Prefetch

/// What decides what happens next: random numbers, or a fuzzer's bytes.
protocol Choices {
  /// A number of the range.
  mutating func number(_ range: ClosedRange<Int>) -> Int
}

extension Choices {
  /// True one time in this many.
  mutating func once(in times: Int) -> Bool { number(1...times) == 1 }

  mutating func one<Element>(of elements: [Element]) -> Element {
    elements[number(0...elements.count - 1)]
  }
}

/// Bytes as choices: each takes as many as its range needs, and where there are none left, the least.
struct ByteChoices: Choices {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isEmpty: Bool { rest.isEmpty }

  mutating func number(_ range: ClosedRange<Int>) -> Int {
    let span = UInt(range.upperBound - range.lowerBound) + 1
    var value: UInt = 0
    var bytes = span <= 256 ? 1 : span <= 65_536 ? 2 : 4
    while bytes > 0, let byte = rest.popFirst() {
      value = value << 8 | UInt(byte)
      bytes -= 1
    }
    return range.lowerBound + Int(value % span)
  }
}

/// What must hold of the engine, whatever events come.
enum EngineProperties {
  static let strategies: [Policy.Strategy] =
    tuned
    + Policy.Strategy.usual.filter { usual in !tuned.contains { $0.name == usual.name } }

  /// Those with other parameters than the usual ones, for files of a few KB.
  private static let tuned: [Policy.Strategy] = [
    .plain(leading: 5), .weighted(leading: 5, maxCost: 5), .standard(leading: 2), .endless,
    .thresholdFixed(percent: 70), .thresholdDynamic(percent: 70),
    .lazyTarget(leading: 2, trailing: 1), .rangeController(RangeTuning()), .stages(StageTuning()),
    .expectedWait(WaitTuning(stepBytes: 1_024, futures: 8, leading: 6)),
  ]

  /// What does not hold, as a sentence.
  static func fault(in input: [UInt8]) -> String? {
    var choices = ByteChoices(input)
    let strategy = choices.one(of: strategies)
    var client = EngineClient(engine(strategy, &choices))
    while !choices.isEmpty, client.problems.isEmpty { client.step(&choices) }
    client.checkHeld()
    return client.problems.first
  }

  /// A policy and settings for which files of a few KB are large.
  static func engine(
    _ strategy: Policy.Strategy, _ random: inout some Choices
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
}
