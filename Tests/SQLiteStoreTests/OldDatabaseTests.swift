import Feed
import GRDB
import Migrations
import TestSupport
import Testing

@testable import SQLiteStore

/// Databases that older programs wrote.
@Suite struct OldDatabaseTests {
  let folder = TemporaryFolder()
  var path: String { folder.file("feed.sqlite") }

  /// A database as programs before migration 13 left it.
  private func writeOld() throws {
    let pool = try DatabaseFile.open(path: path, options: .init())
    _ = try Migrator(Array(Migration.sqlite.prefix(12))).migrate(pool)
    try pool.write { database in
      try database.execute(
        sql: """
          INSERT INTO feed (name) VALUES ('f');
          INSERT INTO author (id, name) VALUES ('x', 'X'), ('x', NULL);
          INSERT INTO post (id, type, title, author_id, tags)
            VALUES ('a', 'image', 'A', 1, '["t"]'), ('b', 'video', NULL, 2, NULL),
              ('c', 'text', 'C', NULL, NULL);
          INSERT INTO media (post_id, ordinal, kind, url, bytes)
            VALUES (1, 0, 'image', '/u', 7), (2, 0, 'video', '/v', NULL);
          INSERT INTO feed_entry (feed_id, post_id, sort_key, id, since) SELECT 1, post_id,
            9223372036854775807, id, 1 FROM post
          """)
    }
    try pool.close()
  }

  @Test func `what it holds is as it was, and it takes what there is now`() throws {
    try writeOld()
    let store = try SQLiteStore(path: path)
    #expect(try store.check().isEmpty)
    let old = [
      Post(
        id: "a", type: .image, title: "A", author: Author(id: "x", name: "X"), tags: ["t"],
        media: [Media(kind: .image, url: "/u", bytes: 7)]),
      Post(id: "b", type: .video, author: Author(id: "x"), media: [Media(kind: .video, url: "/v")]),
      Post(id: "c", type: .text, title: "C"),
    ]
    #expect(try store.posts([1, 2, 3]).allPosts == old)
    let records = old.map { SeedRecord.post($0, placements: [Placement(feed: "f")]) }
    #expect(try store.load(records).unchanged == 3)

    let extra = Extra(checkedJSON: #"{"n":1e999}"#)
    let new = Post(
      id: "n", type: .audio, language: "en", author: Author(name: "X", avatar: "/x", extra: extra),
      extra: extra,
      media: [
        Media(
          kind: .audio, url: "/w", alt: "Rain", poster: "/p",
          placeholder: MediaPlaceholder(thumbHash: [1, 2, 3, 4, 5]), extra: extra)
      ])
    // Of the same id and name, and yet another author.
    var changed = old[0]
    changed.author?.extra = extra
    let placed = [new, changed].map { SeedRecord.post($0, placements: [Placement(feed: "f")]) }
    let summary = try store.load(placed)
    #expect([summary.added, summary.changed] == [1, 1])
    #expect(try store.load(placed).unchanged == 2)
    #expect(try store.post(withID: "n") == new)
    #expect(try store.post(withID: "a") == changed)
    #expect(try store.posts([1, 2, 3, 4]).allPosts == [changed, old[1], old[2], new])
    #expect(try store.check().isEmpty)
    // Open connections of other processes see the new schema, and are refused what it forbids.
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
  }
}
