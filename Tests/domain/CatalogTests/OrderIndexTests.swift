import Feed
import TestSupport
import Testing

@testable import Catalog

struct OrderIndexTests {
  /// A sorted array, the obvious way.
  struct Naive {
    var entries: [OrderEntry] = []

    mutating func apply(removals: [Position], insertions: [OrderEntry]) {
      for position in removals { entries.removeAll { $0.position == position } }
      for entry in insertions where !entries.contains(where: { $0.position == entry.position }) {
        entries.append(entry)
      }
      entries.sort { $0.position < $1.position }
    }

    func offset(of position: Position) -> Int { entries.count { $0.position < position } }
    func offset(after position: Position) -> Int { entries.count { !(position < $0.position) } }
    var newest: Timestamp? { entries.compactMap(\.publishedAt).max() }
  }

  /// Few keys and few ids, so that ties, duplicates and absent ones are frequent.
  static func entry(_ random: inout TestRandom, keys: Int) -> OrderEntry {
    let isRanked = random.once(in: 3)
    let time =
      random.once(in: 8) ? nil : Timestamp(microseconds: Int64(random.number(-keys...keys)))
    let key = SortKey(rank: isRanked ? random.number(0...keys) : nil, publishedAt: time)
    let id = random.one(of: ["e\u{301}", "\u{e9}", "a", "z"]) + String(random.number(0...3))
    return OrderEntry(
      position: Position(key: key, id: id), post: Int64(random.number(0...1_000_000)),
      publishedAt: time)
  }

  /// The index answers everything as the sorted array does.
  static func check(_ index: OrderIndex, _ naive: Naive, _ random: inout TestRandom) throws {
    let count = naive.entries.count
    try #require(index.count == count, TestRandom.replay)
    try #require(index.allEntries == naive.entries, TestRandom.replay)
    try #require(index.newestPublishedAt == naive.newest, TestRandom.replay)
    for _ in 0..<6 {
      let position = entry(&random, keys: 40).position
      try #require(index.offset(of: position) == naive.offset(of: position), TestRandom.replay)
      try #require(
        index.offset(after: position) == naive.offset(after: position), TestRandom.replay)
      let lower = random.number(0...count)
      let range = lower..<random.number(lower...count)
      try #require(index.entries(in: range) == Array(naive.entries[range]), TestRandom.replay)
      if let entry = naive.entries.randomElement(using: &random) {
        let offset = naive.offset(of: entry.position)
        try #require(index[offset] == entry, TestRandom.replay)
        try #require(index.offset(of: entry.position) == offset, TestRandom.replay)
        try #require(index.offset(after: entry.position) == offset + 1, TestRandom.replay)
      }
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `thousands of changes leave what a sorted array would hold`(seed: UInt64) throws {
    var random = TestRandom(seed)
    var index = OrderIndex()
    var naive = Naive()
    for step in 0..<2_500 {
      // Grows and shrinks in turns, by changes of one, of a few, and now and then of many.
      let most = random.once(in: 40) ? 150 : random.once(in: 4) ? 12 : 1
      let isGrowing = step / 500 % 2 == 0
      let insertions = (0..<random.number(0...(isGrowing ? most : most / 2))).map { _ in
        Self.entry(&random, keys: 40)
      }
      let removals = (0..<random.number(0...(isGrowing ? most / 2 : most))).map { _ in
        random.once(in: 3)
          ? Self.entry(&random, keys: 40).position
          : naive.entries.randomElement(using: &random)?.position
            ?? Self.entry(&random, keys: 40).position
      }
      index.apply(removals: removals, insertions: insertions)
      naive.apply(removals: removals, insertions: insertions)
      if step % 5 == 0 { try Self.check(index, naive, &random) }
    }
    try Self.check(index, naive, &random)
    #expect(index.count > 100)
  }

  @Test(arguments: TestRandom.seeds)
  func `an order that is emptied, one by one or at once, takes entries again`(seed: UInt64) throws {
    var random = TestRandom(seed)
    for size in [1, 2, 63, 64, 65, 700] {
      let entries = Self.numbered(size)
      var oneByOne = OrderIndex(entries)
      for entry in entries.shuffled(using: &random) {
        oneByOne.apply(removals: [entry.position], insertions: [])
      }
      var atOnce = OrderIndex(entries)
      atOnce.apply(removals: entries.map(\.position), insertions: [])
      for var index in [oneByOne, atOnce] {
        #expect(index.count == 0)
        #expect(index.allEntries == [])
        #expect(index.newestPublishedAt == nil)
        #expect(index.offset(of: entries[0].position) == 0)
        #expect(index.offset(after: entries[0].position) == 0)
        #expect(index.entries(in: 0..<0) == [])
        index.apply(removals: [], insertions: [entries[0]])
        #expect(index.allEntries == [entries[0]])
      }
    }
  }

  /// Entries at ranks 0, 2, 4…: every odd rank is a gap.
  static func numbered(_ count: Int) -> [OrderEntry] {
    (0..<count).map { number in
      OrderEntry(
        position: Position(key: SortKey(rank: number * 2, publishedAt: nil), id: "p"),
        post: Int64(number), publishedAt: Timestamp(microseconds: Int64(number)))
    }
  }

  @Test(arguments: [
    0, 1, 2, OrderIndex.chunkCapacity / 2 - 1, OrderIndex.chunkCapacity / 2,
    OrderIndex.chunkCapacity / 2 + 1, OrderIndex.chunkCapacity, OrderIndex.chunkCapacity + 1,
    OrderIndex.chunkCapacity * 3 + 7,
  ])
  func `every offset and every place is found, at the boundaries of chunks too`(count: Int) {
    let entries = Self.numbered(count)
    // Filled by the initializer; by single insertions, upwards and downwards: chunks that split.
    var upwards = OrderIndex()
    var downwards = OrderIndex()
    for entry in entries { upwards.apply(removals: [], insertions: [entry]) }
    for entry in entries.reversed() { downwards.apply(removals: [], insertions: [entry]) }
    for index in [OrderIndex(entries.reversed()), upwards, downwards] {
      #expect(index.count == count)
      #expect(index.allEntries == entries)
      #expect((0..<count).allSatisfy { index[$0] == entries[$0] })
      #expect(entries.indices.allSatisfy { index.offset(of: entries[$0].position) == $0 })
      #expect(entries.indices.allSatisfy { index.offset(after: entries[$0].position) == $0 + 1 })
      let gaps = (0..<count).map {
        Position(key: SortKey(rank: $0 * 2 + 1, publishedAt: nil), id: "p")
      }
      #expect(gaps.indices.allSatisfy { index.offset(of: gaps[$0]) == $0 + 1 })
      #expect(gaps.indices.allSatisfy { index.offset(after: gaps[$0]) == $0 + 1 })
      #expect(
        stride(from: 0, to: count, by: 41).allSatisfy { lower in
          let upper = min(lower + 300, count)
          return index.entries(in: lower..<upper) == Array(entries[lower..<upper])
        })
      #expect(index.entries(in: 0..<count) == entries)
      #expect(index.entries(in: count..<count) == [])
    }
  }

