import Catalog
import Feed
import Testing

struct IncrementTests {
  private static let largest = RecordLimits.number

  private static let sums: [(counters: [Counter], increments: [Counter], sum: [Counter])] = [
    ([], [], []),
    ([], [Counter("likes", 1)], [Counter("likes", 1)]),
    ([], [Counter("likes", 0)], [Counter("likes", 0)]),
    ([Counter("likes", 5)], [Counter("likes", -7)], [Counter("likes", -2)]),
    (
      [Counter("b", 1), Counter("d", 2)], [Counter("c", 3), Counter("a", 4), Counter("d", 5)],
      [Counter("a", 4), Counter("b", 1), Counter("c", 3), Counter("d", 7)]
    ),
    ([Counter("a", 1)], [Counter("a", 2), Counter("a", 3)], [Counter("a", 6)]),
    ([Counter("a", largest - 1)], [Counter("a", 1)], [Counter("a", largest)]),
    ([Counter("a", 1 - largest)], [Counter("a", -1)], [Counter("a", -largest)]),
  ]

  @Test(arguments: sums.indices)
  func `increments are added by name and kept in order`(_ index: Int) throws {
    let (counters, increments, sum) = Self.sums[index]
    #expect(try counters.adding(increments, ofItem: "x") == sum)
  }

  @Test func `names of other bytes are other counters, though they look the same`() throws {
    let sum = try [Counter("e\u{301}", 1)].adding([Counter("\u{e9}", 1)], ofItem: "x")
    #expect(sum.map(\.value) == [1, 1])
  }

  @Test(arguments: [
    (largest, 1), (-largest, -1), (0, largest + 1), (1, Int.max), (-1, Int.min),
  ])
  func `a counter that would leave its range is named`(_ value: Int, _ increment: Int) {
    #expect(throws: FeedError.counterOutOfRange(item: "x", counter: "b")) {
      try [Counter("b", value)].adding([Counter("a", 1), Counter("b", increment)], ofItem: "x")
    }
  }

  @Test func `there are no more counters than the limit`() throws {
    let full = (1...RecordLimits.counters).map { Counter("c\(100 + $0)", $0) }
    #expect(try full.adding([Counter("c101", 1)], ofItem: "x").count == RecordLimits.counters)
    #expect(throws: FeedError.tooManyCounters(item: "x", limit: RecordLimits.counters)) {
      try full.adding([Counter("other", 1)], ofItem: "x")
    }
  }
}
