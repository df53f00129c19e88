import Catalog
import Dispatch
import Feed
import Synchronization
import TestSupport
import Testing

/// Counters, and the keys with which an increment counts once.
@Suite struct CounterTests {
  private static func make(
    _ kind: StoreKind, _ options: StoreOptions = StoreOptions()
  ) throws -> TestStore {
    let test = try TestStore(kind, options)
    try test.store.load((0..<5).map { .ranked("p\($0)", $0) })
    return test
  }

  @Test(arguments: StoreKind.allCases)
  func `increments from many threads add up`(_ kind: StoreKind) throws {
    let test = try Self.make(kind)
    let store = test.store
    let sums = Mutex<[String: Int]>([:])
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      var random = TestRandom(TestRandom.seeds.last! &+ UInt64(thread))
      for _ in 0..<TestRandom.often(60, nightly: 200) {
        let id = "p\(random.number(0...4))"
        let value = random.number(-2...5)
        #expect(throws: Never.self) { try store.increment(id, by: value) }
        sums.withLock { $0[id, default: 0] += value }
      }
    }
    let stored = try (0..<5).map { try store.post(withID: "p\($0)")?.counters }
    let expected = sums.withLock { sums in (0..<5).map { [Counter("likes", sums["p\($0)"]!)] } }
    #expect(stored == expected, TestRandom.replay)
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases)
  func `only the counters change`(_ kind: StoreKind) throws {
    let test = try Self.make(kind)
    let store = test.store
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

  @Test(arguments: StoreKind.allCases)
  func `an increment that cannot be is refused and keeps no key`(_ kind: StoreKind) throws {
    let test = try Self.make(kind)
    let store = test.store
    try store.increment("p1", by: RecordLimits.number)
    #expect(throws: FeedError.counterOutOfRange(item: "p1", counter: "likes")) {
      try store.increment("p1", key: "k")
    }
    #expect(throws: FeedError.unknownItem("nobody")) { try store.increment("nobody", key: "k") }
    #expect(try store.increment("p2", key: "k") == .counted([Counter("likes", 1)], isReplay: false))
  }

  @Test(arguments: StoreKind.allCases)
  func `the same key from many threads counts once`(_ kind: StoreKind) throws {
    let test = try Self.make(kind)
    let store = test.store
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

  @Test(arguments: StoreKind.allCases)
  func `a replay is answered as the first time, whatever became of the item`(_ kind: StoreKind)
    throws
  {
    let test = try Self.make(kind)
    let store = test.store
    let first = try store.increment("p1", key: "k")
    #expect(first == .counted([Counter("likes", 1)], isReplay: false))
    try store.increment("p1")
    #expect(try store.increment("p1", key: "k") == .counted([Counter("likes", 1)], isReplay: true))
    _ = try store.deletePost(withID: "p1")
    let again = try test.again()
    #expect(try again.increment("p1", key: "k") == .counted([Counter("likes", 1)], isReplay: true))
    // Nor is the condition asked.
    let change = ItemWrite.Change.increment(
      [Counter("likes", 1)], key: IdempotencyKey("k", of: "a", fingerprint: "p1 likes 1"))
    let write = ItemWrite(id: "p1", change: change) { _ in throw WriteTests.Refused() }
    #expect(try again.outcome(of: write) == .counted([Counter("likes", 1)], isReplay: true))
    // But whoever may not count learns nothing.
    let unauthorized = ItemWrite(
      id: "p1", change: change, authorization: { _ in throw WriteTests.Refused() })
    #expect(throws: WriteTests.Refused.self) { try again.outcome(of: unauthorized) }
  }

  @Test(arguments: StoreKind.allCases)
  func `the same key of two owners is two keys`(_ kind: StoreKind) throws {
    let test = try Self.make(kind)
    for (owner, likes) in [("a", 1), ("b", 2)] {
      #expect(
        try test.store.increment("p1", key: "1", of: owner)
          == .counted([Counter("likes", likes)], isReplay: false))
    }
    for (owner, likes) in [("a", 1), ("b", 2)] {
      #expect(
        try test.again().increment("p1", key: "1", of: owner)
          == .counted([Counter("likes", likes)], isReplay: true))
    }
    // What the one used for something else is the other's to use.
    try test.store.increment("p1", key: "2", of: "a")
    #expect(throws: FeedError.idempotencyKeyReused("2")) {
      try test.store.increment("p2", key: "2", of: "a")
    }
    #expect(
      try test.store.increment("p2", key: "2", of: "b")
        == .counted([Counter("likes", 1)], isReplay: false))
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases)
  func `a replay of an increment of nothing has no counters`(_ kind: StoreKind) throws {
    let test = try Self.make(kind)
    let store = test.store
    let write = ItemWrite(
      id: "p0", change: .increment([], key: IdempotencyKey("k", of: "a", fingerprint: "")))
    #expect(try store.outcome(of: write) == .counted([], isReplay: false))
    #expect(try store.outcome(of: write) == .counted([], isReplay: true))
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases)
  func `the same key for another request is refused`(_ kind: StoreKind) throws {
    let test = try Self.make(kind)
    let store = test.store
    try store.increment("p1", key: "k")
    #expect(throws: FeedError.idempotencyKeyReused("k")) {
      try store.increment("p1", by: 2, key: "k")
    }
    #expect(throws: FeedError.idempotencyKeyReused("k")) { try store.increment("p2", key: "k") }
    #expect(try store.post(withID: "p1")?.counters == [Counter("likes", 1)])
    #expect(try store.post(withID: "p2")?.counters == [])
  }

  @Test(arguments: StoreKind.allCases)
  func `a key is kept for its time, and as one of a limited number`(_ kind: StoreKind) throws {
    let seconds = Mutex<Int64>(1_000_000)
    var options = StoreOptions()
    options.idempotencyKeepSeconds = 100
    options.maximumIdempotencyKeys = 3
    options.now = { Timestamp(microseconds: seconds.withLock { $0 } * 1_000_000) }
    let test = try Self.make(kind, options)
    let store = test.store
    func isReplay(_ key: String) throws -> Bool {
      guard case .counted(_, let isReplay) = try store.increment("p1", key: key) else {
        return false
      }
      return isReplay
    }
    #expect(try !isReplay("a"))
    seconds.withLock { $0 += 99 }
    #expect(try isReplay("a"))
    seconds.withLock { $0 += 1 }
    #expect(try !isReplay("a"))
    for key in ["b", "c", "d"] { #expect(try !isReplay(key)) }
    for key in ["b", "c", "d"] { #expect(try isReplay(key)) }
    #expect(try !isReplay("a"))
  }
}
