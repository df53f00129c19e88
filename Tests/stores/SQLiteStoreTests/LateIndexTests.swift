import Catalog
import Feed
import RowStore
import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteStore

/// A first load makes its indexes last.
@Suite struct LateIndexTests {
  let folder = TemporaryFolder()
  var path: String { folder.file("feed.sqlite") }

  private static func record(_ number: Int, author: Int, rank: Int? = nil) -> SeedRecord {
    .post(
      Post(
        id: "p\(number)", type: .image, author: Author(id: "a\(author)", name: "A"),
        media: [Media(kind: .image, url: "/media/\(number * 7 % 100).webp")]),
      placements: [Placement(feed: "featured", rank: rank ?? number)])
  }

  private static let records = (0..<100).map { record($0, author: $0 % 7) }

  private func areMissing(_ store: SQLiteStore) throws -> Bool {
    try store.pool.read(LateIndexes.areMissing)
  }

  private func schema(_ store: SQLiteStore) throws -> [String] {
    try store.pool.read {
      try String.fetchAll($0, sql: "SELECT sql FROM sqlite_schema WHERE sql <> '' ORDER BY name")
    }
  }

  private func authors(_ store: SQLiteStore) throws -> Int? {
    try store.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM author") }
  }

  private var isLockFileThere: Bool {
    FileManager.default.fileExists(atPath: path + "-runs")
  }

  /// A load that was killed behind its first batch: nobody holds its lock.
  private func killedLoad() throws -> SQLiteStore {
    let store = try SQLiteStore(path: path)
    try store.load(Self.records)
    try store.pool.write {
      try $0.execute(sql: "DROP INDEX post_by_author; DROP TRIGGER author_added")
    }
    return store
  }

  @Test func `it does without until its end, and then the schema is as the migrations have it`()
    throws
  {
    let store = try SQLiteStore(path: path)
    let whole = try schema(store)
    let load = store.beginImport()
    #expect(try !areMissing(store))
    try load.write(Array(Self.records[..<50]))
    #expect(try areMissing(store))
    #expect(try store.check().map(\.severity) == [.note, .note, .note])
    try load.write(Array(Self.records[50...]))
    #expect(try areMissing(store))
    #expect(try load.finish().added == 100)
    #expect(try schema(store) == whole)
    #expect(try store.check().isEmpty)
    #expect(!isLockFileThere)
  }

  @Test func `a database that has posts keeps its indexes`() throws {
    let store = try SQLiteStore(path: path)
    try store.load(Array(Self.records[..<10]))
    let load = store.beginImport()
    try load.write(Array(Self.records[10...]))
    #expect(try !areMissing(store))
    _ = try load.finish()
    #expect(try !areMissing(store))
  }

  @Test func `who opens the database after a load that was killed makes them`() throws {
    let store = try killedLoad()
    #expect(FileManager.default.createFile(atPath: path + "-runs", contents: nil))
    #expect(try areMissing(SQLiteStore(existing: path)))
    #expect(try store.check().map(\.severity) == [.note, .note])
    let next = try SQLiteStore(path: path)
    #expect(try !areMissing(next))
    #expect(try next.check().isEmpty)
    #expect(!isLockFileThere)
  }

  @Test func `nobody makes them while the load is at work, whoever ends meanwhile`() throws {
    let store = try SQLiteStore(path: path)
    let load = store.beginImport()
    try load.write(Array(Self.records[..<50]))
    let other = try SQLiteStore(path: path)
    #expect(try areMissing(other))
    // A run with moves removes the file of the locks when it ends, where no load holds one.
    let moved = Self.record(0, author: 0, rank: 77)
    #expect(try other.load([Self.record(1, author: 1), moved]).rankedAnew == ["featured"])
    #expect(try areMissing(other))
    #expect(isLockFileThere)
    try load.write(Array(Self.records[50...]))
    _ = try load.finish()
    #expect(try !areMissing(other))
    #expect(!isLockFileThere)
    #expect(try store.check().isEmpty)
  }

