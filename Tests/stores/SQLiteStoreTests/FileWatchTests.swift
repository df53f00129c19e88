import Catalog
import Feed
import Foundation
import TestSupport
import Testing

@testable import SQLiteStore

/// What becomes of a database whose file is deleted, moved, replaced or written over while it is open.
@Suite struct FileWatchTests {
  let folder = TemporaryFolder()
  var path: String { folder.file("feed.sqlite") }

  /// What somebody does to the file.
  enum Mishap: CaseIterable, Sendable {
    case deleted, moved
    /// Another database, renamed into its place.
    case replaced
    /// Another database, and a backup of the same one, copied over it: the file is the same one.
    case copiedOver, backupCopiedOver
    /// What is no database, copied over it; and nothing at all.
    case spoilt, emptied

    var stays: Bool { self != .deleted && self != .moved }
  }

  private func copy(_ source: String, over target: String) throws {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: source))
    let file = try #require(FileHandle(forWritingAtPath: target))
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: bytes)
    try file.close()
  }

  /// A database with the posts, closed.
  private func other(_ name: String, _ records: [SeedRecord]) throws -> String {
    let store = try SQLiteStore(path: folder.file(name))
    try store.load(records)
    try store.close()
    return store.path
  }

  private func happen(_ mishap: Mishap, to store: SQLiteStore) throws {
    let manager = FileManager.default
    switch mishap {
    case .deleted: try manager.removeItem(atPath: path)
    case .moved: try manager.moveItem(atPath: path, toPath: folder.file("away.sqlite"))
    case .replaced:
      let other = try other("other.sqlite", [.ranked("other", 1)])
      #expect(rename(other, path) == 0)
    case .copiedOver: try copy(try other("other.sqlite", [.ranked("other", 1)]), over: path)
    case .backupCopiedOver:
      let backup = folder.file("backup.sqlite")
      try DatabaseCopy(of: path, at: backup).make()
      try copy(backup, over: path)
    case .spoilt: try copy(try folder.write("no database", to: "text"), over: path)
    case .emptied: try copy(try folder.write("", to: "nothing"), over: path)
    }
  }

  @Test(arguments: Mishap.allCases)
  func `a write after it is refused, and so is a look`(_ mishap: Mishap) throws {
    let store = try SQLiteStore(path: path)
    try store.load([.ranked("a", 1)])
    #expect(try store.walk("featured") == ["a"])
    try happen(mishap, to: store)

    for _ in 0..<2 {
      #expect(throws: StoreError.self) {
        try store.outcome(
          of: ItemWrite(id: "b", change: .put(Post(id: "b", type: .image), placements: nil)))
      }
      #expect(throws: StoreError.self) { try store.load([.ranked("b", 2)]) }
      #expect(throws: StoreError.self) { try store.refresh() }
    }
    if mishap.stays {
      #expect(throws: StoreError.self) { try store.item(withID: "a") }
    }
    try store.close()
  }

  @Test func `a file that was moved away and is back again is written again`() throws {
    let store = try SQLiteStore(path: path)
    try store.load([.ranked("a", 1)])
    let away = folder.file("away.sqlite")
    #expect(rename(path, away) == 0)
    #expect(throws: StoreError.gone(path: path)) { try store.load([.ranked("b", 2)]) }
    #expect(rename(away, path) == 0)
    try store.refresh()
    try store.load([.ranked("b", 2)])
    #expect(try store.walk("featured") == ["a", "b"])
    try store.close()
    #expect(try SQLiteStore(path: path).walk("featured") == ["a", "b"])
  }

  @Test func `a link that leads elsewhere leaves each database with its log`() throws {
    let link = folder.file("link.sqlite")
    let other = try other("other.sqlite", [.ranked("other", 1)])
    try SQLiteStore(path: path).close()
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    let store = try SQLiteStore(path: link)
    try store.load([.ranked("a", 1)])
    #expect(unlink(link) == 0)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: other)
    #expect(throws: StoreError.replaced(path: link, keptWAL: nil)) {
      try store.load([.ranked("b", 2)])
    }
    #expect(try SQLiteStore(path: path).walk("featured") == ["a"])
    #expect(try SQLiteStore(path: link).walk("featured") == ["other"])
  }

  @Test(arguments: ["-wal", "-shm"])
  func `a log or index that is gone is noticed, and what was answered is kept`(_ ending: String)
    throws
  {
    let store = try SQLiteStore(path: path)
    try store.load([.ranked("a", 1)])
    #expect(try store.walk("featured") == ["a"])
    #expect(unlink(path + ending) == 0)
    let gone = StoreError.companionGone(path: path + ending)
    #expect(throws: gone) { try store.load([.ranked("b", 2)]) }
    #expect(throws: gone) { try store.refresh() }
    // It is not the same one any more, whatever is there.
    try folder.write("", to: "feed.sqlite" + ending)
    #expect(throws: gone) { try store.load([.ranked("b", 2)]) }
    #expect(throws: gone) { try store.item(withID: "a") }
    unlink(path + ending)
    try store.close()
    let next = try SQLiteStore(path: path)
    #expect(try next.walk("featured") == ["a"])
    #expect(try next.check().isEmpty)
  }

  /// The file's header changes as well when all is well: with every checkpoint, a vacuum, a migration.
  @Test func `what belongs to a database's life is no mishap`() throws {
    let store = try SQLiteStore(path: path)
    for index in 0..<40 {
      try store.load([.ranked("p\(index)", index)])
      if index.isMultiple(of: 7) { _ = try store.pool.cutLog(waiting: 1_000) }
      if index.isMultiple(of: 11) { _ = try Vacuum(path: path).run() }
      try store.refresh()
    }
    let second = try SQLiteStore(path: path)
    try second.load([.ranked("q", 99)])
    _ = try second.pool.cutLog(waiting: 1_000)
    try second.close()
    try store.refresh()
    #expect(try store.walk("featured").count == 41)
    try store.close()
    #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
  }

  @Test func `each database has a number of its own, and a copy another`() throws {
    func number(_ path: String) throws -> Int {
      let bytes = try Data(contentsOf: URL(fileURLWithPath: path)).prefix(64).suffix(4)
      return bytes.reduce(0) { $0 << 8 | Int($1) }
    }
    let first = try other("first.sqlite", [])
    let second = try other("second.sqlite", [])
    try DatabaseCopy(of: first, at: folder.file("copy.sqlite")).make()
    let numbers = try [first, second, folder.file("copy.sqlite")].map(number)
    #expect(Set(numbers).count == 3 && !numbers.contains(0))
  }
}
