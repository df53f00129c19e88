import Foundation
import TestSupport
import Testing

@testable import Compression

struct ByteBudgetCacheTests {
  typealias Cache = ByteBudgetCache<Int, Int>
  static let overheadBytes = CacheEntries<Int, Int>.overheadBytes

  /// A cache with room for eight entries of this many bytes and no more.
  static func cacheOfEight(bytes: Int = 1_000) -> Cache {
    Cache(maximumBytes: 8 * (bytes + Self.overheadBytes))
  }

  @Test(arguments: TestRandom.seeds) func `it does what a plain list would do`(seed: UInt64) throws
  {
    var random = TestRandom(seed)
    for _ in 0..<50 {
      let budget = random.number(0...20) * 1_000
      let cache = Cache(maximumBytes: budget)
      var model = CacheModel(
        maximumBytes: budget, overheadBytes: Self.overheadBytes)
      for step in 0..<1_000 {
        let key = random.number(0...40)
        switch random.number(0...99) {
        case 0..<45:
          try #require(cache.value(for: key) == model.value(for: key), TestRandom.replay)
        case 45..<90:
          let bytes = random.number(0...budget / 6)
          cache.insert(step, for: key, bytes: bytes)
          model.insert(step, for: key, bytes: bytes)
        case 90..<99:
          cache.remove(key)
          model.remove(key)
        default:
          guard random.once(in: 4) else { continue }
          cache.removeAll()
          model.removeAll()
        }
        try #require(cache.figures == model.figures, TestRandom.replay)
        try #require(cache.figures.bytes <= budget, TestRandom.replay)
      }
    }
  }

  @Test func `what was not used for the longest gives way`() {
    let cache = Self.cacheOfEight()
    for key in 0..<8 { cache.insert(key, for: key, bytes: 1_000) }
    #expect(cache.figures.evictions == 0)
    #expect(cache.value(for: 0) == 0)
    cache.insert(8, for: 8, bytes: 1_000)
    #expect(cache.figures.evictions == 1)
    #expect(cache.value(for: 1) == nil)
    for key in [0, 2, 3, 4, 5, 6, 7, 8] { #expect(cache.value(for: key) == key) }
  }

  @Test func `a replaced value counts with its new size alone`() {
    let cache = Self.cacheOfEight()
    cache.insert(1, for: 0, bytes: 1_000)
    cache.insert(2, for: 0, bytes: 10)
    #expect(cache.value(for: 0) == 2)
    #expect(cache.figures.entries == 1)
    #expect(cache.figures.bytes == 10 + Self.overheadBytes)
    #expect(cache.figures.evictions == 0)
  }

  @Test func `a value beyond an eighth of the budget is not kept, nor the one before`() {
    let cache = Self.cacheOfEight()
    cache.insert(0, for: 0, bytes: 1_000)
    cache.insert(1, for: 1, bytes: 1_000)
    for bytes in [1_001, Int.max] {
      cache.insert(2, for: 0, bytes: bytes)
      #expect(cache.value(for: 0) == nil)
      #expect(cache.value(for: 1) == 1)
    }
    #expect(cache.figures.entries == 1)
    #expect(cache.figures.evictions == 0)
  }

  @Test func `without a budget nothing is kept`() {
    let cache = Cache(maximumBytes: 0)
    cache.insert(1, for: 1, bytes: 0)
    #expect(cache.value(for: 1) == nil)
    #expect(cache.figures.bytes == 0)
  }

  @Test func `values that are gone are freed`() {
    final class Token: Sendable {}
    let cache = ByteBudgetCache<Int, Token>(maximumBytes: 100_000)
    let ways: [(name: String, go: () -> Void)] = [
      ("removed", { cache.remove(0) }),
      ("replaced", { cache.insert(Token(), for: 0, bytes: 0) }),
      ("gave way", { for key in 1...1_000 { cache.insert(Token(), for: key, bytes: 0) } }),
      ("all removed", { cache.removeAll() }),
    ]
    for (name, go) in ways {
      weak var token: Token?
      do {
        let kept = Token()
        cache.insert(kept, for: 0, bytes: 0)
        token = kept
      }
      #expect(token != nil, "\(name)")
      go()
      #expect(token == nil, "\(name)")
    }
  }

  @Test func `a value's bytes are handed out without a copy`() {
    let cache = ByteBudgetCache<Int, [UInt8]>(maximumBytes: 1 << 20)
    let body = [UInt8](repeating: 1, count: 1_000)
    cache.insert(body, for: 0, bytes: body.count)
    let address = body.withUnsafeBytes { $0.baseAddress }
    #expect(cache.value(for: 0)?.withUnsafeBytes { $0.baseAddress } == address)
  }

  @Test func `threads at once keep to the budget and find their own values`() {
    let budget = 20_000
    let (threads, steps, keys) = (8, 5_000, 60)
    let cache = Cache(maximumBytes: budget)
    let faults = Results<String>()
    let lookUps = Results<Int>()
    DispatchQueue.concurrentPerform(iterations: threads) { thread in
      var random = TestRandom(TestRandom.seeds.last! &+ UInt64(thread))
      var count = 0
      for _ in 0..<steps {
        let key = random.number(0...keys - 1)
        if random.chance(50) {
          count += 1
          if let value = cache.value(for: key), value != key * 7 { faults.add("\(key): \(value)") }
        } else if random.chance(90) {
          cache.insert(key * 7, for: key, bytes: random.number(0...2_000))
        } else {
          cache.remove(key)
        }
        let bytes = cache.figures.bytes
        if bytes > budget { faults.add("\(bytes) bytes") }
      }
      lookUps.add(count)
    }
    #expect(faults.all == [], TestRandom.replay)
    let figures = cache.figures
    #expect(figures.hits + figures.misses == lookUps.all.reduce(0, +), TestRandom.replay)
    #expect((0..<keys).count { cache.value(for: $0) != nil } == figures.entries, TestRandom.replay)
    #expect(figures.evictions > 0, TestRandom.replay)
  }
}
