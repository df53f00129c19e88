import Catalog
import Dispatch
import Feed
import Synchronization
import TestSupport
import Testing

/// Whatever is written, each database holds what the model holds.
@Suite struct RandomStoreTests {
  /// At night with a seed that found a fault once, too.
  @Test(
    arguments: StoreKind.databases,
    TestRandom.often([], nightly: [5_379_206_404_544_840_559]) + TestRandom.seeds)
  func `every store holds what the model holds, in every ranking`(
    _ kind: StoreKind, _ seed: UInt64
  ) throws {
    var random = TestRandom(seed)
    // By the seed, so that it replays: much memory or little; at night both, three times.
    for round in TestRandom.often([Int(seed % 2)], nightly: Array(0..<6)) {
      let isSmall = !round.isMultiple(of: 2)
      var writing = try RandomWriting(
        kind, isInLittleMemory: isSmall, "\(kind), seed \(random.seed), round \(round)")
      try writing.run(&random)
    }
  }

  @Test(arguments: StoreKind.databases, TestRandom.seeds)
  func `a group of writes does what each of them does`(_ kind: StoreKind, _ seed: UInt64) throws {
    var random = TestRandom(seed)
    for round in 0..<TestRandom.often(4, nightly: 40) {
      let writing = try RandomWriting(
        kind, isInLittleMemory: false, "\(kind), seed \(random.seed), round \(round)")
      try writing.runGroups(&random)
    }
  }
}

/// Runs that end or are killed or begin again, and single writes, made to both stores.
private struct RandomWriting {
  private let test: TestStore
  private let model: TestStore
  /// What another process sees of the first.
  private let reader: any FeedStore
  private let comment: String
  private var imports: [Int: [any FeedImport]] = [:]
  private var inputs: [Int: [[SeedRecord]]] = [:]
  private var written: [Int: Int] = [:]
  private var killed: [[SeedRecord]] = []
  private var lastRun = 0

  init(_ kind: StoreKind, isInLittleMemory: Bool, _ comment: String) throws {
    var options = StoreOptions()
    if isInLittleMemory { options.orderMemoryBytes = 1 }
    options.keptRankings = 1_000
    test = try TestStore(kind, options)
    model = try TestStore(.model, options)
    reader = try test.again()
    self.comment = comment
  }

  private var stores: [any FeedStore & MediaStore] { [test.store, model.store] }

  mutating func run(_ random: inout TestRandom) throws {
    for step in 0..<120 {
      let name = try change(&random)
      try expectSame("\(comment), step \(step): \(name)", all: step.isMultiple(of: 20))
    }
    for number in imports.keys.sorted() { try finish(number) }
    try expectSame("\(comment), end", all: true)
    let findings = try test.findings()
    #expect(findings.allSatisfy { $0.severity == .note }, "\(comment): \(findings)")
  }

  /// Groups of writes of items and feeds, some of which are refused.
  func runGroups(_ random: inout TestRandom) throws {
    for step in 0..<12 {
      let writes = (0..<random.number(1...20)).map { _ in Self.groupedWrite(&random) }
      let outcomes = stores.map { $0.outcomes(of: writes) }
      let comment = "\(comment), step \(step): \(writes)"
      try #require(outcomes[0] == outcomes[1], "\(comment)")
      try require(
        try stores.map { try $0.feeds().map { [$0.name, $0.title] } }, comment)
      for feed in try model.store.feeds() {
        try require(try stores.map { try $0.walk(feed.name) }, comment)
      }
      for id in (0...14).map({ "p\($0)" }) {
        try require(try stores.map { try $0.item(withID: id) }, comment)
      }
    }
    let findings = try test.findings()
    #expect(findings.allSatisfy { $0.severity == .note }, "\(comment): \(findings)")
  }

  fileprivate enum GroupedWrite {
    case item(ItemWrite)
    case feed(FeedWrite)
  }

  private struct Refused: Error {}

  private static func groupedWrite(_ random: inout TestRandom) -> GroupedWrite {
    if random.once(in: 6) { return .feed(feedWrite(&random)) }
    let write = itemWrite(&random)
    var change = write.change
    if case .put(var post, let placements, let keepsCounters) = change {
      // So many that some have one post, and go with it.
      post.author = random.once(in: 4) ? nil : Author(id: "a\(random.number(0...30))")
      change = .put(post, placements: placements, keepsCounters: keepsCounters)
    }
    guard random.once(in: 3) else { return .item(ItemWrite(id: write.id, change: change)) }
    let isRefused = random.once(in: 2)
    // What it sees decides, so that it has to be what the writes before it made.
    let condition: ItemWrite.Condition = { item in
      if isRefused || item?.placements.contains(where: { $0.feed == "a" }) == true {
        throw Refused()
      }
    }
    return .item(
      random.once(in: 2)
        ? ItemWrite(id: write.id, change: change, condition: condition)
        : ItemWrite(id: write.id, change: change, authorization: condition))
  }

