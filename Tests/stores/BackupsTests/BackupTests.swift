import Feed
import Foundation
import Glibc
import SQLiteStore
import TestSupport
import Testing

@testable import Backups

@Suite struct BackupTests {
  let folder = TemporaryFolder()
  var database: String { folder.file("feed.sqlite") }

  /// What lies in the folder, but for what SQLite keeps beside the database.
  private func files() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { !$0.hasPrefix("feed.sqlite-") }.sorted()
  }

  private func makeDatabase(posts: ClosedRange<Int> = 1...3) throws {
    let store = try SQLiteStore(path: database)
    try store.load(posts.map { .ranked("p\($0)", $0) })
    try store.close()
  }

  @Test(arguments: [false, true])
  func `a backup is one file that is restored to what it was`(_ isCompressed: Bool) throws {
    let store = try SQLiteStore(path: database)
    try store.load([.ranked("a", 1), .ranked("b", 2)])
    let report = try Backup(of: database, compress: isCompressed).make(at: folder.file("backup"))
    #expect(report.path == folder.file(isCompressed ? "backup.gz" : "backup"))
    #expect(report.posts == 2)
    #expect(report.bytes < report.databaseBytes || !isCompressed)
    // What comes after it is not in it.
    try store.load([.ranked("c", 3)])
    try store.close()
    #expect(try files() == [isCompressed ? "backup.gz" : "backup", "feed.sqlite"])

    let other = folder.file("other.sqlite")
    #expect(try Restore(to: other).run(from: report.path).posts == 2)
    let restored = try SQLiteStore(path: other)
    #expect(try restored.walk("featured") == ["a", "b"])
    #expect(try restored.check().isEmpty)
    try restored.close()
  }

  @Test func `what is there is replaced only where that is allowed`() throws {
    try makeDatabase()
    let path = try folder.write("something else", to: "backup")
    #expect(throws: BackupError.exists(path: path)) { try Backup(of: database).make(at: path) }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "something else")
    #expect(try Backup(of: database, overwrite: true).make(at: path).posts == 3)
    #expect(throws: BackupError.exists(path: database)) {
      try Restore(to: database).run(from: path)
    }
    #expect(throws: BackupError.isTheDatabase(path: database)) {
      try Backup(of: database, overwrite: true).make(at: database)
    }
    #expect(throws: BackupError.isTheDatabase(path: database)) {
      try Restore(to: database, overwrite: true).run(from: database)
    }
    #expect(try files() == ["backup", "feed.sqlite"])
  }

  @Test func `what a killed backup left is taken over, what another is making is not`() throws {
    try makeDatabase()
    let path = folder.file("backup.gz")
    for suffix in [".partial", ".copy.partial", ".copy.partial-journal"] {
      try folder.write("half a backup", to: "backup.gz" + suffix)
    }
    let other = try PartialFile(for: path)
    #expect(throws: BackupError.isBeingMade(path: path)) {
      try Backup(of: database, compress: true).make(at: path)
    }
    other.discard()
    _ = try Backup(of: database, compress: true).make(at: path)
    #expect(try files() == ["backup.gz", "feed.sqlite"])
  }

  @Test func `a damaged database is not backed up, and the older backup stays`() throws {
    try makeDatabase(posts: 1...2_000)
    let path = folder.file("backup")
    _ = try Backup(of: database).make(at: path)
    let before = FileManager.default.contents(atPath: path)
    // Zeroes in the middle of the pages; the header and the schema stay.
    let handle = try #require(FileHandle(forUpdatingAtPath: database))
    try handle.seek(toOffset: UInt64((before?.count ?? 0) / 2 / 4096 * 4096))
    try handle.write(contentsOf: Data(count: 8192))
    try handle.close()
    #expect(throws: BackupError.self) {
      try Backup(of: database, overwrite: true).make(at: path)
    }
    #expect(FileManager.default.contents(atPath: path) == before)
    #expect(try files() == ["backup", "feed.sqlite"])
    // And that one mends it.
    #expect(try Restore(to: database, overwrite: true).run(from: path).posts == 2_000)
  }

  @Test func `a backup that is given up leaves nothing`() throws {
    try makeDatabase()
    let backup = Backup(of: database)
    backup.cancel()
    #expect(throws: DatabaseCopyCancelled.self) { try backup.make(at: folder.file("backup")) }
    #expect(try files() == ["feed.sqlite"])
  }
}
