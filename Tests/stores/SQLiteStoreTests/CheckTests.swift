import Feed
import GRDB
import Seeding
import TestSupport
import Testing

@testable import SQLiteStore

@Suite struct CheckTests {
  private static let damages: [(invariant: String, sql: String)] = [
    ("foreign key", "UPDATE feed_entry SET feed_id = 99 WHERE entry_id = 1"),
    ("repeats its post's id", "UPDATE feed_entry SET id = 'other' WHERE entry_id = 1"),
    ("repeats its post's id", "UPDATE feed_entry SET published_at = 1 WHERE entry_id = 1"),
    ("sort key follows", "UPDATE feed_entry SET sort_key = sort_key + 1 WHERE entry_id = 1"),
    (
      "in a ranking at most once",
      """
      INSERT INTO feed_entry (feed_id, post_id, sort_key, id, published_at, rank, since)
      SELECT feed_id, post_id, sort_key, id, published_at, rank, since + 1 FROM feed_entry
      WHERE entry_id = 1
      """
    ),
    ("after the current ranking", "UPDATE feed_entry SET since = 7 WHERE entry_id = 1"),
    ("tags and counters", "UPDATE post SET tags = '{' WHERE post_id = 1"),
    ("tags and counters", "UPDATE post SET counters = '[1]' WHERE post_id = 1"),
    (
      "idempotency key's answer",
      "INSERT INTO idempotency_key VALUES (1, 'k', 'f', '[1]', 0)"
    ),
    ("every author", "INSERT INTO author (name) VALUES ('nobody')"),
    ("is the default", "UPDATE network_profile SET is_default = 0"),
    (
      "has a known strategy: feed featured, network 3g, strategy later: there is no such",
      """
      DROP TRIGGER policy_checked_again;
      UPDATE policy SET strategy = 'later' WHERE feed = 'featured' AND network = '3g'
      """
    ),
    (
      "the parameter leading is unknown",
      "DROP TRIGGER policy_checked_again; UPDATE policy SET strategy = 'endless'"
    ),
    (
      "media files can be read: sha256:x: it has the unknown format 123",
      "INSERT INTO media_truth (version, truth) VALUES ('sha256:x', CAST('{}' AS BLOB))"
    ),
    (
      "media files can be read: /a.png: its checksum does not match",
      """
      INSERT INTO media_truth VALUES (1, 'sha256:x', x'');
      INSERT INTO media_file (url, truth_id, variants) VALUES ('/a.png', 1, x'010000000000')
      """
    ),
    ("policy for all feeds", "DELETE FROM policy WHERE network = 'lte' AND feed IS NULL"),
  ]

  @Test func `what was taken before it was refused is named, and is no error`() throws {
    let folder = TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("feed.sqlite"))
    let urls = ["/a.png", "a:b", "https://a.example/b", "a.png", "a/b.png"]
    try store.load([
      .post(
        Post(
          id: "..", type: .carousel, url: "x.html",
          media: urls.map { Media(kind: .image, url: $0) }),
        placements: [Placement(feed: "."), Placement(feed: "...")])
    ])
    let findings = try store.check()
    #expect(findings.allSatisfy { $0.severity == .note })
    let ends = findings.map { $0.text.split(separator: ": ", maxSplits: 1).last ?? "" }
    #expect(
      Set(ends) == ["item ..", "feed .", "item ..: a.png", "item ..: a/b.png", "item ..: x.html"])
  }

  @Test(arguments: damages.indices)
  func `a broken invariant is found and named`(_ index: Int) throws {
    let folder = TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("feed.sqlite"))
    try store.load(Array(PostGenerator(count: 20, seed: 1)))
    #expect(try store.check().isEmpty)
    try store.pool.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA foreign_keys = OFF")
      try database.execute(sql: Self.damages[index].sql)
    }
    let findings = try store.check()
    #expect(
      findings.contains { $0.severity == .error && $0.text.contains(Self.damages[index].invariant) }
    )
  }
}