  private mutating func change(_ random: inout TestRandom) throws -> String {
    let running = imports.keys.sorted()
    switch random.number(0...19) {
    case 0..<3 where running.count < 3, 0..<20 where running.isEmpty && random.chance(60):
      try begin((0..<random.number(1...4)).map { _ in Self.batch(&random) })
      return "a run begins"
    case 3 where !killed.isEmpty && running.count < 3:
      try begin(killed)
      killed = []
      return "the same input again"
    case 4..<11 where !running.isEmpty:
      let number = random.one(of: running)
      guard written[number]! < inputs[number]!.count else {
        try finish(number)
        return "run \(number) ends"
      }
      try write(number)
      return "run \(number) writes"
    case 11 where !running.isEmpty:
      let number = random.one(of: running)
      killed = inputs[number]!
      imports[number] = nil
      return "run \(number) is killed"
    case 13:
      let known = (0..<random.number(1...3)).map { _ in Self.knownMedia(&random) }
      for store in stores { try store.keep(known) }
      return "files are known: \(known.map(\.url))"
    case 14:
      let url = Self.url(&random)
      for store in stores { try store.forget([url]) }
      return "a file is forgotten: \(url)"
    case 12 where running.isEmpty:
      let write = Self.feedWrite(&random)
      try expectSameOutcomes { try $0.outcome(of: write) }
      return "a feed is written: \(write.name), \(write.change)"
    default:
      let writes = (0..<random.number(1...3)).map { _ in Self.itemWrite(&random) }
      let outcomes = stores.map { store in
        store.outcomes(ofGroup: writes).map { result in
          result.mapError { Failure(text: "\($0)") }
        }
      }
      #expect(outcomes[0] == outcomes[1], "\(comment)")
      return "items are written: \(writes.map { ($0.id, $0.change) })"
    }
  }

  private struct Failure: Error, Hashable { let text: String }

  private func expectSameOutcomes<Outcome: Hashable>(
    _ body: (any FeedStore) throws -> Outcome
  ) throws {
    let outcomes = stores.map { store in
      Result { try body(store) }.mapError { Failure(text: "\($0)") }
    }
    #expect(outcomes[0] == outcomes[1], "\(comment)")
  }

  private mutating func begin(_ input: [[SeedRecord]]) throws {
    lastRun += 1
    imports[lastRun] = try stores.map { try $0.beginImport() }
    inputs[lastRun] = input
    written[lastRun] = 0
  }

  private mutating func write(_ number: Int) throws {
    let batch = inputs[number]![written[number]!]
    written[number]! += 1
    for run in imports[number]! { try run.write(batch) }
  }

  private mutating func finish(_ number: Int) throws {
    let summaries = try imports.removeValue(forKey: number)!.map { try $0.finish() }
    #expect(summaries[0] == summaries[1], "\(comment), run \(number)")
  }

