import Feed
import Reports
import TestSupport
import Testing

/// How long people watch, found again from views.
@Suite struct WatchCountsTests {
  private static let duration = 20_000

  /// Of a thousand, how many watch on: straight from all to half at a tenth, to a fifth at the end, and to none at twice
  /// the duration.
  private static func planted(_ share: Double) -> Double {
    if share < 0.1 { return 1_000 - 5_000 * share }
    if share < 1 { return 500 - 300 * (share - 0.1) / 0.9 }
    return max(0, 200 - 200 * (share - 1))
  }

  /// How long somebody watches, in shares of the duration.
  private static func drawn(_ random: inout TestRandom) -> Double {
    let rest = Double.random(in: 0..<1_000, using: &random)
    if rest >= 500 { return (1_000 - rest) / 5_000 }
    if rest >= 200 { return 0.1 + (500 - rest) / 300 * 0.9 }
    return 1 + (200 - rest) / 200
  }

  /// - Parameter leaving: how many of a hundred would leave at a random moment while they wait.
  private static func counts(
    views: Int, leaving: Int, _ random: inout TestRandom
  ) -> WatchCounts {
    var counts = WatchCounts()
    for _ in 0..<views {
      let watched = drawn(&random)
      let waits = Int.random(in: 0..<100, using: &random) < leaving
      let left = waits ? Double.random(in: 0..<2, using: &random) : 9
      counts.add(
        watched: Int(min(watched, left) * Double(duration)), of: duration,
        hasLeftWaiting: left < watched)
    }
    return counts
  }

  private static func error(_ counts: WatchCounts) throws -> Double {
    let curve = try #require(counts.survivalPermille)
    return zip(curve, WatchCounts.bounds).map { abs($0 - planted(Double($1) / 64)) }.max()!
  }

