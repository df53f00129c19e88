import Catalog
import Feed
import GRDB
import TestSupport
import Testing

@testable import SQLiteStore

/// What is told of a change, whichever program makes it.
@Suite struct StoreChangeTests {
  /// A change, and what of the pages made before no longer holds.
  struct Change: Sendable, CustomTestStringConvertible {
    let name: String
    let sql: String
    /// The posts `p0`… whose content changed.
    var posts: Set<Int> = []
    /// The feeds `a` and `b` whose order, title, ranking or total did.
    var feeds: Set<String> = []
    var areSettings = false

    var testDescription: String { name }
  }

  private static let entryOfP1 =
    "post_id = (SELECT post_id FROM post WHERE id = 'p1') AND feed_id = 1"

  static let changes = [
    Change(name: "a text", sql: "UPDATE post SET title = 'x' WHERE id = 'p1'", posts: [1]),
    Change(
      name: "counters", sql: "UPDATE post SET counters = '{\"a\":1}' WHERE id IN ('p1', 'p3')",
      posts: [1, 3]),
    Change(
      name: "an author's name", sql: "UPDATE author SET name = 'x' WHERE id = 'even'",
      posts: [0, 2, 4]),
    Change(
      name: "an author that goes",
      sql: "PRAGMA foreign_keys = OFF; DELETE FROM author WHERE id = 'even'", posts: [0, 2, 4]),
    Change(
      name: "an author that is replaced",
      sql: """
        PRAGMA foreign_keys = OFF; INSERT OR REPLACE INTO author (author_id, id, name)
        SELECT author_id, id, 'x' FROM author WHERE id = 'even'
        """, posts: [0, 2, 4]),
    Change(
      name: "media that change",
      sql: "UPDATE media SET bytes = 7 WHERE post_id = (SELECT post_id FROM post WHERE id = 'p2')",
      posts: [2]),
    Change(
      name: "media that move to another post",
      sql: """
        UPDATE media SET post_id = (SELECT post_id FROM post WHERE id = 'p3'), ordinal = 7
        WHERE post_id = (SELECT post_id FROM post WHERE id = 'p2')
        """, posts: [2, 3]),
    Change(
      name: "media that go",
      sql: "DELETE FROM media WHERE post_id = (SELECT post_id FROM post WHERE id = 'p2')",
      posts: [2]),
    Change(
      name: "media that come later, of the newest post",
      sql: """
        INSERT INTO media (post_id, ordinal, kind, url)
        SELECT post_id, 9, 'image', '/x' FROM post WHERE id = 'p4'
        """, posts: [4]),
    Change(
      name: "a post that is replaced",
      sql: """
        PRAGMA foreign_keys = OFF; INSERT OR REPLACE INTO post (post_id, id, type, title)
        SELECT post_id, id, 'text', 'x' FROM post WHERE id = 'p1'
        """, posts: [1]),
    Change(
      name: "a post that goes", sql: "DELETE FROM post WHERE id = 'p1'", posts: [1], feeds: ["a"]),
    Change(
      name: "an entry that goes", sql: "DELETE FROM feed_entry WHERE \(entryOfP1)", feeds: ["a"]),
    Change(
      name: "an entry that moves in the next ranking, which nobody sees yet",
      sql: "UPDATE feed_entry SET until = 2 WHERE \(entryOfP1)"),
    Change(
      name: "a new post",
      sql: """
        INSERT INTO author (id) VALUES ('new');
        INSERT INTO post (id, type, author_id) SELECT 'new', 'image', max(author_id) FROM author;
        INSERT INTO media (post_id, ordinal, kind, url)
          SELECT max(post_id), 0, 'image', '/n' FROM post;
        INSERT INTO feed_entry (feed_id, post_id, sort_key, id, rank, since)
          SELECT 1, max(post_id), 99, 'new', 99, 1 FROM post
        """, feeds: ["a"]),
    Change(
      name: "a title", sql: "UPDATE feed SET title = 'x' WHERE name = 'b'", feeds: ["b"]),
    Change(
      name: "a policy", sql: "UPDATE policy SET trailing = 9 WHERE feed IS NULL", areSettings: true),
    Change(
      name: "a network", sql: "UPDATE network_profile SET downlink_kbps = 1 WHERE name = '3g'",
      areSettings: true),
  ]

  private static let posts = (0..<5).map { number in
    SeedRecord.post(
      Post(
        id: "p\(number)", type: .image,
        author: Author(id: number.isMultiple(of: 2) ? "even" : "odd"),
        media: [Media(kind: .image, url: "/\(number)")]),
      placements: [Placement(feed: number < 4 ? "a" : "b", rank: number)])
  }

