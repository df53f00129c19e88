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

  /// A text as records may hold it.
  static func text(_ random: inout TestRandom) -> String? {
    guard !random.once(in: 3) else { return nil }
    let text = String(random.text(1...30).unicodeScalars.filter { $0 != "\0" }.map(Character.init))
    return text.isEmpty ? nil : text
  }

  /// A name: not empty, no control characters, and none equal to another of its `index`.
  static func name(_ random: inout TestRandom, _ index: Int = 0) -> String {
    let scalars = random.text(0...10).unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7f }
    return "\(index)" + String(String.UnicodeScalarView(scalars))
  }

  static func post(_ random: inout TestRandom) -> Post {
    func number(_ range: ClosedRange<Int>) -> Int? {
      random.once(in: 2) ? nil : random.number(range)
    }
    func list<Element>(_ make: (Int) -> Element) -> [Element] {
      random.once(in: 2) ? [] : (0..<random.number(1...5)).map(make)
    }
    return Post(
      id: name(&random), type: random.one(of: PostType.allCases), title: text(&random),
      text: text(&random),
      publishedAt: number(-62_167_219_200_000_000...253_402_300_799_999_999).map {
        Timestamp(microseconds: Int64($0))
      },
      author: random.once(in: 2) ? nil : Author(id: name(&random), name: text(&random)),
      url: text(&random), thumbnail: text(&random),
      tags: list { _ in text(&random) }.compactMap { $0 },
      counters: list {
        Counter(name(&random, $0), random.number(-RecordLimits.number...RecordLimits.number))
      },
      media: list { _ in
        Media(
          kind: random.one(of: MediaKind.allCases), url: name(&random), mimeType: text(&random),
          codec: text(&random), width: number(1...RecordLimits.pixels),
          height: number(1...RecordLimits.pixels),
          durationMilliseconds: number(0...RecordLimits.number),
          bytes: number(0...RecordLimits.fileBytes))
      })
  }

  @Test(arguments: TestRandom.seeds) func `any record reads back as itself, and as the same bytes`(
    seed: UInt64
  ) throws {
    var random = TestRandom(seed)
    for _ in 0..<1_000 {
      let placements = (0..<random.number(0...4)).map { index in
        Placement(
          feed: Self.name(&random, index),
          rank: random.once(in: 2) ? nil : random.number(SortKey.rankRange))
      }
      try Self.check(.post(Self.post(&random), placements: placements))
      try Self.check(.feed(name: Self.name(&random), title: Self.text(&random)))
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