  @Test(arguments: TestRandom.seeds)
  func `retention that was planted is found again, the closer the more views there are`(
    _ seed: UInt64
  ) throws {
    var random = TestRandom(seed)
    for leaving in [0, 50] {
      var errors: [Double] = []
      for views in [200, 2_000, 20_000] {
        // Kolmogorov: the greatest error is above 3/√n of those who are not censored once in 30 million times.
        let most = 3_000 / (Double(views) * (leaving == 0 ? 1 : 0.4)).squareRoot()
        let error = try Self.error(Self.counts(views: views, leaving: leaving, &random))
        errors.append(error)
        #expect(error < most, "\(views) views, \(leaving) % leave while waiting, seed \(seed)")
      }
      #expect(errors[2] < errors[0], "\(errors), seed \(seed)")
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `who leaves while waiting teaches no short watching`(_ seed: UInt64) throws {
    var random = TestRandom(seed)
    let views = 20_000
    // Nearly everybody who waits for long: the naive curve is 92 to 100 of a thousand off, the other one 2 to 10.
    let counts = Self.counts(views: views, leaving: 90, &random)
    var naive = WatchCounts()
    naive = try #require(
      WatchCounts(
        ended: zip(counts.ended, counts.censored).map { $0 + $1 },
        censored: counts.censored.map { _ in 0 }))
    #expect(try Self.error(counts) < 30, "seed \(seed)")
    #expect(try Self.error(naive) > 50, "seed \(seed)")
  }

  @Test func `a view that never began says nothing`() {
    var counts = WatchCounts()
    counts.add(watched: 0, of: 1_000, hasLeftWaiting: true)
    #expect(counts.views == 0 && counts.survivalPermille == nil)
    // One that was left at once, though it played, does.
    counts.add(watched: 0, of: 1_000, hasLeftWaiting: false)
    #expect(counts.views == 1 && counts.survivalPermille?.first == 0)
  }

  @Test func `bins end where they say, and the last one has all longer views`() {
    #expect(WatchCounts.bin(watched: 0, of: 16) == 0)
    #expect(WatchCounts.bin(watched: 1, of: 16) == 1)
    #expect(WatchCounts.bin(watched: 15, of: 16) == 15)
    #expect(WatchCounts.bin(watched: 16, of: 16) == 16)
    #expect(WatchCounts.bin(watched: 86_400_000, of: 1) == 23)
    #expect(WatchCounts.bin(watched: 86_400_000, of: RecordLimits.number / 1_024) == 0)
  }

  @Test func `half is forgotten each time, in steps of whichever length`() {
    var counts = WatchCounts()
    for index in 0..<1_000 {
      counts.add(watched: index, of: 1_000, hasLeftWaiting: index % 7 == 0)
    }
    var (once, hourly) = (counts, counts)
    once.forget(hours: 168, halving: 168)
    for _ in 0..<168 { hourly.forget(hours: 1, halving: 168) }
    #expect(abs(once.views - 499.5) < 1 && abs(hourly.views - once.views) < 1)
    hourly.forget(hours: 168 * 70, halving: 168)
    #expect(hourly.views == 0)
    once.forget(hours: 0, halving: 1)
    #expect(once.views > 499)
  }

  @Test func `records of two servers add up, whichever is earlier`() {
    func record(_ hour: Int) -> WatchRecord {
      var counts = WatchCounts()
      counts.add(watched: 500, of: 1_000, hasLeftWaiting: false)
      return WatchRecord(hour: hour, kind: .video, durationMilliseconds: 1_000, counts: counts)
    }
    var (forwards, backwards) = (record(10), record(20))
    forwards.add(record(20), halvingHours: 10)
    backwards.add(record(10), halvingHours: 10)
    #expect(forwards == backwards && forwards.hour == 20 && forwards.counts.views == 1.5)
  }

  @Test func `an item's own curve counts more with each view, and of few nothing is used`() throws {
    var (all, none) = (WatchCounts(), WatchCounts())
    for _ in 0..<1_000 { all.add(watched: 1_000, of: 100, hasLeftWaiting: false) }
    for _ in 0..<100 { none.add(watched: 0, of: 100, hasLeftWaiting: false) }
    func first(_ item: WatchCounts?, _ pool: WatchCounts?) -> Double? {
      WatchCurve(item: item, pool: pool, wholeViews: 200, leastViews: 50)?.permille.first
    }
    #expect(first(nil, nil) == nil)
    #expect(first(nil, all) == 1_000)
    #expect(first(none, all) == 500)
    // Too few of its own for the curve to be its own, and no class.
    #expect(first(none, nil) == nil)
    #expect(first(all, none) == 1_000)
    var few = WatchCounts()
    for _ in 0..<49 { few.add(watched: 0, of: 100, hasLeftWaiting: false) }
    #expect(first(few, all) == 1_000 && first(few, few) == nil)
  }

  @Test(arguments: TestRandom.seeds)
  func `few points say it all`(_ seed: UInt64) throws {
    var random = TestRandom(seed)
    for duration in [1, 63, 7_000, 86_400_000] {
      let counts = Self.counts(views: 500, leaving: 20, &random)
      let curve = try #require(
        WatchCurve(item: counts, pool: nil, wholeViews: 100, leastViews: 50))
      let points = curve.points(durationMilliseconds: duration)
      #expect(points.count <= 24 && !points.isEmpty)
      var last = WatchPoint(milliseconds: 0, permille: 1_000)
      for point in points {
        #expect(point.milliseconds > last.milliseconds && point.permille <= last.permille)
        last = point
      }
      guard duration >= 7_000 else { continue }
      let distance = curve.distance(to: points, durationMilliseconds: duration)
      #expect(distance <= 11, "seed \(seed)")
    }
  }

  @Test func `classes of clips are told by name`() {
    #expect(ClipClass(kind: .video, durationMilliseconds: 1).number == 0)
    #expect(ClipClass(kind: .video, durationMilliseconds: 5_001).number == 1)
    #expect(ClipClass(kind: .audio, durationMilliseconds: .max).number == 9)
    #expect(ClipClass(kind: .image, number: 1) == nil && ClipClass(kind: .video, number: 10) == nil)
  }
}
