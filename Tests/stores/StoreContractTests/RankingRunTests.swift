import Catalog
import Feed
import TestSupport
import Testing

/// A ranking in the making is its run's alone.
@Suite struct RankingRunTests {
  /// In `featured` p0 to p9, by rank.
  private static func make(_ kind: StoreKind) throws -> TestStore {
    let test = try TestStore(kind)
    try test.store.load((0..<10).map { .ranked("p\($0)", 10 + $0) })
    return test
  }

  private func ids(_ numbers: some Sequence<Int>) -> [String] { numbers.map { "p\($0)" } }

  /// Turns the feed round.
  private static let reversal = (0..<10).map { SeedRecord.ranked("p\($0)", 30 - $0) }

  /// A run that is killed after its first batch.
  private func killRun(_ test: TestStore, _ records: [SeedRecord]) throws {
    try test.store.beginImport().write(records)
    try test.expectSound(notes: 1)
  }

  /// What published the half of a killed run, each by itself, and what is to be seen afterwards.
  private static let others:
    [(name: String, write: @Sendable (any FeedStore) throws -> Void, [Int])] =
      [
        ("a new post", { try $0.load([.ranked("p77", 0)]) }, [77] + Array(0..<10)),
        ("a move by another seed", { try $0.load([.ranked("p9", 0)]) }, [9] + Array(0..<9)),
        (
          "a put of a new post",
          {
            try $0.outcome(
              of: ItemWrite(
                id: "p77",
                change: .put(
                  Post(id: "p77", type: .image), placements: [Placement(feed: "featured", rank: 0)])
              ))
          }, [77] + Array(0..<10)
        ),
        (
          "a put that moves",
          {
            try $0.outcome(
              of: ItemWrite(
                id: "p9",
                change: .put(
                  Post(id: "p9", type: .image), placements: [Placement(feed: "featured", rank: 0)]))
            )
          }, [9] + Array(0..<9)
        ),
      ]

  @Test(arguments: StoreKind.allCases, others.indices)
  func `half a ranking is not published by what others write`(_ kind: StoreKind, _ index: Int)
    throws
  {
    let test = try Self.make(kind)
    let store = test.store
    try killRun(test, Array(Self.reversal.prefix(4)) + [.ranked("held back", 0)])
    let other = Self.others[index]
    try other.write(store)
    for reader in [store, try test.again()] {
      #expect(try reader.walk("featured") == ids(other.2), "\(other.name)")
    }
    // The same input again is published whole, on top.
    #expect(
      try store.load(Self.reversal + [.ranked("held back", 0)], batch: 4).rankedAnew
        == ["featured"])
    let rest = other.2.contains(77) ? ["p77"] : []
    #expect(
      try Set(store.walk("featured").prefix(2))
        == Set(["held back"] + (rest.isEmpty ? ["p9"] : rest)))
    #expect(try store.walk("featured").suffix(9) == ids((0..<9).reversed()))
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases)
  func `a put beside a run makes a ranking of its own, and the run's comes on top`(
    _ kind: StoreKind
  ) throws {
    let test = try Self.make(kind)
    let store = test.store
    let run = try store.beginImport()
    try run.write(Array(Self.reversal.prefix(5)))
    try Self.others[3].write(store)
    #expect(try store.walk("featured") == ids([9] + Array(0..<9)))
    #expect(try store.feed(named: "featured")?.ranking == 2)
    try run.write(Array(Self.reversal.suffix(5)))
    #expect(try store.walk("featured") == ids([9] + Array(0..<9)))
    #expect(try run.finish().rankedAnew == ["featured"])
    #expect(try store.walk("featured") == ids((0..<10).reversed()))
    #expect(try store.feed(named: "featured")?.ranking == 3)
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases)
  func `of two runs at once each publishes its own, in the order in which they end`(
    _ kind: StoreKind
  ) throws {
    let test = try Self.make(kind)
    let store = test.store
    let first = try store.beginImport()
    // In another process, as far as the file is concerned.
    let other = try test.again()
    let second = try other.beginImport()
    try first.write(Array(Self.reversal.prefix(5)))
    try second.write([.ranked("p9", 1), .ranked("p8", 2)])
    #expect(try second.finish().rankedAnew == ["featured"])
    try store.refresh()
    #expect(try store.walk("featured") == ids([9, 8] + Array(0..<8)))
    try first.write(Array(Self.reversal.suffix(5)))
    #expect(try first.finish().rankedAnew == ["featured"])
    #expect(try store.walk("featured") == ids((0..<10).reversed()))
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases)
  func `a run whose every move is taken back makes no ranking`(_ kind: StoreKind) throws {
    let test = try Self.make(kind)
    let store = test.store
    let run = try store.beginImport()
    try run.write([.ranked("p0", 99), .ranked("new", 50)])
    try run.write([.ranked("p0", 10), .ranked("new", 51)])
    let summary = try run.finish()
    #expect(summary.rankedAnew == [] && summary.added == 1 && summary.changed == 1)
    #expect(try store.walk("featured") == ids(0..<10) + ["new"])
    #expect(try store.feed(named: "featured")?.ranking == 1)
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases)
  func `posts whose times a killed run changed go where they belong with the next ranking`(
    _ kind: StoreKind
  ) throws {
    let test = try Self.make(kind)
    let store = test.store
    try store.load((1...4).map { .timed("t\($0)", $0) })
    try killRun(test, [.timed("t1", 9), .timed("t2", 8)])
    #expect(try store.walk("newest") == ["t4", "t3", "t2", "t1"])
    #expect(try store.load([.ranked("p9", 0)]).rankedAnew == ["featured", "newest"])
    #expect(try store.walk("newest") == ["t1", "t2", "t4", "t3"])
    try test.expectSound()
  }
}
