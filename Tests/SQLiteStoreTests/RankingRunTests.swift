import Catalog
import Feed
import GRDB
import Migrations
import TestSupport
import Testing

@testable import SQLiteStore

/// A ranking in the making is its run's alone.
@Suite struct RankingRunTests {
  let folder = TemporaryFolder()
  let store: SQLiteStore

  /// In `featured` p0 to p9, by rank.
  init() throws {
    store = try SQLiteStore(path: folder.file("feed.sqlite"))
    try store.load((0..<10).map { .ranked("p\($0)", 10 + $0) })
  }

  private func ids(_ numbers: some Sequence<Int>) -> [String] { numbers.map { "p\($0)" } }

  /// Turns the feed round.
  private static let reversal = (0..<10).map { SeedRecord.ranked("p\($0)", 30 - $0) }

  /// A run that is killed after its first batch.
  private func killRun(_ records: [SeedRecord]) throws {
    try store.beginImport().write(records)
    #expect(try store.check().map(\.severity) == [.note])
  }

  /// What published the half of a killed run, each by itself, and what is to be seen afterwards.
  private static let others:
    [(name: String, write: @Sendable (SQLiteStore) throws -> Void, [Int])] =
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

  @Test(arguments: others.indices)
  func `half a ranking is not published by what others write`(_ index: Int) throws {
    try killRun(Array(Self.reversal.prefix(4)) + [.ranked("held back", 0)])
    let other = Self.others[index]
    try other.write(store)
    for reader in [store, try SQLiteStore(path: store.path)] {
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
    #expect(try store.check().isEmpty)
  }

  @Test func `a put beside a run makes a ranking of its own, and the run's comes on top`() throws {
    let run = store.beginImport()
    try run.write(Array(Self.reversal.prefix(5)))
    try Self.others[3].write(store)
    #expect(try store.walk("featured") == ids([9] + Array(0..<9)))
    #expect(try store.feed(named: "featured")?.ranking == 2)
    try run.write(Array(Self.reversal.suffix(5)))
    #expect(try store.walk("featured") == ids([9] + Array(0..<9)))
    #expect(try run.finish().rankedAnew == ["featured"])
    #expect(try store.walk("featured") == ids((0..<10).reversed()))
    #expect(try store.feed(named: "featured")?.ranking == 3)
    #expect(try store.check().isEmpty)
  }

  @Test func `of two runs at once each publishes its own, in the order in which they end`() throws {
    let first = store.beginImport()
    // In another process, as far as the file is concerned.
    let other = try SQLiteStore(path: store.path)
    let second = other.beginImport()
    try first.write(Array(Self.reversal.prefix(5)))
    try second.write([.ranked("p9", 1), .ranked("p8", 2)])
    #expect(try second.finish().rankedAnew == ["featured"])
    try store.refresh()
    #expect(try store.walk("featured") == ids([9, 8] + Array(0..<8)))
    try first.write(Array(Self.reversal.suffix(5)))
    #expect(try first.finish().rankedAnew == ["featured"])
    #expect(try store.walk("featured") == ids((0..<10).reversed()))
    #expect(try store.check().isEmpty)
  }

  @Test func `a run whose every move is taken back makes no ranking`() throws {
    let run = store.beginImport()
    try run.write([.ranked("p0", 99), .ranked("new", 50)])
    try run.write([.ranked("p0", 10), .ranked("new", 51)])
    let summary = try run.finish()
    #expect(summary.rankedAnew == [] && summary.added == 1 && summary.changed == 1)
    #expect(try store.walk("featured") == ids(0..<10) + ["new"])
    #expect(try store.feed(named: "featured")?.ranking == 1)
    #expect(try store.check().isEmpty)
  }

  @Test func `posts whose times a killed run changed go where they belong with the next ranking`()
    throws
  {
    try store.load((1...4).map { .timed("t\($0)", $0) })
    try killRun([.timed("t1", 9), .timed("t2", 8)])
    #expect(try store.walk("newest") == ["t4", "t3", "t2", "t1"])
    #expect(try store.load([.ranked("p9", 0)]).rankedAnew == ["featured", "newest"])
    #expect(try store.walk("newest") == ["t1", "t2", "t4", "t3"])
    #expect(try store.check().isEmpty)
  }

  @Test func `a run that was taken for over is told so, and publishes nothing`() throws {
    let run = store.beginImport()
    try run.write([.ranked("p0", 99)])
    try store.pool.write {
      try $0.execute(sql: "DELETE FROM pending_place; DELETE FROM ranking_run")
    }
    #expect(throws: StoreError.runDropped(path: store.path)) { try run.write([.ranked("x", 1)]) }
    #expect(throws: StoreError.runDropped(path: store.path)) { _ = try run.finish() }
    #expect(try store.walk("featured") == ids(0..<10))
  }

  @Test func `what is stored is never reported as not stored`() throws {
    try store.refresh()
    _ = try store.walk("featured")
    let run = store.beginImport()
    // From here on no refresh works.
    try store.follower.close()
    #expect(throws: StoreError.self) { try store.refresh() }
    try run.write([.ranked("p0", 99), .ranked("new", 50)])
    let summary = try run.finish()
    #expect(summary.added == 1 && summary.changed == 1 && summary.rankedAnew == ["featured"])
    #expect(try SQLiteStore(path: store.path).walk("featured") == ids(1..<10) + ["new", "p0"])
  }

  @Test func `an old database's half stays unseen, and goes`() throws {
    let path = folder.file("old.sqlite")
    let old = try DatabaseFile.open(path: path, options: .init())
    _ = try Migrator(Array(Migration.all.prefix(5))).migrate(old)
    // As the program of that time left it: p1 and p3 moved to the top, p2's time changed, one held back.
    try old.write {
      try $0.execute(
        sql: """
          INSERT INTO feed (name) VALUES ('featured'), ('newest');
          INSERT INTO post (id, type, published_at) VALUES
            ('p1', 'image', 5), ('p2', 'image', 99), ('p3', 'image', 7), ('held', 'image', 1);
          INSERT INTO feed_entry (feed_id, post_id, sort_key, id, published_at, rank, since, until)
          VALUES (1, 1, 11, 'p1', 4, 11, 1, 2), (1, 1, 1, 'p1', 5, 1, 2, NULL),
            (1, 2, 12, 'p2', 99, 12, 1, NULL), (1, 3, 13, 'p3', 7, 13, 1, 2),
            (1, 3, 2, 'p3', 7, 2, 2, NULL), (1, 4, 3, 'held', 1, 3, 2, NULL),
            (2, 2, (1 << 62) - 6, 'p2', 6, NULL, 1, 2), (2, 2, (1 << 62) - 99, 'p2', 99, NULL, 2, NULL),
            (2, 3, (1 << 62) - 7, 'p3', 7, NULL, 1, NULL);
          """)
    }
    try old.close()
    let store = try SQLiteStore(path: path)
    #expect(try store.walk("featured") == ["p1", "p2", "p3"])
    #expect(try store.walk("newest") == ["p3", "p2"])
    #expect(try store.check().allSatisfy { $0.severity == .note })
    #expect(try store.load([.ranked("p1", 50)]).rankedAnew == ["featured", "newest"])
    #expect(try store.walk("featured") == ["p2", "p3", "p1"])
    #expect(try store.walk("newest") == ["p2", "p3"])
    #expect(try store.check().isEmpty)
  }

  // MARK: Whatever is written

  /// A seed that found a fault once, and those of every random test.
  @Test(arguments: [5_379_206_404_544_840_559] + TestRandom.seeds)
  func `every ranking shows what it must, whatever is written`(_ seed: UInt64) throws {
    var random = TestRandom(seed)
    for round in 0..<6 {
      let path = folder.file("random-\(round).sqlite")
      var writing = try RandomWriting(path: path, "seed \(random.seed), round \(round)")
      try writing.run(&random)
    }
  }
}

/// Runs that end or are killed or begin again, single writes, and what prunes, held against the model.
private struct RandomWriting {
  private typealias Record = (id: String, time: Int?, places: [String: Int?])

