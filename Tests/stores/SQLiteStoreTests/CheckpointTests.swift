import Catalog
import Feed
import RowStore
import GRDB
import Seeding
import Synchronization
import SQLiteTestSupport
import TestSupport
import Testing

@testable import SQLiteStore

/// The log is brought into the database with the write lock held, and never otherwise:
/// https://sqlite.org/wal.html#walresetbug.
@Suite struct CheckpointTests {
  let folder = TemporaryFolder()
  var path: String { folder.file("feed.sqlite") }

  @Test func `whatever writes brings the log in with the write lock held`() throws {
    let locks = WALLocks(of: path)
    defer { locks.end() }
    let store = try SQLiteStore(path: path)
    try store.load(Array(PostGenerator(count: 9_000, seed: 1)), batch: 2_000)
    let afterImport = locks.checkpoints
    #expect(afterImport > 0)
    for index in 0..<400 {
      try store.outcome(
        of: ItemWrite(id: "g\(index + 1)", change: .increment([Counter("views", 1)], key: nil)))
    }
    let log = WriteAheadLog(of: store, limitBytes: 1)
    #expect(try log.look() == .cut)
    #expect(locks.checkpoints > afterImport)

    let beforePruning = locks.checkpoints
    var rule = PruningRule()
    rule.keptPosts = 100
    #expect(try Pruning(store, rule: rule, batch: 100).run { _ in }.posts > 1_000)
    #expect(locks.checkpoints > beforePruning)
    try store.close()

    let beforeVacuum = locks.checkpoints
    _ = try Vacuum(path: path).run()
    #expect(locks.checkpoints > beforeVacuum)
    try DatabaseFile.fold(path: path)
    #expect(try SQLiteStore(existing: path).check().isEmpty)
    #expect(locks.checkpointsWithoutWriteLock == 0)
  }

  /// Two processes, as two stores: whoever has the write lock keeps the other from the log, and nobody
  /// waits for a checkpoint that somebody else makes.
  @Test func `a checkpoint that finds somebody writing is left to that one`() throws {
    let locks = WALLocks(of: path)
    defer { locks.end() }
    let store = try SQLiteStore(path: path)
    try store.load([.ranked("a", 1)])
    let other = try DatabaseFile.open(path: path, options: .init())
    try other.write { database in
      try database.execute(sql: "UPDATE post SET title = 'b'")
      let before = locks.checkpoints
      #expect(try store.pool.checkpoint(waiting: 0) == .busy)
      #expect(locks.checkpoints == before)
    }
    #expect(try store.pool.checkpoint(waiting: 0) == .whole)
    #expect(locks.checkpointsWithoutWriteLock == 0)
  }

  @Test func `a log that is read is brought in as far as nobody needs it`() throws {
    let store = try SQLiteStore(path: path)
    try store.load([.ranked("a", 1)])
    let reader = try DatabaseQueue(path: path)
    try reader.read { database in
      _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM post")
      try store.load([.ranked("b", 2)])
      #expect(try store.pool.checkpoint(waiting: 0) == .partial)
    }
    #expect(try store.pool.checkpoint(waiting: 0) == .whole)
  }

  @Test func `a database that was closed is closed once more, and its log is no longer seen to`()
    throws
  {
    let store = try SQLiteStore(path: path)
    let log = WriteAheadLog(of: store, limitBytes: 1)
    try store.load([.ranked("a", 1)])
    try store.close()
    try store.close()
    #expect(throws: StoreError.closed(path: path)) { try store.pool.checkpoint(waiting: 0) }
    #expect(throws: (any Error).self) { try store.load([.ranked("b", 2)]) }
    #expect(try log.look() == .small)
  }

  @Test(arguments: [
    (3_006_023, false), (3_007_000, true), (3_040_001, true), (3_044_005, true),
    (3_044_006, false), (3_045_000, true), (3_050_006, true), (3_050_007, false),
    (3_051_000, true), (3_051_002, true), (3_051_003, false), (3_053_001, false),
  ])
  func `the releases of SQLite that have the race are known`(_ number: Int, _ hasRace: Bool) {
    #expect(SQLiteLibrary.hasLogResetRace(number) == hasRace)
  }

