import Foundation
import Statistics
import TestSupport
import Testing

@testable import Lab

/// What repeated runs allow to be said.
@Suite struct StatisticsTests {
  /// About normal, as a mean over many items is: twelve numbers from 0 to 1, less six.
  private static func normal(_ random: inout LabRandom) -> Double {
    (0..<12).reduce(-6.0) { sum, _ in sum + Double(random.number(below: 1 << 30)) / Double(1 << 30)
    }
  }

  /// Loaders of a run of 1024 items of which each waits with a chance of 1 in 32: whole, and not quite normal.
  private static func loaders(_ random: inout LabRandom) -> Double {
    var count = 0
    for _ in 0..<16 {
      let bits = random.next() & random.next() & random.next() & random.next() & random.next()
      count += bits.nonzeroBitCount
    }
    return Double(count)
  }

  @Test(arguments: TestRandom.seeds)
  func `of a thousand comparisons of a strategy with itself, few ever say different`(seed: UInt64) {
    let random = LabRandom(seed: seed)
    var different = 0
    for trial in 0..<1_000 {
      var own = random.split(UInt64(trial))
      var comparison = Comparison(margin: 0, leastDeviation: 1)
      for _ in 0..<60 {
        comparison.addCluster([Self.loaders(&own)], [Self.loaders(&own)])
        #expect(comparison.verdict != .equivalent)
      }
      if comparison.verdict != .undecided { different += 1 }
    }
    print(
      "a strategy and itself, looked at after each of 60 repeats: different", different, "of 1000")
    #expect(different <= 50, TestRandom.replay)
  }

  @Test(arguments: TestRandom.seeds)
  func `the interval holds the mean whenever one looks, whatever the deviation`(seed: UInt64) {
    let random = LabRandom(seed: seed)
    for scale in [0.001, 1, 1_000] {
      var missed = 0
      for trial in 0..<500 {
        var own = random.split(UInt64(trial))
        var interval = SequentialInterval()
        var wasOutside = false
        for _ in 0..<100 {
          interval.add(7 + scale * Self.normal(&own))
          wasOutside = wasOutside || !(interval.lower...interval.upper).contains(7)
        }
        if wasOutside { missed += 1 }
      }
      #expect(missed <= 25 + 10, "\(missed) of 500 at \(scale)")
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `a planted difference of a tenth is found, paired`(seed: UInt64) {
    let random = LabRandom(seed: seed)
    var repeats: [Int] = []
    for trial in 0..<100 {
      var own = random.split(UInt64(trial))
      var comparison = Comparison(margin: 0.5, leastDeviation: 1)
      while comparison.verdict == .undecided, comparison.difference.count < 1_000 {
        // What the viewer and the network bring is common to both; a tenth of 30 loaders is not.
        let common = 30 + 8 * Self.normal(&own)
        comparison.addCluster(
          [common - 3 + 2 * Self.normal(&own)], [common + 2 * Self.normal(&own)])
      }
      #expect(comparison.verdict == .better, TestRandom.replay)
      repeats.append(comparison.decidedAfter ?? 0)
    }
    repeats.sort()
    print("repeats to find a tenth: median \(repeats[50]), of 95 in 100 at most \(repeats[94])")
    #expect(repeats[94] <= 60, TestRandom.replay)
  }

  @Test func `what is equal is said to be equivalent, within a margin alone`() {
    for (margin, verdict) in [(1.0, Verdict.equivalent), (0, .undecided)] {
      var comparison = Comparison(margin: margin, leastDeviation: 1)
      for _ in 0..<40 { comparison.addCluster([25], [25]) }
      #expect(comparison.verdict == verdict)
    }
  }

  @Test func `runs of a cluster count as one`() {
    var once = Comparison(margin: 0, leastDeviation: 0)
    var often = once
    for value in [3.0, 4, 5, 3, 4, 5, 3] {
      once.addCluster([value], [0])
      often.addCluster(Array(repeating: value, count: 50), Array(repeating: 0, count: 50))
    }
    #expect(once.difference == often.difference && once.verdict == .worse)
  }

  @Test func `a verdict stays, whatever comes after`() {
    var comparison = Comparison(margin: 0, leastDeviation: 1)
    for _ in 0..<10 { comparison.addCluster([20], [30]) }
    let after = comparison.decidedAfter
    for _ in 0..<100 { comparison.addCluster([30], [20]) }
    #expect(comparison.verdict == .better && comparison.decidedAfter == after)
  }

  @Test func `logarithm and power are the system's to twelve digits`() {
    for number in [1e-9, 0.05, 0.5, 1, 1.5, 2, 3, 20, 1e6, 1e12] {
      #expect(abs(naturalLogarithm(number) - log(number)) <= 1e-12 * max(1, abs(log(number))))
    }
    for power in [-20, -1, -1e-6, 0, 1e-9, 0.3, 1, 5, 40] {
      #expect(abs(exponential(power) / exp(power) - 1) <= 1e-11)
    }
  }

  @Test func `one value says nothing`() {
    var interval = SequentialInterval()
    interval.add(5)
    #expect(interval.lower == -.infinity && interval.upper == .infinity)
  }
}
