import Prefetch
import TestSupport
import Testing

struct ByteRangeSetTests {
  @Test(arguments: TestRandom.seeds)
  func `ranges say what a set of bytes says`(seed: UInt64) {
    var random = TestRandom(seed)
    var (ranges, model): (ByteRangeSet, Set<Int>) = (ByteRangeSet(), [])
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
      #expect(Array(ranges.gaps(in: asked).joined()) == missing, TestRandom.replay)
      #expect(ranges.firstGap(in: asked)?.lowerBound == missing.first, TestRandom.replay)
      #expect(ranges.contains(asked) == missing.isEmpty, TestRandom.replay)
      let run = ranges.run(from: asked.lowerBound)
      #expect(run?.lowerBound == (model.contains(asked.lowerBound) ? asked.lowerBound : nil))
      if let run { #expect(!model.contains(run.upperBound) && run.allSatisfy(model.contains)) }
    }
  }

  @Test func `what would be a range too many is not taken in, and joins where it touches`() {
    var ranges = ByteRangeSet([0..<2, 4..<6, 8..<10])
    #expect(ranges.insert(12..<13, limit: 3) == nil && ranges.count == 6)
    #expect(ranges.insert(2..<4, limit: 3) == 2 && ranges.ranges == [0..<6, 8..<10])
    #expect(ranges.insert(5..<9, limit: 2) == 2 && ranges.ranges == [0..<10])
    #expect(ranges.insert(3..<3) == 0)
  }

  @Test func `the ends of what numbers there are, are bytes as others`() {
    let ranges = ByteRangeSet([0..<1, Int.max - 1..<Int.max])
    #expect(ranges.run(from: Int.max) == nil && ranges.end(from: Int.max) == Int.max)
    #expect(ranges.gaps(in: 0..<Int.max) == [1..<Int.max - 1])
    #expect(ranges.contains(Int.max - 1..<Int.max) && ranges.count == 2)
  }
}