  @Test func `a run that ends makes what a killed load has left out`() throws {
    let store = try killedLoad()
    try store.load([Self.record(200, author: 3)])
    #expect(try !areMissing(store))
  }

  @Test func `a prune makes them before it begins`() throws {
    let store = try killedLoad()
    var rule = PruningRule()
    rule.keptPosts = 10
    _ = try Pruning(store, rule: rule, isDryRun: true).run()
    #expect(try areMissing(store))
    #expect(try Pruning(store, rule: rule).run().posts == 90)
    #expect(try !areMissing(store))
    #expect(try store.check().isEmpty)
  }

  @Test func `a load that is given up makes them, too`() throws {
    let store = try SQLiteStore(path: path)
    do {
      let load = store.beginImport()
      try load.write(Self.records)
      #expect(try areMissing(store))
    }
    #expect(try !areMissing(store))
    #expect(try store.check().isEmpty)
  }

  @Test func `who writes meanwhile finds an author's posts without them`() throws {
    let store = try SQLiteStore(path: path)
    let load = store.beginImport()
    try load.write(Self.records)
    let server = try SQLiteStore(path: path)
    // a0 has p0, p7, …; the author of one post is another one now, and a6 loses all of his.
    try server.outcome(
      of: ItemWrite(
        id: "p0", change: .put(Post(id: "p0", type: .image), placements: nil)))
    #expect(try authors(store) == 7)
    for number in stride(from: 6, to: 100, by: 7) {
      #expect(try server.deletePost(withID: "p\(number)"))
    }
    #expect(try authors(store) == 6)
    #expect(try areMissing(store))
    _ = try load.finish()
    #expect(try store.check().isEmpty)
  }

  @Test func `a load in which an author changes makes them at once`() throws {
    let store = try SQLiteStore(path: path)
    let load = store.beginImport()
    try load.write(Self.records)
    #expect(try areMissing(store))
    try load.write([Self.record(0, author: 99)])
    #expect(try !areMissing(store))
    _ = try load.finish()
    #expect(try store.check().isEmpty)
    #expect(!isLockFileThere)
  }

  /// Looking for the posts of a file, many times, must not be to read all files each time.
  @Test func `a load during which something becomes known of files makes them at once`() throws {
    let store = try SQLiteStore(path: path)
    let load = store.beginImport()
    try load.write(Array(Self.records[..<50]))
    let server = try SQLiteStore(path: path)
    #expect(try server.namedMedia(after: nil, limit: 100).count == 50)
    let posts = try server.cut(PageQuery(feed: "featured", limit: 50)).posts
    let version = server.version
    // p3's.
    try server.keep([
      KnownMedia(
        url: "/media/21.webp",
        truth: MediaTruth(
          kind: .image, bytes: 7, mimeType: "image/webp",
          version: .content(sha256: [UInt8](repeating: 7, count: 32))))
    ])
    #expect(try !areMissing(server))
    #expect(server.changedPosts(since: version) == [posts[3]])
    try load.write(Array(Self.records[50...]))
    _ = try load.finish()
    #expect(try store.check().isEmpty)
    #expect(!isLockFileThere)
  }

  /// What a killed load leaves may be any of it: each index is made by itself.
  @Test(arguments: ["INDEX post_by_author", "INDEX media_by_url", "TRIGGER author_added"])
  func `what is missing is made, and nothing else`(name: String) throws {
    let store = try SQLiteStore(path: path)
    let whole = try schema(store)
    try store.load(Self.records)
    try store.pool.write { try $0.execute(sql: "DROP \(name)") }
    #expect(try store.check().map(\.severity) == [.note])
    let next = try SQLiteStore(path: path)
    #expect(try schema(next) == whole)
    #expect(try next.check().isEmpty)
  }
}