  // MARK: The race itself

  /// A program with a database open: how it writes, and how it brings the log in.
  private struct Peer: Sendable {
    let write: @Sendable (_ body: (Database) throws -> Void) throws -> Void
    let checkpoint: @Sendable () throws -> Void

    /// As programs do that leave it to SQLite.
    init(_ queue: DatabaseQueue) {
      write = { body in try queue.write(body) }
      checkpoint = { try queue.writeWithoutTransaction { _ = try $0.checkpoint(.passive) } }
    }

    /// As this one does.
    init(_ connections: DatabaseConnections) {
      write = { body in try connections.write(body) }
      checkpoint = {
        let outcome = try connections.checkpoint(waiting: 0)
        #expect(outcome == .whole)
      }
    }

    /// A table with a page for each row.
    func makeRows() throws {
      try write { database in
        try database.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, letters TEXT)")
        for id in 1...40 {
          try database.execute(
            sql: "INSERT INTO t VALUES (?, ?)",
            arguments: [id, String(repeating: "-", count: 3000)])
        }
      }
    }

    func set(_ ids: ClosedRange<Int>, _ letter: String) throws {
      try write { database in
        try database.execute(
          sql: "UPDATE t SET letters = ? WHERE id BETWEEN ? AND ?",
          arguments: [String(repeating: letter, count: 3000), ids.lowerBound, ids.upperBound])
      }
    }
  }

  /// One of two programs looks at a log that is brought in whole; before it goes on, the other begins
  /// the log anew. Where the first does not notice, it takes the new log for brought in as far as the old
  /// one was, and commits are lost when it is begun anew again.
  ///
  /// - Returns: the first letter of each row, which should be `written`.
  private func race(_ first: Peer, _ second: Peer, _ locks: WALLocks) throws -> String {
    try second.makeRows()
    try first.checkpoint()
    // By the other: the next look of the first finds another log, and nothing to bring in.
    try second.set(1...20, "a")
    try second.checkpoint()
    let failure = Mutex<(any Error)?>(nil)
    locks.pauseNextCheckpoint {
      do {
        try second.set(1...2, "c")
      } catch {
        failure.withLock { $0 = error }
      }
    }
    try first.checkpoint()
    #expect(!locks.isPausePending, "the checkpoint did not stop between its look and its work")
    if let error = failure.withLock({ $0 }) {
      // The write was kept out, and is made now.
      #expect((error as? DatabaseError)?.resultCode == .SQLITE_BUSY)
      try second.set(1...2, "c")
    }
    // Commits up to where the old log ended, and beyond.
    for id in 3...40 { try second.set(id...id, "d") }
    return try DatabaseQueue(path: path).read { database in
      try String.fetchAll(database, sql: "SELECT substr(letters, 1, 1) FROM t ORDER BY id").joined()
    }
  }

  private static let written = "cc" + String(repeating: "d", count: 38)

  /// What makes the test below worth something: where the bug is, this way meets it.
  @Test func `a checkpoint without the write lock loses commits, where SQLite has the bug`() throws
  {
    let locks = WALLocks(of: path)
    defer { locks.end() }
    let queues = try (0..<2).map { _ in try DatabaseQueue(path: path) }
    for queue in queues {
      try queue.writeWithoutTransaction { database in
        try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
      }
    }
    let rows = try race(Peer(queues[0]), Peer(queues[1]), locks)
    #expect(locks.checkpointsWithoutWriteLock > 0)
    #expect((rows != Self.written) == SQLiteLibrary.hasLogResetRace, "\(rows)")
  }

  @Test func `a checkpoint with the write lock loses nothing`() throws {
    let locks = WALLocks(of: path)
    defer { locks.end() }
    let options = DatabaseFile.Options(busyTimeoutMilliseconds: 0)
    let peers = try (0..<2).map { _ in
      Peer(try DatabaseFile.open(path: path, options: options))
    }
    #expect(try race(peers[0], peers[1], locks) == Self.written)
    #expect(locks.checkpointsWithoutWriteLock == 0)
  }
}
