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
    _ = try Migrator(Array(Migration.sqlite.prefix(5))).migrate(old)
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
}
