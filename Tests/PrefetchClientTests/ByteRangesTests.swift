import PrefetchClient
import TestSupport
import Testing

struct ByteRangesTests {
  @Test(arguments: TestRandom.seeds)
  func `ranges say what a set of bytes says`(seed: UInt64) {
    var random = TestRandom(seed)
    var (ranges, model): (ByteRanges, Set<Int>) = (ByteRanges(), [])
    for _ in 0..<3_000 {
      let start = random.number(0...200)
      let range = start..<start + random.number(0...20)
      if random.chance(60) {
        ranges.insert(range)
        model.formUnion(range)
      } else {
        ranges.remove(range)
        model.subtract(range)
      }
      #expect(ranges.count == model.count, TestRandom.replay)
      #expect(Set(ranges.ranges.joined()) == model, TestRandom.replay)
      // Apart from each other, none of them empty.
      #expect(
        zip(ranges.ranges, ranges.ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
      #expect(ranges.ranges.allSatisfy { !$0.isEmpty })
      let asked = random.number(0...200)..<random.number(201...230)
      let missing = asked.filter { !model.contains($0) }
      #expect(Array(ranges.missing(in: asked).joined()) == missing, TestRandom.replay)
      #expect(ranges.firstMissing(in: asked)?.lowerBound == missing.first, TestRandom.replay)
      #expect(ranges.contains(asked) == missing.isEmpty, TestRandom.replay)
      let run = ranges.run(from: asked.lowerBound)
      #expect(run?.lowerBound == (model.contains(asked.lowerBound) ? asked.lowerBound : nil))
      if let run { #expect(!model.contains(run.upperBound) && run.allSatisfy(model.contains)) }
    }
  }
}
