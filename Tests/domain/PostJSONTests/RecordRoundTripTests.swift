import Feed
import PostJSON
import Seeding
import TestSupport
import Testing

/// What `export` writes, `seed` reads back.
struct RecordRoundTripTests {
  /// The record read from the bytes that it was written as, its placements in canonical order.
  static func check(_ record: SeedRecord) throws {
    let bytes = record.json
    let read = try RecordDecoder().decode(bytes)
    try #require(read.json == bytes, "\(record), \(TestRandom.replay)")
    switch (record, read) {
    case (.feed, .feed): try #require(record == read, TestRandom.replay)
    case (.post(let post, let placements), .post(let same, let sorted)):
      try #require(same == post, "\(record), \(TestRandom.replay)")
      try #require(Set(sorted) == Set(placements), "\(record), \(TestRandom.replay)")
      try #require(sorted.count == placements.count, "\(record), \(TestRandom.replay)")
    default: Issue.record("\(record) became \(read), \(TestRandom.replay)")
    }
    // A line is a record: none is broken by what its texts hold.
    try #require(!bytes.contains(UInt8(ascii: "\n")), TestRandom.replay)
  }

  @Test(arguments: TestRandom.seeds)
  func `each generated record reads back as itself, and as the same bytes`(seed: UInt64) throws {
    for record in PostGenerator(count: 2_000, seed: TestRandom(seed).seed) {
      try Self.check(record)
    }
  }

  @Test(arguments: TestRandom.seeds) func `any record reads back as itself, and as the same bytes`(
    seed: UInt64
  ) throws {
    var random = TestRandom(seed)
    for _ in 0..<1_000 {
      let placements = (0..<random.number(0...4)).map { index in
        Placement(
          feed: random.recordName(index),
          rank: random.once(in: 2) ? nil : random.number(SortKey.rankRange))
      }
      try Self.check(.post(random.post(), placements: placements))
      try Self.check(.feed(name: random.recordName(), title: random.recordText()))
    }
  }

  @Test func `the order in which placements and counters were given leaves no trace`() {
    func record(_ names: [String]) -> SeedRecord {
      .post(
        Post(id: "a", type: .text, counters: names.map { Counter($0, 1) }),
        placements: names.map { Placement(feed: $0) })
    }
    let names = ["b", "\u{e9}", "a", "Z", "e\u{301}", "aa"]
    let sorted = ["Z", "a", "aa", "b", "e\u{301}", "\u{e9}"]
    #expect(record(names).json == record(sorted).json)
    #expect(record(names.reversed()).json == record(sorted).json)
  }
}
