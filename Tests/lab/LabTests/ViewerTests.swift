import Foundation
import TestSupport
import Testing

@testable import Lab

/// People who go through a feed.
@Suite struct ViewerTests {
  private static let sharedPath = Repository.url("../shared/data/viewers/watch.json")
    .standardized.path

  static let watch = try! WatchModel(
    json: Array(
      """
      {"deciles": [
        {"durationMs": [1000, 5000], "watchRatio": {"p10": 0.5, "p50": 1.5, "p90": 2.5, "mean": 1.6}},
        {"durationMs": [5001, 60000], "watchRatio": {"p10": 0.1, "p50": 0.4, "p90": 1.1, "mean": 0.6}}
      ]}
      """.utf8))

  @Test func `the article's viewer looks at one item a second and goes down`() {
    var viewer = Viewer(.steady, random: LabRandom(seed: 1))
    let steps = (0..<1_000).map { _ in viewer.next(count: 2_000) { _ in 5_000 } }
    #expect(steps.map(\.index) == Array(0..<1_000))
    #expect(steps.allSatisfy { $0.dwellMilliseconds == 1_000 && $0.travelMilliseconds == 0 })
  }

  @Test func `at the end of the feed they go back to its top`() {
    var viewer = Viewer(.steady, random: LabRandom(seed: 1))
    #expect((0..<7).map { _ in viewer.next(count: 3) { _ in nil }.index } == [0, 1, 2, 0, 1, 2, 0])
    var alone = Viewer(.steady, random: LabRandom(seed: 1))
    #expect((0..<3).map { _ in alone.next(count: 1) { _ in nil }.index } == [0, 0, 0])
  }

  @Test(arguments: TestRandom.seeds)
  func `every step is within the feed, and its way is what it says`(seed: UInt64) {
    var model = ViewerModel.watching(Self.watch)
    model.flingPermille = 150
    model.turnPermille = 200
    model.turnItems = Quantiles([.init(permille: 0, value: 0), .init(permille: 1_000, value: 9)])!
    var viewer = Viewer(model, random: LabRandom(seed: seed))
    var (index, flings, turns) = (0, 0, 0)
    for _ in 0..<5_000 {
      let step = viewer.next(count: 700) { $0 % 2 == 0 ? 12_000 : nil }
      #expect((0..<700).contains(step.index) && step.index == index + step.distance)
      #expect(step.dwellMilliseconds >= 0 && step.travelMilliseconds >= 0)
      index = step.index
      if step.travelMilliseconds > 0 { flings += 1 }
      if step.distance < 0 { turns += 1 }
    }
    #expect(flings > 100 && turns > 500, TestRandom.replay)
  }

  @Test(arguments: TestRandom.seeds)
  func `people watch clips as was measured`(seed: UInt64) {
    var random = LabRandom(seed: seed)
    for group in Self.watch.groups {
      let duration = group.longestMilliseconds
      let drawn = (0..<20_000).map { _ in Self.watch.drawMilliseconds(of: duration, &random) }
        .sorted()
      for (share, permille) in [(0.1, 100), (0.5, 500), (0.9, 900)] {
        let expected = group.ratioPermille.value(atMillionth: permille * 1_000) * duration / 1_000
        let got = drawn[Int(share * 20_000)]
        // Few are beyond the last decile, so that where it lies shows least exactly.
        #expect(abs(got - expected) <= duration / 4, TestRandom.replay)
      }
      let mean = drawn.reduce(0, +) / drawn.count
      let expected = group.ratioPermille.meanThousandths * duration / 1_000_000
      #expect(abs(mean - expected) <= duration / 20, TestRandom.replay)
    }
    #expect(Self.watch.groups[0].ratioPermille.meanThousandths == 1_600_000)
    #expect(Self.watch.group(ofMilliseconds: 400_000) == Self.watch.groups[1])
  }

