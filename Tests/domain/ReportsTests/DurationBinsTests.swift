import Foundation
import Reports
import TestSupport
import Testing

/// Durations in logarithmic bins.
@Suite struct DurationBinsTests {
  @Test(arguments: [
    (0.0, 0), (0.99, 0), (1, 1), (1.09, 1), (1.1, 2), (100, 49), (1_000, 73), (60_000, 116),
    (3_400_000, 158), (3_600_000, 159), (1e12, 159),
  ])
  func `a duration has one bin`(_ milliseconds: Double, _ bin: Int) {
    #expect(DurationBins.bin(ofMilliseconds: milliseconds) == bin)
  }

  @Test(arguments: TestRandom.seeds)
  func `a quantile is at most 4.9 % from the true one, however many parts it is added up from`(
    _ seed: UInt64
  ) throws {
    var random = TestRandom(seed)
    for _ in 0..<50 {
      let durations = (0..<Int.random(in: 1...500, using: &random)).map { _ in
        exp(Double.random(in: 0...14, using: &random))
      }
      var parts = (0..<4).map { _ in DurationBins() }
      for duration in durations {
        parts[Int.random(in: 0..<4, using: &random)].add(milliseconds: duration)
      }
      var sum = DurationBins()
      for part in parts.shuffled(using: &random) { sum.add(part) }
      #expect(sum.total == durations.count)
      let sorted = durations.sorted()
      for quantile in [0.01, 0.5, 0.9, 0.99, 1] {
        let rank = max(1, Int((quantile * Double(sorted.count)).rounded(.up)))
        let told = try #require(sum.milliseconds(atQuantile: quantile))
        #expect(abs(told / sorted[rank - 1] - 1) < 0.05, "seed \(seed)")
      }
    }
  }

  @Test func `of nothing there is no quantile`() {
    #expect(DurationBins().milliseconds(atQuantile: 0.5) == nil)
    #expect(DurationBins().isEmpty)
  }
}
