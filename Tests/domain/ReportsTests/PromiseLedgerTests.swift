import Reports
import TestSupport
import Testing

/// When a promise is broken.
@Suite struct PromiseLedgerTests {
  private static let pool = PromiseCounts(kept: 10_000, late: 100)

  /// After how many tests a promise of which this many of a thousand are late is found broken; nil if never.
  private static func brokenAfter(
    latePermille: Int, of most: Int, beside pool: PromiseCounts = pool, least: Int = 1,
    _ random: inout TestRandom
  ) -> Int? {
    var record = PromiseRecord(hour: 0)
    for count in 1...most {
      let isLate = Int.random(in: 0..<1_000, using: &random) < latePermille
      record.add(isLate ? PromiseCounts(late: 1) : PromiseCounts(kept: 1), at: 0)
      if record.isBroken(beside: pool, least: least) { return count }
    }
    return nil
  }

  @Test(arguments: TestRandom.seeds)
  func `of promises that hold hardly one is ever taken for broken`(_ seed: UInt64) {
    var random = TestRandom(seed)
    let broken = (0..<300).count { _ in
      Self.brokenAfter(latePermille: 50, of: 400, &random) != nil
    }
    // One in a thousand is allowed, and of 300 with a chance of 10⁻⁴ more than three.
    #expect(broken <= 3, "\(broken), seed \(seed)")
  }

  @Test(arguments: TestRandom.seeds)
  func `one that broke is found, the sooner the more are late`(_ seed: UInt64) throws {
    var random = TestRandom(seed)
    for (permille, most) in [(1_000, 5), (500, 30), (150, 500)] {
      let found = (0..<50).compactMap { _ in
        Self.brokenAfter(latePermille: permille, of: 500, &random)
      }
      #expect(found.count >= 45, "\(permille), seed \(seed)")
      #expect(found.sorted()[found.count / 2] <= most, "\(permille), seed \(seed)")
    }
    #expect(Self.brokenAfter(latePermille: 1_000, of: 50, least: 50, &random) == 50)
  }

  @Test(arguments: TestRandom.seeds)
  func `where all clients are slow, no file is at fault`(_ seed: UInt64) {
    var random = TestRandom(seed)
    let slow = PromiseCounts(kept: 700, late: 300)
    #expect(Self.brokenAfter(latePermille: 300, of: 400, beside: slow, &random) == nil)
    #expect(Self.brokenAfter(latePermille: 1_000, of: 400, beside: slow, &random) != nil)
  }

  @Test func `a file that held for long is found as soon as others`() {
    var record = PromiseRecord(hour: 0)
    for _ in 0..<10_000 { record.add(PromiseCounts(kept: 1), at: 0) }
    var count = 0
    while !record.isBroken(beside: Self.pool, least: 50), count < 1_000 {
      record.add(PromiseCounts(late: 1), at: 1)
      count += 1
    }
    #expect(count <= 150, "\(count)")
    #expect(record.all == PromiseCounts(kept: 10_000, late: count) && record.hour == 1)
    record.become(.broken)
    #expect(!record.isBroken(beside: Self.pool, least: 50))
    record.become(.holds)
    #expect(!record.isBroken(beside: Self.pool, least: 50))
  }

  @Test(arguments: [(0, 0), (5, 0), (1, 1), (0, 500), (499, 1), (5_000, 5_000), (0, 100_000)])
  func `the least share is between 0 and what was counted`(_ kept: Int, _ late: Int) {
    let counts = PromiseCounts(kept: kept, late: late)
    let share = counts.lateShare ?? 0
    #expect(counts.leastLateShare >= 0 && counts.leastLateShare <= share)
    if late >= 500 { #expect(counts.leastLateShare > share * 0.9) }
  }
}
