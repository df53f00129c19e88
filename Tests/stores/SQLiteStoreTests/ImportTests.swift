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
  func `the same input twice writes nothing`(_ batch: Int) throws {
    let records = Array(PostGenerator(count: 300, seed: 5))
    #expect(try counts(store.load(records, batch: batch)) == [300, 0, 0])
    let exported = try export()
    let version = try mark()
    #expect(try counts(store.load(records, batch: batch)) == [0, 0, 300])
    #expect(try export() == exported)
    #expect(try mark() == version)
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
