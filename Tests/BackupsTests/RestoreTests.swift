import Compression
import Feed
import Foundation
import GRDB
import Glibc
import SQLiteStore
import TestSupport
import Testing

@testable import Backups

@Suite struct RestoreTests {
  let folder = TemporaryFolder()
  var database: String { folder.file("feed.sqlite") }
  var backup: String { folder.file("backup") }

  private func files() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  /// A backup with the posts a and b.
  private func makeBackup() throws {
    let other = folder.file("source.sqlite")
    let store = try SQLiteStore(path: other)
    try store.load([.ranked("a", 1), .ranked("b", 2)])
    try store.close()
    _ = try Backup(of: other).make(at: backup)
    try FileManager.default.removeItem(atPath: other)
  }

  private func walk() throws -> [String] {
    let store = try SQLiteStore(path: database)
    defer { try? store.close() }
    return try store.walk("featured")
  }

  @Test func `a database that is open is not replaced`() throws {
    try makeBackup()
    let store = try SQLiteStore(path: database)
    try store.load([.ranked("c", 1)])
    #expect(throws: StoreError.inUse(path: database)) {
      try Restore(to: database, overwrite: true).run(from: backup)
    }
    #expect(try store.walk("featured") == ["c"])
    try store.close()
    _ = try Restore(to: database, overwrite: true).run(from: backup)
    #expect(try walk() == ["a", "b"])
  }

  @Test func `a database whose file was removed under it is still seen to be in use`() throws {
    try makeBackup()
    let store = try SQLiteStore(path: database)
    try store.load([.ranked("c", 1)])
    unlink(database)
    #expect(throws: StoreError.inUse(path: database)) {
      try Restore(to: database).run(from: backup)
    }
    try? store.close()
    _ = try Restore(to: database).run(from: backup)
    #expect(try walk() == ["a", "b"])
  }

  @Test func `a log that a killed program left beside does not get into what is restored`() throws {
    try makeBackup()
    let store = try SQLiteStore(path: database)
    try store.load([.ranked("c", 1)])
    // As a kill leaves them: with the log not yet in the file.
    for suffix in ["", "-wal", "-shm"] {
      try FileManager.default.copyItem(
        atPath: database + suffix, toPath: folder.file("killed.sqlite") + suffix)
    }
    try store.close()
    let killed = folder.file("killed.sqlite")
    #expect((status(of: killed + "-wal")?.st_size ?? 0) > 0)
    _ = try Restore(to: killed, overwrite: true).run(from: backup)
    #expect(status(of: killed + "-wal") == nil && status(of: killed + "-shm") == nil)
    let restored = try SQLiteStore(path: killed)
    #expect(try restored.walk("featured") == ["a", "b"])
    #expect(try restored.check().isEmpty)
    try restored.close()
  }

  @Test func `a damaged database and one that is no database are replaced`() throws {
    try makeBackup()
    for text in ["", "no database", String(repeating: "no database", count: 1_000)] {
      try folder.write(text, to: "feed.sqlite")
      try folder.write("no log", to: "feed.sqlite-wal")
      _ = try Restore(to: database, overwrite: true).run(from: backup)
      #expect(try walk() == ["a", "b"])
    }
  }

  @Test func `what is no backup is refused, and the database stays as it is`() throws {
    try makeBackup()
    let store = try SQLiteStore(path: database)
    try store.load([.ranked("c", 1)])
    try store.close()
    let bytes = try #require(FileManager.default.contents(atPath: backup))
    func write(_ bytes: some Sequence<UInt8>, to name: String) throws -> String {
      try Data(bytes).write(to: URL(fileURLWithPath: folder.file(name)))
      return folder.file(name)
    }
    var compressed: [UInt8] = []
    let encoder = try GzipEncoder()
    try encoder.encode(Array("text".utf8)) { compressed += $0 }
    try encoder.finish { compressed += $0 }
    var changed = bytes
    changed.replaceSubrange((bytes.count / 2)..<(bytes.count / 2 + 4_096), with: Data(count: 4_096))
    let cases = [
      (path: folder.file("none"), says: "there is no backup"),
      (folder.path, "it is no regular file"),
      (try folder.write("", to: "empty"), "neither SQLite's nor gzip"),
      (try folder.write("some text", to: "text"), "neither SQLite's nor gzip"),
      (try write(compressed, to: "text.gz"), "what it holds is not SQLite's"),
      (try write(compressed.dropLast(), to: "cut.gz"), "cut short"),
      (try write(bytes.dropLast(4_096), to: "cut"), "is not sound"),
      (try write(changed, to: "changed"), "is not sound"),
    ]
    for (path, says) in cases {
      let error = #expect(throws: (any Error).self, "\(path)") {
        try Restore(to: database, overwrite: true).run(from: path)
      }
      let said = error.map { "\($0)" } ?? ""
      #expect(said.contains(says) && !said.isEmpty, "\(said)")
      #expect(try walk() == ["c"], "\(path)")
    }
    #expect(try files().filter { $0.contains("restoring") } == [])
  }

  @Test func `the database of another application is never replaced`() throws {
    try makeBackup()
    let other = try DatabaseQueue(path: database)
    try other.write { try $0.execute(sql: "PRAGMA application_id = 7; CREATE TABLE a (b)") }
    try other.close()
    #expect(throws: StoreError.foreign(path: database, applicationID: 7)) {
      try Restore(to: database, overwrite: true).run(from: backup)
    }
  }

  @Test func `the mode of a database that is replaced stays`() throws {
    try makeBackup()
    let store = try SQLiteStore(path: database)
    try store.close()
    chmod(database, 0o660)
    _ = try Restore(to: database, overwrite: true).run(from: backup)
    #expect(try #require(status(of: database)).st_mode & 0o777 == 0o660)
  }
}