  private let store: SQLiteStore
  private let reader: SQLiteStore
  private let comment: String
  private var model = RankingModel()
  private var imports: [Int: any FeedImport] = [:]
  private var inputs: [Int: [[Record]]] = [:]
  private var written: [Int: Int] = [:]
  private var killed: [[Record]] = []
  private var lastRun = 0

  init(path: String, _ comment: String) throws {
    let options = SQLiteStore.Options(keptRankings: 1_000)
    store = try SQLiteStore(path: path, options: options)
    reader = try SQLiteStore(path: path, options: options)
    self.comment = comment
  }

  mutating func run(_ random: inout TestRandom) throws {
    for step in 0..<120 {
      let name = try change(&random)
      try expectModel("\(comment), step \(step): \(name)", all: step.isMultiple(of: 20))
    }
    for number in imports.keys.sorted() { try finish(number) }
    try expectModel("\(comment), end", all: true)
    let findings = try store.check()
    #expect(findings.allSatisfy { $0.severity == .note }, "\(comment): \(findings)")
  }

  private mutating func change(_ random: inout TestRandom) throws -> String {
    let running = imports.keys.sorted()
    switch random.number(0...19) {
    case 0..<3 where running.count < 3, 0..<20 where running.isEmpty && random.chance(60):
      try begin(Self.input(&random))
      return "a run begins"
    case 3 where !killed.isEmpty && running.count < 3:
      try begin(killed)
      killed = []
      return "the same input again"
    case 4..<12 where !running.isEmpty:
      let number = random.one(of: running)
      guard written[number]! < inputs[number]!.count else {
        try finish(number)
        return "run \(number) ends"
      }
      try write(number)
      return "run \(number) writes"
    case 12 where !running.isEmpty:
      let number = random.one(of: running)
      killed = inputs[number]!
      kill(number)
      return "run \(number) is killed"
    case 13:
      let id = Self.id(&random)
      model.delete(id)
      _ = try store.deletePost(withID: id)
      return "\(id) is deleted"
    case 14 where random.chance(30):
      let second = random.number(1...8)
      var rule = Pruning.Rule()
      rule.publishedBefore = Timestamp(microseconds: Int64(second) * 1_000_000)
      model.prune(before: second)
      _ = try Pruning(store, rule: rule).run { _ in }
      return "what is before \(second) goes"
    default:
      let record = Self.record(&random)
      let places = random.chance(70) ? record.places : nil
      model.put(record.id, time: record.time, places)
      try store.outcome(
        of: ItemWrite(
          id: record.id, change: .put(Self.post(record), placements: places.map(Self.placements))))
      return "\(record.id) is put"
    }
  }

