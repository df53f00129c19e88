import Dispatch
import Catalog
import Feed
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import SQLiteStore

@Suite struct CounterTests {
  let folder = TemporaryFolder()
  /// Seconds since 1970.
  let clock = Clock()
  let store: SQLiteStore

  final class Clock: Sendable {
    let seconds = Mutex<Int64>(1_000_000)

    func advance(by difference: Int64) { seconds.withLock { $0 += difference } }
  }

  init() throws {
    store = try SQLiteStore(
      path: folder.file("feed.sqlite"),
      options: .init(
        idempotencyKeepSeconds: 100, maximumIdempotencyKeys: 20,
        now: { [clock] in
          Timestamp(microseconds: clock.seconds.withLock { $0 } * 1_000_000)
        }))
    try store.load((0..<5).map { .ranked("p\($0)", $0) })
  }

  private func keys() throws -> [String] {
    try store.pool.read {
      try String.fetchAll($0, sql: "SELECT key FROM idempotency_key ORDER BY key_id")
    }
  }

  @Test func `increments from many threads add up`() throws {
    let sums = Mutex<[String: Int]>([:])
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      var random = TestRandom(TestRandom.seeds.last! &+ UInt64(thread))
      for _ in 0..<200 {
        let id = "p\(random.number(0...4))"
        let value = random.number(-2...5)
        #expect(throws: Never.self) { try store.increment(id, by: value) }
        sums.withLock { $0[id, default: 0] += value }
      }
    }
    let stored = try (0..<5).map { try store.post(withID: "p\($0)")?.counters }
    let expected = sums.withLock { sums in (0..<5).map { [Counter("likes", sums["p\($0)"]!)] } }
    #expect(stored == expected, TestRandom.replay)
    #expect(try store.check().isEmpty)
  }

  @Test func `only the counters change`() throws {
    let before = try #require(try store.post(withID: "p1"))
    try store.increment("p1", "views", by: 3)
    var after = before
    after.counters = [Counter("views", 3)]
    #expect(try store.post(withID: "p1") == after)
    #expect(
      try store.increment("p1", "likes")
        == .counted(
          [Counter("likes", 1), Counter("views", 3)], isReplay: false))
  }

  @Test func `an increment that cannot be is refused and keeps no key`() throws {
    try store.increment("p1", by: RecordLimits.number)
    #expect(throws: FeedError.counterOutOfRange(item: "p1", counter: "likes")) {
      try store.increment("p1", key: "k")
    }
    #expect(throws: FeedError.unknownItem("nobody")) { try store.increment("nobody", key: "k") }
    #expect(try keys() == [])
    #expect(try store.increment("p2", key: "k") == .counted([Counter("likes", 1)], isReplay: false))
  }

  @Test func `the same key from many threads counts once`() throws {
    let outcomes = Mutex<[ItemOutcome]>([])
    DispatchQueue.concurrentPerform(iterations: 32) { _ in
      #expect(throws: Never.self) {
        let outcome = try store.increment("p3", by: 4, key: "once")
        outcomes.withLock { $0.append(outcome) }
      }
    }
    let counters = [Counter("likes", 4)]
    #expect(try store.post(withID: "p3")?.counters == counters)
    let all = outcomes.withLock { $0 }
    #expect(all.filter { $0 == .counted(counters, isReplay: false) }.count == 1)
    #expect(all.filter { $0 == .counted(counters, isReplay: true) }.count == 31)
  }

  @Test func `a replay is answered as the first time, whatever became of the item`() throws {
    let first = try store.increment("p1", key: "k")
    #expect(first == .counted([Counter("likes", 1)], isReplay: false))
    try store.increment("p1")
    #expect(try store.increment("p1", key: "k") == .counted([Counter("likes", 1)], isReplay: true))
    _ = try store.deletePost(withID: "p1")
    let again = try SQLiteStore(path: store.path, options: store.options)
    #expect(try again.increment("p1", key: "k") == .counted([Counter("likes", 1)], isReplay: true))
    // Nor is the condition asked.
    let change = ItemWrite.Change.increment(
      [Counter("likes", 1)], key: IdempotencyKey("k", fingerprint: "p1 likes 1"))
    let write = ItemWrite(id: "p1", change: change) { _ in throw WriteTests.Refused() }
    #expect(try again.outcome(of: write) == .counted([Counter("likes", 1)], isReplay: true))
  }

  @Test func `a replay of an increment of nothing has no counters`() throws {
    let write = ItemWrite(
      id: "p0", change: .increment([], key: IdempotencyKey("k", fingerprint: "")))
    #expect(try store.outcome(of: write) == .counted([], isReplay: false))
    #expect(try store.outcome(of: write) == .counted([], isReplay: true))
    #expect(try store.check().isEmpty)
  }

  @Test func `the same key for another request is refused`() throws {
    try store.increment("p1", key: "k")
    #expect(throws: FeedError.idempotencyKeyReused("k")) {
      try store.increment("p1", by: 2, key: "k")
    }
    #expect(throws: FeedError.idempotencyKeyReused("k")) { try store.increment("p2", key: "k") }
    #expect(try store.post(withID: "p1")?.counters == [Counter("likes", 1)])
    #expect(try store.post(withID: "p2")?.counters == [])
  }

  @Test func `a key is kept for its time and counts anew afterwards`() throws {
    for number in 0..<12 { try store.increment("p1", key: "old\(number)") }
    clock.advance(by: 99)
    #expect(
      try store.increment("p1", key: "old3")
        == .counted(
          [Counter("likes", 4)], isReplay: true))
    clock.advance(by: 1)
    #expect(
      try store.increment("p1", key: "old11")
        == .counted(
          [Counter("likes", 13)], isReplay: false))
    // A few at a time, the oldest first.
    #expect(try keys() == ["old8", "old9", "old10", "old11"])
    #expect(throws: Never.self) { try store.increment("p2", key: "old0") }
    #expect(try keys() == ["old11", "old0"])
  }

  @Test func `so many keys are kept and no more, the oldest first out`() throws {
    for number in 0..<50 {
      try store.increment("p1", key: "k\(number)")
      #expect(try keys().count == min(number + 1, 20))
    }
    #expect(try keys() == (30..<50).map { "k\($0)" })
    // Under a lower limit a few more go for each that comes.
    var options = store.options
    options.maximumIdempotencyKeys = 2
    let strict = try SQLiteStore(path: store.path, options: options)
    let counts = try (0..<4).map { number in
      try strict.increment("p1", key: "s\(number)")
      return try keys().count
    }
    #expect(counts == [13, 6, 2, 2])
  }
}