  @Test(arguments: changes) func `a change is told, and nothing else`(_ change: Change) throws {
    let folder = TemporaryFolder()
    let path = folder.file("feed.sqlite")
    let store = try SQLiteStore(path: path)
    try store.load(Self.posts)
    let cuts = try ["a", "b"].map { try store.cut(PageQuery(feed: $0)) }
    let numbers = Dictionary(
      uniqueKeysWithValues: zip(["p0", "p1", "p2", "p3", "p4"], cuts.flatMap(\.posts)))
    let before = store.version

    let other = try DatabaseQueue(path: path)
    try other.writeWithoutTransaction { try $0.execute(sql: change.sql) }
    #expect(try store.refresh())

    #expect(store.version > before)
    #expect(
      Set(try #require(store.changedPosts(since: before)))
        == Set(change.posts.map { numbers["p\($0)"]! }))
    for feed in ["a", "b"] {
      let isSame = !change.areSettings && !change.feeds.contains(feed)
      #expect(store.isUnchanged(feed: feed, posts: [], since: before) == isSame, "feed \(feed)")
      for (id, number) in numbers {
        let isChanged = change.posts.contains(Int(id.dropFirst())!)
        #expect(
          store.isUnchanged(feed: feed, posts: [number], since: before) == (isSame && !isChanged),
          "feed \(feed), \(id)")
      }
    }
    // What was cut since holds.
    let now = store.version
    #expect(store.changedPosts(since: now) == [])
    #expect(store.isUnchanged(feed: "a", posts: Array(numbers.values), since: now))
    #expect(try store.cut(PageQuery(feed: "b")).version == now)
  }

  @Test func `new posts log nothing but their feed`() throws {
    let folder = TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("feed.sqlite"))
    // Migrations have written policies.
    let migrated = try store.pool.read {
      try Int64.fetchOne($0, sql: "SELECT max(change_id) FROM change_log") ?? 0
    }
    try store.load(Self.posts)
    func kinds() throws -> [String] {
      try store.pool.read {
        try String.fetchAll(
          $0, sql: "SELECT kind FROM change_log WHERE change_id > ? ORDER BY change_id",
          arguments: [migrated])
      }
    }
    // The feeds of the posts are new, too.
    #expect(try Set(kinds()) == ["feed"])
    try store.outcome(
      of: ItemWrite(id: "p9", change: .put(Post(id: "p9", type: .image), placements: nil)))
    // It has no entry by which readers would learn of it.
    #expect(try kinds().suffix(1) == ["post"] && Set(kinds()) == ["feed", "post"])
  }

  @Test func `a deleted post is told of once, however many files it has`() throws {
    let folder = TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("feed.sqlite"))
    let media = (0..<5).map { Media(kind: .image, url: "/\($0)") }
    try store.load([
      .post(Post(id: "p", type: .carousel, media: media), placements: [Placement(feed: "a")])
    ])
    let before = try store.pool.read {
      try Int64.fetchOne($0, sql: "SELECT max(change_id) FROM change_log")
    }
    #expect(try store.deletePost(withID: "p"))
    let kinds = try store.pool.read {
      try String.fetchAll(
        $0, sql: "SELECT kind FROM change_log WHERE change_id > ?", arguments: [before])
    }
    #expect(kinds.sorted() == ["entry", "post"])
  }

  @Test func `a backup is another database for those who read changes`() throws {
    let folder = TemporaryFolder()
    let (path, backup) = (folder.file("feed.sqlite"), folder.file("backup.sqlite"))
    let store = try SQLiteStore(path: path)
    try store.load(Self.posts)
    let cursor = try store.changes(after: nil, through: nil, limit: 1, withItems: false).next
    try DatabaseCopy(of: path, at: backup).make()
    let restored = try SQLiteStore(path: backup)
    #expect(throws: ChangeCursorError.foreign) {
      try restored.changes(after: cursor, through: nil, limit: 1, withItems: false)
    }
    #expect(
      try store.changes(after: cursor, through: nil, limit: 1, withItems: false).next == cursor)
  }

  @Test func `a refresh that finds nothing changes nothing`() throws {
    let folder = TemporaryFolder()
    let path = folder.file("feed.sqlite")
    let store = try SQLiteStore(path: path)
    try store.load(Self.posts)
    _ = try store.feeds()
    let version = store.version
    for _ in 0..<3 { #expect(try !store.refresh()) }
    // Another program wrote what concerns no page.
    try DatabaseQueue(path: path).write { try $0.execute(sql: "CREATE TABLE other (x)") }
    #expect(try !store.refresh())
    #expect(store.version == version)
  }

  @Test func `increments leave the orders as they are`() throws {
    let folder = TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("feed.sqlite"))
    try store.load((0..<3_000).map { .ranked("p\($0)", $0) })
    let order = try store.follower.whole().feeds["featured"]!.order.current
    for number in 0..<20 {
      try store.outcome(
        of: ItemWrite(id: "p\(number)", change: .increment([Counter("n", 1)], key: nil)))
    }
    #expect(try store.follower.whole().feeds["featured"]!.order.current.sharesAll(with: order))
  }

  /// Written by hand: a change a microsecond would take 292 000 years.
  @Test(arguments: [Int64.max - 1, .max])
  func `a log of changes that has used up its numbers ends nothing`(_ number: Int64) throws {
    let folder = TemporaryFolder()
    let path = folder.file("used-up.sqlite")
    let first = try SQLiteStore(path: path)
    try first.load([.ranked("a", 1)])
    try first.pool.write {
      try $0.execute(
        sql: "INSERT INTO change_log (change_id, kind) VALUES (?, 'settings')", arguments: [number])
    }
    try first.close()
    let store = try SQLiteStore(path: path)
    #expect(try store.walk("featured") == ["a"])
    for id in ["b", "c", "d"] { _ = try? store.load([.ranked(id, 2)]) }
    try store.refresh()
    #expect(try store.walk("featured").first == "a")
  }
}
