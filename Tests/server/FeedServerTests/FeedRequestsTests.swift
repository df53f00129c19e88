import Feed
import TestSupport
import Testing

@testable import FeedServer

/// How often feeds are asked for: bounded, each request counted once, and the busiest among those told.
@Suite struct FeedRequestsTests {
  private func told(_ counts: FeedCounts) -> [String: Int] {
    Dictionary(uniqueKeysWithValues: counts.told.map { ($0.text, $1) })
  }

  @Test func `as long as there is room, every feed has a count`() {
    var counts = FeedCounts(limit: 3)
    for feed in ["a", "b", "a", "c", "a", "d", "d"] { counts.note(ByteText(feed)) }
    #expect(told(counts) == ["a": 3, "b": 1, "c": 1])
    #expect(counts.others == 2)
  }

  @Test func `without room there is only the sum`() {
    var counts = FeedCounts(limit: 0)
    for feed in ["a", "b", "a"] { counts.note(ByteText(feed)) }
    #expect(counts.told.isEmpty && counts.others == 3)
  }

  @Test func `a busy feed that comes late takes the place of the one that is asked for least`() {
    var counts = FeedCounts(limit: 4)
    for feed in ["a", "b", "c", "d"] { counts.note(ByteText(feed)) }
    // Two windows of four hundred: in the first it is found, in the second counted.
    for number in 0..<400 {
      counts.note(ByteText("late"))
      counts.note(ByteText(["a", "b", "c", "some \(number)"][number % 4]))
    }
    #expect(Set(told(counts).keys) == ["a", "b", "c", "late"])
    let late = told(counts)["late"]!
    #expect((150...250).contains(late), "\(late)")
  }

  @Test func `feeds that are all asked for alike do not chase each other`() {
    var counts = FeedCounts(limit: 10)
    for number in 0..<10 { counts.note(ByteText("\(number)")) }
    let before = Set(told(counts).keys)
    for round in 0..<20_000 { counts.note(ByteText("reader \(round % 5000)")) }
    #expect(Set(told(counts).keys) == before)
  }

  @Test(arguments: TestRandom.seeds)
  func `no count falls, none is missing, and what has a share of its own is told`(
    _ seed: UInt64
  ) {
    var random = TestRandom(seed)
    let limit = Int.random(in: 3...12, using: &random)
    let busy = (0..<limit / 3).map { "busy \($0)" }
    var counts = FeedCounts(limit: limit)
    var last: [String: Int] = [:]
    var lastOthers = 0
    var asked: [String: Int] = [:]
    for number in 1...(limit * FeedCounts.windowRequests * 6) {
      // Half of the requests are for a third of the feeds that are told.
      let feed =
        Bool.random(using: &random)
        ? busy.randomElement(using: &random)! : "any \(Int.random(in: 0..<1000, using: &random))"
      asked[feed, default: 0] += 1
      counts.note(ByteText(feed))
      guard number % 37 == 0 else { continue }
      let now = told(counts)
      #expect(now.count <= limit && counts.others >= lastOthers)
      for (feed, count) in now {
        if let before = last[feed] { #expect(count >= before, "\(feed)") }
        #expect(count <= asked[feed]!)
      }
      (last, lastOthers) = (now, counts.others)
    }
    #expect(Set(busy).isSubset(of: told(counts).keys), "\(told(counts))")
  }
}
