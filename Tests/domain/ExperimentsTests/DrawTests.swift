import Experiments
import Prefetch
import Statistics
import TestSupport
import Testing

/// Which arm a client has, and what the tests of shares and differences are made of.
@Suite struct DrawTests {
  @Test(arguments: [0, 10, 50, 250, 500]) func `as many draw an arm as its share says`(_ share: Int)
  {
    var random = TestRandom(UInt64(share))
    let draw = ExperimentDraw(id: 7, salt: "k3v9", shares: [1_000 - share, share])
    let other = ExperimentDraw(id: 8, salt: "x1", shares: [500, 500])
    var (count, both) = (0, 0)
    let numbers = (0..<100_000).map { _ in UInt32(truncatingIfNeeded: random.next()) }
    for number in numbers where draw.arm(of: number) == .b {
      count += 1
      if other.arm(of: number) == .b { both += 1 }
    }
    #expect(abs(count - 100 * share) <= 700)
    // Of two experiments the arms have nothing to do with each other.
    #expect(abs(2 * both - count) <= 1_000)
  }

  /// The same table is in Tests/page/check_page.py: `/lookahead.js` draws alike.
  @Test func `draws are what every client draws`() {
    let draw = ExperimentDraw(id: 7, salt: "k3v9", shares: [900, 100])
    let first = (0..<64).filter { draw.arm(of: UInt32($0)) == .b }
    #expect(first == [8, 31, 54, 59, 62])
  }

  @Test func `shares that cannot be are the arm a`() {
    for shares in [[], [5], [0, 0], [-1, -1], [Int.max / 2, 9]] {
      #expect(ExperimentDraw(id: 1, salt: "s", shares: shares).arm(of: 9) == .a)
    }
  }

  @Test func `for many values the lab's interval has the width of the mixture`() {
    var interval = SequentialInterval()
    var random = TestRandom(3)
    for _ in 0..<20_000 {
      interval.add((0..<12).reduce(-6.0) { sum, _ in sum + Double(random.number(0...999)) / 999 })
    }
    let deviation = interval.deviation
    let width = NormalMixture.halfWidth(
      variance: deviation * deviation / 20_000, priorDeviation: deviation, error: 0.05)
    #expect(abs(width / interval.halfWidth - 1) < 0.01)
    #expect(
      NormalMixture.oneSidedWidth(variance: 1e-4, priorDeviation: 0.1, error: 0.05)
        < NormalMixture.halfWidth(variance: 1e-4, priorDeviation: 0.1, error: 0.05))
    #expect(NormalMixture.halfWidth(variance: 0, priorDeviation: 1, error: 0.05) == .infinity)
  }

  @Test func `right shares gather no evidence, wrong ones do`() {
    #expect(ShareTest.logEvidence(0, 0, share: 0.5) == 0)
    #expect(ShareTest.logEvidence(500, 500, share: 0.5) < 0)
    #expect(ShareTest.logEvidence(100, 9_900, share: 0.01) < 0)
    #expect(ShareTest.logEvidence(200, 9_800, share: 0.01) > 20)
    #expect(ShareTest.logEvidence(0, 2_000, share: 0.01) > 6.9)
    #expect(ShareTest.logEvidence(1_000_000, 1_010_000, share: 0.5) > 6.9)
  }
}