  @Test func `what says nothing of how people watch is refused by name`() {
    let cases: [(String, WatchModelError)] = [
      ("{}", .missing("deciles")), ("{\"deciles\": []}", .missing("deciles")),
      ("{\"deciles\": [{}]}", .group(0, member: "durationMs")),
      ("{\"deciles\": [{\"durationMs\": [5]}]}", .group(0, member: "p10")),
      (
        """
        {"deciles": [{"durationMs": [5], "watchRatio": {"p10": 1, "p50": 0.5, "p90": 2, "mean": 1}}]}
        """, .group(0, member: "watchRatio")
      ),
    ]
    for (text, error) in cases {
      #expect(throws: error) { try WatchModel(json: Array(text.utf8)) }
    }
  }

  @Test func `an item with a curve of its own is watched by it, and the engine is told it`() throws
  {
    let json = """
      {"deciles": [{"durationMs": [1, 60000], "watchRatio": {"p10": 1, "p50": 1, "p90": 1, "mean": 1}}],
       "items": {"b": [[500, 800], [2000, 300], [4000, 0]], "c": [[1000, 400]]}}
      """
    let watch = try WatchModel(json: Array(json.utf8))
    let clip = LabFile(
      startRanges: [0..<10], secondBytes: (1...10).map { $0 * 100 }, durationMilliseconds: 10_000)
    let feed = LabFeed(["a", "b", "c"].map { .init(id: $0, type: .video, media: [[clip]]) })
      .watched(watch.items)
    #expect(feed.items.map(\.survival.count) == [0, 3, 1])
    #expect(feed.hinted.map(\.survival) == feed.items.map(\.survival))
    #expect(feed.unhinted.allSatisfy { $0.survival.isEmpty })
    var random = LabRandom(seed: 3)
    let drawn = (0..<20_000).map { _ in feed.items[1].survival.draw(&random) }.sorted()
    for (left, time) in [(0.2, 500), (0.7, 2_000), (0.35, 950), (1, 4_000)] {
      #expect(abs(drawn[Int(left * 20_000) - 1] - time) < 60, "\(left)")
    }
    // Whoever is there at the curve's end leaves then.
    #expect((0..<1_000).allSatisfy { _ in feed.items[2].survival.draw(&random) <= 1_000 })
    var viewer = Viewer(.watching(watch), random: LabRandom(seed: 1))
    for _ in 0..<200 {
      let step = viewer.next(count: 3, survival: { feed.items[$0].survival }) { _ in 10_000 }
      #expect(step.dwellMilliseconds <= [20_000, 4_000, 1_000][step.index])
    }
    for items in [
      #"[]"#, #"{"x": []}"#, #"{"x": [[1]]}"#, #"{"x": [[5, 900], [4, 800]]}"#,
      #"{"x": [[5, 900], [6, 950]]}"#, #"{"x": [[5, 1001]]}"#,
    ] {
      let text = json.replacingOccurrences(
        of: #"{"b": [[500, 800], [2000, 300], [4000, 0]], "c": [[1000, 400]]}"#, with: items)
      #expect(throws: WatchModelError.self, "\(items)") { try WatchModel(json: Array(text.utf8)) }
    }
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: sharedPath), "no shared data here"))
  func `the measured file is read, and has the means it says`() throws {
    let json = try Data(contentsOf: URL(fileURLWithPath: Self.sharedPath))
    let watch = try WatchModel(json: Array(json))
    #expect(watch.groups.count == 10)
    let means = watch.groups.map { $0.ratioPermille.meanThousandths / 1_000 }
    #expect(means == [1_714, 1_317, 1_160, 1_053, 949, 860, 782, 717, 614, 329])
  }

  @Test func `numbers that were split go their own way, and the others theirs`() {
    let seed = LabRandom(seed: 7)
    var (first, again, other) = (seed.split(1), seed.split(1), seed.split(2))
    let numbers = (0..<100).map { _ in first.next() }
    #expect(numbers == (0..<100).map { _ in again.next() })
    #expect(!numbers.contains(other.next()))
    // The same on every machine: what was drawn once.
    var known = LabRandom(seed: 1)
    #expect(known.next() == 0x910a_2dec_8902_5cc1)
  }
}
