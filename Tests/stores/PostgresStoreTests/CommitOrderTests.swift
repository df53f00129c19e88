import Catalog
import Feed
import Postgres
import PostgresTestSupport
import TestSupport
import Testing

@testable import PostgresStore

/// Rows get their numbers before they are committed: what is committed later than what was seen is not lost.
@Suite(.enabled(if: PostgresCluster.isPresent, "skipped: there is no PostgreSQL"))
struct CommitOrderTests {
  private static let insert = """
    WITH made AS (INSERT INTO post (id, type) VALUES ($1::text, 'image') RETURNING post_id, id)
    INSERT INTO feed_entry (feed_id, post_id, sort_key, id, rank, since)
    SELECT (SELECT feed_id FROM feed WHERE name = 'featured'), post_id, $2::int8, id, $2::int8, 1
    FROM made
    """

  @Test func `transactions that commit in another order than they began are all seen`() throws {
    let database = try TestDatabase()
    let store = try database.store()
    try store.load((1...3).map { .ranked("p\($0)", 10 * $0) })
    #expect(try store.walk("featured") == ["p1", "p2", "p3"])
    let (first, second, third) = (
      try database.connect(), try database.connect(), try database.connect()
    )
    for (connection, id, rank) in [(first, "a", 1), (second, "b", 15), (third, "c", 25)] {
      try connection.run("BEGIN")
      try connection.run(Self.insert, [.text(id), .integer(rank)])
    }
    try third.run("DELETE FROM post WHERE id = 'p2'")
    #expect(try !store.refresh() || store.walk("featured") == ["p1", "p2", "p3"])
    try second.run("COMMIT")
    #expect(try store.refresh())
    #expect(try store.walk("featured") == ["p1", "b", "p2", "p3"])
    try third.run("COMMIT")
    #expect(try store.refresh())
    #expect(try store.walk("featured") == ["p1", "b", "c", "p3"])
    // One that was undone leaves nothing, and one that came after it is seen while it runs.
    try first.run("ROLLBACK")
    try first.run("BEGIN")
    try first.run(Self.insert, [.text("late"), .integer(2)])
    try store.load([.ranked("own", 3)])
    #expect(try store.walk("featured") == ["own", "p1", "b", "c", "p3"])
    try first.run("COMMIT")
    #expect(try store.refresh())
    #expect(try store.walk("featured") == ["late", "own", "p1", "b", "c", "p3"])
    #expect(try store.refresh() == false)
  }

  @Test(arguments: TestRandom.seeds)
  func `a reader beside transactions of any order holds what a fresh one reads`(
    _ seed: UInt64
  ) throws {
    var random = TestRandom(seed)
    let database = try TestDatabase()
    let store = try database.store()
    try store.load([.ranked("p0", 500)])
    _ = try store.walk("featured")
    let connections = try (0..<4).map { _ in try database.connect() }
    var running = Set<Int>()
    var number = 0
    for _ in 0..<150 {
      let index = random.number(0...3)
      let connection = connections[index]
      if running.insert(index).inserted { try connection.run("BEGIN") }
      if random.once(in: 2) {
        number += 1
        try connection.run(
          Self.insert, [.text("x\(number)"), .integer(random.number(0...1_000))])
      } else {
        try connection.run(random.once(in: 4) ? "ROLLBACK" : "COMMIT")
        running.remove(index)
      }
      if random.once(in: 3) { try store.refresh() }
      if random.once(in: 20) {
        try store.refresh()
        #expect(
          try store.walk("featured", limit: 1_000)
            == database.store().walk("featured", limit: 1_000), TestRandom.replay)
      }
    }
    for index in running { try connections[index].run("COMMIT") }
    try store.refresh()
    #expect(
      try store.walk("featured", limit: 1_000) == database.store().walk("featured", limit: 1_000),
      TestRandom.replay)
  }

  @Test func `who is behind what the log still holds reads all anew`() throws {
    let database = try TestDatabase()
    let store = try database.store()
    try store.load([.ranked("a", 1), .ranked("b", 2)])
    #expect(try store.walk("featured") == ["a", "b"])
    let connection = try database.connect()
    try connection.run("DELETE FROM post WHERE id = 'a'")
    // As the trimming leaves it.
    try connection.run(
      script: """
        BEGIN; DELETE FROM change_log;
        UPDATE change_log_floor SET transaction = pg_current_xact_id(); COMMIT
        """)
    #expect(try store.refresh())
    #expect(try store.walk("featured") == ["b"])
  }

  @Test func `who waits is woken by a write of another`() throws {
    let database = try TestDatabase()
    let (store, other) = (try database.store(), try database.store())
    // Begins to listen.
    store.waitForChanges(atMostMilliseconds: 1)
    try other.load([.ranked("a", 1)])
    let start = ContinuousClock.now
    store.waitForChanges(atMostMilliseconds: 600_000)
    #expect(ContinuousClock.now - start < .seconds(300))
  }
}
