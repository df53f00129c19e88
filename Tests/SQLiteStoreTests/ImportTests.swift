import Catalog
import Feed
import Foundation
import GRDB
import PostJSON
import Seeding
import TestSupport
import Testing

@testable import SQLiteStore

@Suite struct ImportTests {
  let folder = TemporaryFolder()
  let store: SQLiteStore

  init() throws {
    store = try SQLiteStore(path: folder.file("feed.sqlite"))
  }

  private func counts(_ summary: ImportSummary) -> [Int] {
    [summary.added, summary.changed, summary.unchanged]
  }

  private var isSound: Bool {
    get throws { try store.check().isEmpty }
  }

  @Test(arguments: [1, 3, 1000])
  func `the same input twice changes nothing`(_ batch: Int) throws {
    let records = Array(PostGenerator(count: 300, seed: 5))
    #expect(try counts(store.load(records, batch: batch)) == [300, 0, 0])
    let exported = try export()
    let version = try mark()
    #expect(try counts(store.load(records, batch: batch)) == [0, 0, 300])
    #expect(try export() == exported)
    #expect(try mark() == version)
    #expect(try isSound)
  }

  @Test(arguments: [1, 2, 100])
  func `an input that contradicts itself changes nothing the second time`(_ batch: Int) throws {
    var later = Post(id: "a", type: .video, title: "later", counters: [Counter("likes", 2)])
    later.publishedAt = Timestamp(microseconds: 5)
    let records: [SeedRecord] = [
      .post(
        Post(id: "a", type: .image, title: "first"), placements: [Placement(feed: "f", rank: 1)]),
      .ranked("a", 5, feed: "f"),
      .ranked("b", 2, feed: "f"),
      .post(later, placements: [Placement(feed: "f", rank: 9), Placement(feed: "g")]),
      .feed(name: "f", title: "One"), .feed(name: "f", title: "Two"),
    ]
    try store.load(records, batch: batch)
    #expect(try store.walk("f") == ["b", "a"])
    let ranking = try store.feed(named: "f")?.ranking
    let exported = try export()
    let summary = try store.load(records, batch: batch)
    #expect(summary.added == 0 && summary.changed == 0)
    #expect(summary.rankedAnew == [])
    #expect(try store.feed(named: "f")?.ranking == ranking)
    #expect(try export() == exported)
    #expect(try isSound)
  }

  @Test func `a later line adds its feeds and replaces the rest`() throws {
    let first = Post(
      id: "a", type: .image, title: "old", author: Author(id: "x", name: "X"), tags: ["t"],
      media: [Media(kind: .image, url: "u"), Media(kind: .video, url: "v")])
    let second = Post(id: "a", type: .video, text: "new", media: [Media(kind: .video, url: "w")])
    try store.load([
      .post(first, placements: [Placement(feed: "one", rank: 3)]),
      .post(second, placements: [Placement(feed: "two")]),
    ])
    #expect(try store.post(withID: "a") == second)
    #expect(try store.walk("one") == ["a"])
    #expect(try store.walk("two") == ["a"])
    #expect(try isSound)
  }

  @Test func `a batch is written whole or not at all`() throws {
    try store.load([.ranked("kept", 1)])
    // A trigger of the test's own plays the disk that fails half-way.
    try store.pool.write {
      try $0.execute(
        sql: """
          CREATE TRIGGER fail BEFORE INSERT ON post WHEN NEW.id = 'bad'
          BEGIN SELECT RAISE(ABORT, 'no room'); END
          """)
    }
    let run = store.beginImport()
    try run.write([.ranked("before", 2)])
    #expect(throws: StoreError.self) {
      try run.write([.ranked("good", 3), .ranked("bad", 4), .ranked("other", 5)])
    }
    #expect(try store.walk("featured") == ["kept", "before"])
    #expect(try isSound)
  }

  @Test func `an author who changed name has both names where they were used`() throws {
    let posts = [("a", "Ann"), ("b", "Anna"), ("c", "Ann")].map { id, name in
      SeedRecord.post(
        Post(id: id, type: .text, author: Author(id: "1", name: name)), placements: [])
    }
    try store.load(posts)
    #expect(
      try ["a", "b", "c"].map { try store.post(withID: $0)?.author?.name } == [
        "Ann", "Anna", "Ann",
      ])
    #expect(try counts(store.load(posts)) == [0, 0, 3])
    _ = try store.deletePost(withID: "b")
    #expect(try isSound)
  }

  @Test func `an export is read back into the same export`() throws {
    try store.load(
      Array(PostGenerator(count: 700, seed: 9)) + [.feed(name: "newest", title: "New")])
    let exported = try export()
    #expect(exported.count == 701)
    let other = try SQLiteStore(path: folder.file("other.sqlite"))
    let decoder = RecordDecoder()
    try other.load(exported.map { try decoder.decode($0) }.reversed(), batch: 50)
    var again: [[UInt8]] = []
    try other.exportRecords { again.append($0.json) }
    #expect(again == exported)
    for feed in try store.feeds() {
      #expect(try other.walk(feed.name, limit: 100) == store.walk(feed.name, limit: 100))
    }
  }

  @Test func `deleting a post takes its entries and media along, whoever deletes it`() throws {
    try store.load(Array(PostGenerator(count: 50, seed: 2)))
    #expect(try store.walk("newest").count == 50)
    #expect(try store.deletePost(withID: "g7"))
    #expect(try !store.deletePost(withID: "g7"))
    // As a shell does it: another connection, without foreign keys.
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    try DatabaseQueue(path: store.path, configuration: configuration).write {
      try $0.execute(sql: "DELETE FROM post WHERE id IN ('g8', 'g9')")
    }
    #expect(try store.refresh())
    let ids = try store.walk("newest", limit: 100)
    #expect(ids.count == 47)
    #expect(Set(ids).isDisjoint(with: ["g7", "g8", "g9"]))
    #expect(try store.feed(named: "newest")?.total == 47)
    #expect(try isSound)
  }

  @Test func `a text of other bytes is another text, though it looks the same`() throws {
    let posts = ["\u{e9}", "e\u{301}"].map { text in
      Post(
        id: "a", type: .image, title: text, author: Author(id: text, name: text), tags: [text],
        media: [Media(kind: .image, url: text)])
    }
    for post in posts {
      try store.load([.post(post, placements: [])])
      #expect(try store.post(withID: "a") == post)
      #expect(try isSound)
    }
  }

  @Test func `a feed that another program deletes is gone, and its posts stay`() throws {
    try store.load([.ranked("a", 1), .timed("b", 2)])
    #expect(try store.feeds().map(\.name) == ["featured", "newest"])
    try DatabaseQueue(path: store.path).write {
      try $0.execute(sql: "DELETE FROM feed WHERE name = 'featured'")
    }
    #expect(try store.refresh())
    #expect(try store.feeds().map(\.name) == ["newest"])
    #expect(try store.post(withID: "a") != nil)
    #expect(try isSound)
  }

  private func export() throws -> [[UInt8]] {
    var lines: [[UInt8]] = []
    try store.exportRecords { lines.append($0.json) }
    return lines
  }

  private func mark() throws -> SQLiteCatalogReader.Mark {
    try store.pool.read { try SQLiteCatalogReader(database: $0).mark() }
  }
}