  @Test(arguments: [1, 200]) func `a copy keeps the order that it was made of`(changes: Int) {
    let entries = Self.numbered(1_000)
    var index = OrderIndex(entries)
    let copy = index
    let extra = (0..<changes).map { number in
      OrderEntry(
        position: Position(key: SortKey(rank: number * 2 + 1, publishedAt: nil), id: "x"),
        post: Int64(10_000 + number), publishedAt: nil)
    }
    index.apply(removals: entries.prefix(changes).map(\.position), insertions: extra)
    #expect(copy.allEntries == entries)
    #expect(copy.count == 1_000)
    #expect(copy[0] == entries[0])
    #expect(index.count == 1_000)
    #expect(index[0] == extra[0])
  }

  /// Both ways through which a change goes: one by one, and merged.
  @Test(arguments: [0, 500])
  func `changes can be replayed, and what is taken or absent changes nothing`(more: Int) {
    let entries = Self.numbered(100)
    let index = OrderIndex(entries)
    let usurper = OrderEntry(position: entries[5].position, post: 999, publishedAt: nil)
    let absent = Position(key: entries[5].position.key, id: "q")
    var changed = index
    changed.apply(
      removals: Array(repeating: absent, count: more + 1),
      insertions: Array(repeating: usurper, count: more + 1))
    #expect(changed.allEntries == entries)

    // Removals go first: an entry that stays at its place can be replaced in one step.
    changed.apply(removals: [usurper.position], insertions: [usurper])
    #expect(changed.count == 100)
    #expect(changed[5] == usurper)
    changed.apply(
      removals: Array(repeating: usurper.position, count: more + 1), insertions: [entries[5]])
    #expect(changed.allEntries == entries)
  }

  @Test func `the newest time is not the first entry's in a ranked order`() {
    var index = OrderIndex([
      OrderEntry(
        position: Position(key: SortKey(rank: 1, publishedAt: nil), id: "a"), post: 1,
        publishedAt: nil),
      OrderEntry(
        position: Position(key: SortKey(rank: 2, publishedAt: nil), id: "b"), post: 2,
        publishedAt: Timestamp(microseconds: -5)),
      OrderEntry(
        position: Position(key: SortKey(rank: 3, publishedAt: nil), id: "c"), post: 3,
        publishedAt: Timestamp(microseconds: -2)),
    ])
    #expect(index.newestPublishedAt == Timestamp(microseconds: -2))
    index.apply(removals: [index[2].position], insertions: [])
    #expect(index.newestPublishedAt == Timestamp(microseconds: -5))
    index.apply(removals: [index[1].position], insertions: [])
    #expect(index.newestPublishedAt == nil)
  }
}