  private mutating func begin(_ input: [[Record]]) throws {
    lastRun += 1
    imports[lastRun] = store.beginImport()
    inputs[lastRun] = input
    written[lastRun] = 0
    model.runs[lastRun] = RankingModel.Run()
  }

  private mutating func write(_ number: Int) throws {
    let batch = inputs[number]![written[number]!]
    written[number]! += 1
    model.write(number, batch)
    try imports[number]!.write(
      batch.map { .post(Self.post($0), placements: Self.placements($0.places)) })
  }

  private mutating func finish(_ number: Int) throws {
    model.finish(number)
    _ = try imports.removeValue(forKey: number)!.finish()
  }

  /// Its program ends: the lock goes with it.
  private mutating func kill(_ number: Int) {
    imports[number] = nil
    if model.runs[number]!.hasBegun { model.dead.insert(number) } else { model.runs[number] = nil }
  }

  private func expectModel(_ comment: String, all: Bool) throws {
    if all { try reader.refresh() }
    for (feed, rankings) in model.rankings {
      #expect(try store.feed(named: feed)?.ranking == rankings.count, "\(comment), \(feed)")
      for ranking in all ? Array(1...rankings.count) : [rankings.count] {
        let cursor = Cursor(feed: feed, view: .ranking(ranking), anchor: .start, seen: .start)
        let query = PageQuery(feed: feed, start: .after(cursor), limit: 1_000)
        for store in all ? [store, reader] : [store] {
          #expect(
            try store.page(query).posts.map(\.id) == model.order(feed, ranking),
            "\(comment), \(feed) in ranking \(ranking) of \(rankings.count)")
        }
      }
    }
  }

  // MARK: Records

  private static func input(_ random: inout TestRandom) -> [[Record]] {
    (0..<random.number(1...4)).map { _ in
      var batch: [Record] = []
      for _ in 0..<random.number(1...5) {
        let record = record(&random)
        if !batch.contains(where: { $0.id == record.id }) { batch.append(record) }
      }
      return batch
    }
  }

  private static func id(_ random: inout TestRandom) -> String { "p\(random.number(0...14))" }

  private static func record(_ random: inout TestRandom) -> Record {
    var places: [String: Int?] = [:]
    if random.chance(70) { places["a"] = .some(random.number(1...9)) }
    if random.chance(50) { places["b"] = .some(nil) }
    if random.chance(30) { places["c"] = .some(random.chance(50) ? random.number(1...5) : nil) }
    return (id(&random), random.chance(80) ? random.number(1...9) : nil, places)
  }

  private static func post(_ record: Record) -> Post {
    Post(
      id: record.id, type: .image,
      publishedAt: record.time.map { Timestamp(microseconds: Int64($0) * 1_000_000) })
  }

  private static func placements(_ places: [String: Int?]) -> [Placement] {
    places.map { Placement(feed: $0, rank: $1) }.sorted { $0.feed < $1.feed }
  }
}
