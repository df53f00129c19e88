import Dispatch
import Catalog
import Feed
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import SQLiteStore

/// The rows of idempotency keys: when they go.
@Suite struct IdempotencyKeyTests {
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
    #expect(try keys() == ["old8", "old9", "old10", "old11"].map { "a \($0)" })
    #expect(throws: Never.self) { try store.increment("p2", key: "old0") }
    #expect(try keys() == ["a old11", "a old0"])
  }

  @Test func `a limited number of keys is kept, the oldest first out`() throws {
    for number in 0..<50 {
      try store.increment("p1", key: "k\(number)")
      #expect(try keys().count == min(number + 1, 20))
    }
    #expect(try keys() == (30..<50).map { "a k\($0)" })
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
