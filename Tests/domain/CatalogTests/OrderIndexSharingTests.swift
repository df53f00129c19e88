import Feed
import TestSupport
import Testing

@testable import Catalog

/// What a change costs, counted in what it makes anew.
struct OrderIndexSharingTests {
  private static func madeAnew(_ old: OrderIndex, _ new: OrderIndex) -> Int {
    let kept = Set(old.chunks.map(ObjectIdentifier.init))
    return new.chunks.count { !kept.contains(ObjectIdentifier($0)) }
  }

  private static func entry(_ rank: Int, _ id: String = "p") -> OrderEntry {
    OrderEntry(
      position: Position(key: SortKey(rank: rank, publishedAt: nil), id: id), post: Int64(rank),
      publishedAt: nil)
  }

  @Test(arguments: [1, 5_000, 50_000])
  func `a change makes the chunk anew that it hits, however long the order is`(count: Int) {
    let index = OrderIndex((0..<count).map { Self.entry($0 * 2) })
    for rank in [-1, count, count * 2 + 1] where rank >= 0 {
      var changed = index
      changed.apply(removals: [], insertions: [Self.entry(rank, "x")])
      #expect(changed.count == count + 1)
      #expect(Self.madeAnew(index, changed) == 1)
    }
    var changed = index
    changed.apply(removals: [Self.entry(0).position], insertions: [])
    #expect(changed.count == count - 1)
    #expect(Self.madeAnew(index, changed) <= 1)
  }

  @Test func `a batch that is appended leaves what stood above it as it is`() {
    let index = OrderIndex((0..<100_000).map { Self.entry($0) })
    var changed = index
    changed.apply(removals: [], insertions: (100_000..<102_000).map { Self.entry($0) })
    #expect(changed.count == 102_000)
    #expect(Self.madeAnew(index, changed) <= 2_000 / (OrderIndex.chunkCapacity / 2) + 2)
  }

  @Test(arguments: TestRandom.seeds)
  func `no chunk is larger than the capacity, whatever was put into it`(seed: UInt64) {
    var random = TestRandom(seed)
    var index = OrderIndex()
    for _ in 0..<30 {
      let first = random.number(0...5_000)
      index.apply(
        removals: [],
        insertions: (0..<random.number(1...4_000)).map { Self.entry(first + $0 / 3, "p\($0 % 3)") })
      #expect(index.chunks.allSatisfy { (1...OrderIndex.chunkCapacity).contains($0.count) })
    }
  }

  @Test func `ids of every length are kept and compared by their bytes`() {
    let ids = [
      "", "a", "a\u{0}", "aa", "e\u{301}", "\u{e9}", String(repeating: "long ", count: 40),
    ]
    let entries = ids.map { Self.entry(1, $0) }.sorted { $0.position < $1.position }
    let index = OrderIndex(entries.shuffled())
    #expect(index.allEntries == entries)
    #expect(entries.indices.allSatisfy { index.offset(of: entries[$0].position) == $0 })
    #expect(index.offset(of: Self.entry(1, "ab").position) == 4)
  }

  @Test func `a part of an order counts all and has its top`() {
    let entries = (0..<5_000).map { Self.entry($0) }
    let part = OrderIndex(top: OrderIndex(Array(entries.prefix(1_000))), count: 5_000)
    #expect(part.count == 5_000)
    #expect(part.heldCount == 1_000)
    #expect(!part.isWhole)
    #expect(part.entries(in: 990..<1_000) == Array(entries[990..<1_000]))
    #expect(part.entries(in: 4_000..<4_000) == [])
    #expect(OrderIndex(top: OrderIndex(entries), count: 5_000).isWhole)
  }
}
