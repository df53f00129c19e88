import Prefetch
import TestSupport
import Testing

@testable import Lab

/// Runs of the real engine, and what must hold of any.
@Suite struct SimulationTests {
  static func profile(_ name: String) -> LabNetwork {
    LabNetwork(NetworkProfile.usual.first { $0.name == name }!)
  }

  static let feed = FeedModel().feed(count: 400, random: LabRandom(seed: 5))
  static let strategies: [Policy.Strategy] = [
    .endless, .plain(leading: 5), .weighted(leading: 5, maxCost: 5), .standard(leading: 1),
    .thresholdFixed(percent: 70), .thresholdDynamic(percent: 70),
    .lazyTarget(leading: 2, trailing: 1), .rangeController(RangeTuning()),
    .stages(StageTuning()), .expectedWait(WaitTuning()),
  ]

  static var busy: ViewerModel {
    var model = ViewerModel.watching(ViewerTests.watch)
    model.flingPermille = 80
    model.turnPermille = 80
    return model
  }

  static func setup(
    _ network: LabNetwork, _ viewer: ViewerModel = .steady, items: Int = 30
  ) -> Simulation.Setup {
    Simulation.Setup(feed: feed, viewer: viewer, network: network, items: items)
  }

  @Test
  func `over a link that is nearly full ours has fewer loaders, less waiting and fewer bytes`() {
    let setup = Self.setup(Self.profile("3g"), items: 150)
    let (weighted, ours) = (
      Simulation.run(Contestant(.weighted(leading: 5, maxCost: 5)), setup, seed: 3),
      Simulation.run(Contestant(.expectedWait(WaitTuning())), setup, seed: 3)
    )
    #expect(ours.loaders < weighted.loaders)
    #expect(ours.waitedMilliseconds < weighted.waitedMilliseconds)
    #expect(ours.fetchedBytes < weighted.fetchedBytes)
  }

  @Test(arguments: TestRandom.seeds)
  func `the same seed is the same run, and its counts agree with each other`(seed: UInt64) {
    for strategy in Self.strategies {
      // Ours takes much longer to decide.
      let isOurs = strategy.name == "expected-wait"
      for (network, isHinted) in [("3g", true), ("very-bad", false), ("lte", true)]
      where !isOurs || network == "lte" {
        let setup = Self.setup(Self.profile(network), Self.busy)
        let contestant = Contestant(strategy, isHinted: isHinted)
        let run = Simulation.run(contestant, setup, seed: seed)
        let again = Simulation.explain(contestant, setup, seed: seed).figures
        #expect(run == again, TestRandom.replay)
        #expect(run.viewedItems == 30, "\(strategy.title) \(network)")
        // Whoever finds a loader waits, and nobody else; on a page and then on its item is one wait.
        #expect(run.waitsMilliseconds.count == run.loaders, TestRandom.replay)
        #expect((0...run.fetchedBytes).contains(run.wastedBytes), TestRandom.replay)
        #expect(run.requests >= run.pages && run.pages > 0)
      }
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `strategies see the same viewer`(seed: UInt64) {
    func steps(_ strategy: Policy.Strategy) -> [String] {
      Simulation.explain(
        Contestant(strategy), Self.setup(Self.profile("dsl"), Self.busy), seed: seed
      ).lines.compactMap { line in
        guard let place = line.range(of: "looks at ") else { return nil }
        return String(line[place.upperBound...].prefix { $0 != ":" })
      }
    }
    let expected = steps(.endless)
    #expect(expected.count >= 30)
    for strategy in Self.strategies { #expect(steps(strategy) == expected, "\(strategy.title)") }
  }

  @Test(arguments: TestRandom.seeds)
  func `loading ahead over an idle link makes nothing ready later`(seed: UInt64) {
    // Everybody stays so long that all of an item is there, and what is loaded ahead, too.
    let viewer = ViewerModel(dwell: .fixed(milliseconds: 120_000))
    for network in ["3g", "edge", "dsl", "lte"] {
      func waits(_ strategy: Policy.Strategy) -> RunFigures {
        Simulation.run(
          Contestant(strategy), Self.setup(Self.profile(network), viewer, items: 25), seed: seed)
      }
      let none = waits(.endless)
      for strategy in [
        Policy.Strategy.plain(leading: 1), .standard(leading: 1), .weighted(leading: 1, maxCost: 2),
      ] {
        let ahead = waits(strategy)
        #expect(ahead.loaders <= 1, "\(network) \(strategy.title)")
        #expect(ahead.waitedMilliseconds <= none.waitedMilliseconds, TestRandom.replay)
      }
      #expect(none.loaders >= 24)
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `more bandwidth means no more loaders`(seed: UInt64) {
    for strategy in [
      Policy.Strategy.plain(leading: 5), .weighted(leading: 5, maxCost: 5), .endless,
    ] {
      var last = Double.infinity
      for kbps in [250, 500, 1_000, 4_000, 16_000] {
        let network = LabNetwork(
          NetworkProfile(
            name: "\(kbps)", title: "", downlinkKbps: kbps, uplinkKbps: 400,
            roundTripMilliseconds: 100))
        let loaders = (0..<4).map {
          Simulation.run(
            Contestant(strategy), Self.setup(network, Self.busy), seed: seed &+ UInt64($0)
          ).value(.loaders)
        }
        let mean = loaders.reduce(0, +) / 4
        // On average: one run may have a loader more where another item happens to be under way.
        #expect(mean <= last + 10, "\(strategy.title) at \(kbps)")
        last = mean
      }
    }
  }

  @Test func `over a dead link there is one viewer, who waits for ever`() {
    let run = Simulation.run(
      Contestant(.plain(leading: 5)), Self.setup(Self.profile("offline")), seed: 1)
    #expect(run.viewedItems == 0 && run.fetchedBytes == 0)
  }

  @Test func `what a run tells in words has each loader and each byte`() {
    let (run, lines) = Simulation.explain(
      Contestant(.weighted(leading: 5, maxCost: 5)), Self.setup(Self.profile("3g")), seed: 3)
    #expect(
      lines.filter { $0.contains(": loader") || $0.contains("loader: the page") }.count
        >= run.loaders)
    let bytes = lines.compactMap { line -> Int? in
      guard let place = line.range(of: " bytes of ") else { return nil }
      return line[..<place.lowerBound].split(separator: " ").last.flatMap { Int($0) }
    }
    #expect(bytes.reduce(0, +) == run.fetchedBytes)
  }

  @Test func `a clip that starts in time but comes too slowly stalls`() {
    // 2 s at 800 kbit/s, then 8 s at 2400 kbit/s, over 1000 kbit/s.
    let seconds = (1...10).map { 100_000 * min($0, 2) + 300_000 * max(0, $0 - 2) }
    let clip = LabFile(
      startRanges: [0..<20_000], secondBytes: seconds, durationMilliseconds: 10_000)
    let items = (0..<3).map { LabFeed.Item(id: "c\($0)", type: .video, media: [[clip]]) }
    let network = LabNetwork(
      NetworkProfile(
        name: "1000", title: "", downlinkKbps: 1_000, uplinkKbps: 1_000, roundTripMilliseconds: 20))
    var viewer = ViewerModel(dwell: .fixed(milliseconds: 10_000))
    viewer.patienceMilliseconds = 5_000
    let run = Simulation.run(
      Contestant(.endless),
      Simulation.Setup(feed: LabFeed(items), viewer: viewer, network: network, items: 1), seed: 1)
    #expect(run.videoLoaders == 1 && run.stalls > 0 && run.stalledMilliseconds > 2_000)
  }
}
