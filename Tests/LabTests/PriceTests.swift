import Prefetch
import TestSupport
import Testing

@testable import Lab

/// What the price of our strategy means, over its whole range.
@Suite struct PriceTests {
  private static let prices = [0, 250, 2_500, 25_000, 250_000, 1_000_000]

  /// People who look at pictures and clips for a while, fling and turn; each price has the same ones.
  private static func results(_ network: String, seed: UInt64) -> ExperimentResults {
    var viewer = ViewerModel(
      dwell: .drawn(
        Quantiles([
          .init(permille: 0, value: 300), .init(permille: 500, value: 2_000),
          .init(permille: 1_000, value: 9_000),
        ])!))
    viewer.patienceMilliseconds = 10_000
    (viewer.flingPermille, viewer.turnPermille) = (30, 40)
    var feed = FeedModel()
    // Light enough that the link is idle at times: where it never is, nothing is loaded that is not needed.
    feed.videoPermille = 200
    feed.imageBytes = Quantiles([
      .init(permille: 0, value: 10_000), .init(permille: 1_000, value: 90_000),
    ])!
    return Experiment(
      contestants: prices.map {
        Contestant(.expectedWait(WaitTuning(price: $0)))
      }, networks: [SimulationTests.profile(network)], feed: .generated(feed), viewer: viewer,
      items: 200, repeats: 4, seed: seed
    ).results()
  }

  @Test(arguments: ["3g", "dsl", "lte"])
  func `the higher the price, the fewer bytes and the more waiting`(_ network: String) {
    for seed in TestRandom.seeds {
      let results = Self.results(network, seed: seed)
      func mean(_ price: Int, _ measure: RunFigures.Measure) -> Double {
        results.interval(price, on: 0, measure).mean
      }
      for index in Self.prices.indices.dropFirst() {
        // Who waits less looks sooner and otherwise at the next items, which makes some percent of the bytes.
        #expect(
          mean(index, .kilobytes) <= mean(index - 1, .kilobytes) * 1.05, TestRandom.replay)
        #expect(mean(index, .loaders) >= mean(index - 1, .loaders) - 10, TestRandom.replay)
      }
      let last = Self.prices.count - 1
      #expect(mean(last, .kilobytes) < mean(0, .kilobytes) * 0.97, TestRandom.replay)
      #expect(mean(last, .loaders) > mean(0, .loaders) + 30, TestRandom.replay)
      #expect(mean(last, .waitMilliseconds) > mean(0, .waitMilliseconds), TestRandom.replay)
    }
  }
}
