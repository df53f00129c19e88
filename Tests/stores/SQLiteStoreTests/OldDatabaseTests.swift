import Feed
import GRDB
import Migrations
import TestSupport
import Testing

@testable import SQLiteStore

/// Databases of before the first release, when `0001-store` was fifteen migrations.
@Suite struct OldDatabaseTests {
  let folder = TemporaryFolder()
  var path: String { folder.file("feed.sqlite") }

  private static let names = [
    "0001-feeds", "0002-first-policies", "0003-writes", "0004-post-changes", "0005-order-alone",
    "0006-rankings", "0007-strategies", "0008-many-feeds", "0009-media-truth",
    "0010-media-variants", "0011-engine-strategies", "0012-packed-media-truth",
    "0013-extra-and-sound", "0014-applied-policies", "0015-compared-checks",
  ]

  /// A database of the first migrations of then, as many as it recorded; it has what all of them made.
  private func writeOld(_ count: Int) throws {
    let pool = try DatabaseFile.open(path: path, options: .init())
    _ = try Migrator(Array(Migration.sqlite.prefix(1))).migrate(pool)
    try pool.write { database in
      try database.execute(
        sql: """
          INSERT INTO feed (name) VALUES ('featured');
          INSERT INTO post (id, type, title) VALUES ('a', 'image', 'Post a');
          INSERT INTO feed_entry (feed_id, post_id, sort_key, id, rank, since)
            SELECT feed_id, post_id, 1, post.id, 1, 1 FROM feed, post;
          DELETE FROM schema_migration
          """)
      for (index, name) in Self.names.prefix(count).enumerated() {
        try database.execute(
          sql: "INSERT INTO schema_migration VALUES (?, ?, 'x', '2026-11-23T00:00:00Z')",
          arguments: [index + 1, name])
      }
    }
    try pool.close()
  }

  private func records() throws -> [String] {
    let queue = try DatabaseQueue(path: path)
    return try queue.read {
      try String.fetchAll($0, sql: "SELECT version || ' ' || name FROM schema_migration")
    }
  }

  @Test func `one that had all of them has the first migration`() throws {
    try writeOld(15)
    try Schema.verify(path: path)
    #expect(try Schema.migrate(path: path) == Migration.sqlite.dropFirst().map(\.name))
    let store = try SQLiteStore(path: path)
    #expect(try store.walk("featured") == ["a"])
    #expect(try store.load([.ranked("b", 2)]).added == 1)
    #expect(try store.check().isEmpty)
    #expect(try Schema.status(path: path)[0].appliedAt == "2026-11-23T00:00:00Z")
    // What is up to date is not written to.
    let written = try records()
    #expect(try Schema.migrate(path: path) == [])
    #expect(try records() == written)
  }

  @Test func `the next migration is its second`() throws {
    try writeOld(15)
    let pool = try DatabaseFile.open(path: path, options: .init())
    #expect(try Migrator().migrate(pool) == Migration.sqlite.dropFirst().map(\.name))
    try pool.close()
    #expect(try records() == Migration.sqlite.map { "\($0.version) \($0.name)" })
  }

  @Test(arguments: [1, 14]) func `an older one is refused, with how to bring it over`(
    count: Int
  ) throws {
    try writeOld(count)
    let name = Self.names[count - 1]
    #expect(throws: StoreError.olderDatabase(name: name)) { try SQLiteStore(path: path) }
    #expect(throws: StoreError.olderDatabase(name: name)) { try Schema.verify(path: path) }
    #expect("\(StoreError.olderDatabase(name: name))".contains("`lookahead migrate up`"))
    // Its first migrations have numbers of this program's, and are none of them.
    #expect(try Schema.status(path: path).allSatisfy { $0.appliedAt == nil })
    #expect(try records().count == count)
  }

  @Test func `what a database forbids, other programs are refused`() throws {
    let store = try SQLiteStore(path: path)
    let extra = Extra(checkedJSON: #"{"n":1e999}"#)
    let post = Post(
      id: "n", type: .audio, language: "en", author: Author(name: "X", avatar: "/x", extra: extra),
      extra: extra,
      media: [
        Media(
          kind: .audio, url: "/w", alt: "Rain", poster: "/p",
          placeholder: MediaPlaceholder(thumbHash: [1, 2, 3, 4, 5]), extra: extra)
      ])
    try store.load([SeedRecord.post(post, placements: [Placement(feed: "f")])])
    let other = try DatabaseQueue(path: path)
    for bad in [
      "UPDATE post SET type = 'sound' WHERE id = 'n'",
      "UPDATE post SET extra = '[1]' WHERE id = 'n'",
      "UPDATE post SET extra = '{}' WHERE id = 'n'", "UPDATE author SET extra = 'x'",
      "UPDATE media SET extra = 'x'", "UPDATE media SET placeholder = '1'",
      "UPDATE media SET kind = 'sound'",
    ] {
      #expect(throws: DatabaseError.self, "\(bad)") { try other.write { try $0.execute(sql: bad) } }
    }
    #expect(try store.post(withID: "n") == post)
  }
}