  private func expectSame(_ comment: String, all: Bool) throws {
    if all { try reader.refresh() }
    let feeds = try model.store.feeds()
    try #require(try test.store.feeds() == feeds, "\(comment)")
    for feed in feeds {
      for query in [
        FeedListQuery(after: .name(feed.name), limit: 2),
        FeedListQuery(before: .name(feed.name), limit: 2),
        FeedListQuery(after: .start, before: .name(feed.name), limit: 1),
      ] {
        let (page, expected) = (try test.store.feeds(query), try model.store.feeds(query))
        try #require(page.feeds == expected.feeds && page.total == expected.total, "\(comment)")
        try #require(
          page.next == expected.next && page.previous == expected.previous, "\(comment), \(query)")
      }
    }
    for feed in feeds {
      for ranking in all ? Array(1...feed.ranking) : [feed.ranking] {
        let cursor = Cursor(feed: feed.name, view: .ranking(ranking), anchor: .start, seen: .start)
        let query = PageQuery(feed: feed.name, start: .after(cursor), limit: 1_000)
        func answer(_ store: any FeedStore) -> Result<[Post], Failure> {
          Result { try store.page(query).posts }.mapError { Failure(text: "\($0)") }
        }
        let expected = answer(model.store)
        for store in all ? [test.store, reader] : [test.store] {
          try #require(
            answer(store) == expected,
            "\(comment), \(feed.name) in ranking \(ranking) of \(feed.ranking)")
        }
      }
    }
    guard all else { return }
    try require(try stores.map { try $0.media(after: nil, limit: 100) }, comment)
    for id in (0...14).map({ "p\($0)" }) {
      try require(try stores.map { try $0.item(withID: id) }, comment)
    }
    let exports = try stores.map { store in
      var records: [SeedRecord] = []
      try store.exportRecords { records.append($0) }
      return records
    }
    try #require(exports[0] == exports[1], "\(comment)")
  }

  private func require<Value: Equatable>(_ values: [Value], _ comment: String) throws {
    try #require(values[0] == values[1], "\(comment)")
  }

  // MARK: What is written

  private static func url(_ random: inout TestRandom) -> String {
    random.one(of: ["/m0", "/m1", "/m2", "https://cdn.example/m0", "m0"])
  }

  private static func knownMedia(_ random: inout TestRandom) -> KnownMedia {
    let bytes = random.number(1...4)
    let version: MediaVersion =
      random.once(in: 3)
      ? .entityTag("\"\(bytes)\"") : .content(sha256: Array(repeating: UInt8(bytes), count: 32))
    return KnownMedia(
      url: url(&random),
      truth: MediaTruth(
        kind: .image, bytes: bytes, mimeType: random.one(of: ["image/png", "image/webp"]),
        version: version),
      changedNanoseconds: random.once(in: 2) ? nil : Int64(random.number(0...3)))
  }

  private static func batch(_ random: inout TestRandom) -> [SeedRecord] {
    (0..<random.number(1...5)).map { _ in
      if random.once(in: 20) {
        return .feed(name: feed(&random), title: random.one(of: [nil, "one", "two"]))
      }
      return .post(post(&random), placements: placements(&random))
    }
  }

  private static func itemWrite(_ random: inout TestRandom) -> ItemWrite {
    let post = post(&random)
    switch random.number(0...9) {
    case 0: return ItemWrite(id: post.id, change: .delete)
    case 1...2:
      let key = IdempotencyKey(
        "k\(random.number(0...9))", of: random.one(of: ["a", "b"]), fingerprint: post.id)
      return ItemWrite(
        id: post.id,
        change: .increment(
          [Counter("likes", random.number(-3...3))], key: random.once(in: 2) ? key : nil))
    default:
      return ItemWrite(
        id: post.id,
        change: .put(
          post, placements: random.chance(70) ? placements(&random) : nil,
          keepsCounters: random.once(in: 3)))
    }
  }

  private static func feedWrite(_ random: inout TestRandom) -> FeedWrite {
    let name = feed(&random)
    let title: String? = random.one(of: [nil, "one", "two"])
    switch random.number(0...5) {
    case 0: return FeedWrite(name: name, change: .delete)
    case 1...2:
      let other = random.one(of: ["a", "b", "c", "d"].filter { $0 != name })
      return FeedWrite(name: name, change: .rename(to: other, title: title))
    default: return FeedWrite(name: name, change: .put(title: title))
    }
  }

  private static func feed(_ random: inout TestRandom) -> String {
    random.one(of: ["a", "b", "c"])
  }

  private static func post(_ random: inout TestRandom) -> Post {
    Post(
      id: "p\(random.number(0...14))", type: .image,
      publishedAt: random.chance(80)
        ? Timestamp(microseconds: Int64(random.number(1...9)) * 1_000_000) : nil,
      media: random.chance(40) ? [Media(kind: .image, url: url(&random))] : [])
  }

  private static func placements(_ random: inout TestRandom) -> [Placement] {
    var placements: [Placement] = []
    if random.chance(70) { placements.append(Placement(feed: "a", rank: random.number(1...9))) }
    if random.chance(50) { placements.append(Placement(feed: "b")) }
    if random.chance(30) {
      placements.append(Placement(feed: "c", rank: random.chance(50) ? random.number(1...5) : nil))
    }
    return placements
  }
}

extension FeedStore {
  /// What becomes of writes that wait together, in words.
  fileprivate func outcomes(of writes: [RandomWriting.GroupedWrite]) -> [String] {
    let hold = WriterHold(self)
    let outcomes = Mutex<[Int: String]>([:])
    let group = DispatchGroup()
    for (index, write) in writes.enumerated() {
      group.enter()
      switch write {
      case .item(let write):
        self.write(write) { result in
          outcomes.withLock { $0[index] = "\(result)" }
          group.leave()
        }
      case .feed(let write):
        self.write(write) { result in
          outcomes.withLock { $0[index] = "\(result)" }
          group.leave()
        }
      }
    }
    hold.end()
    group.wait()
    return outcomes.withLock { outcomes in writes.indices.map { outcomes[$0]! } }
  }
}
