import Compression
import Feed
import Foundation
import GRDB
import Glibc
import SQLiteStore
import System
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

  @Test(arguments: ["-journal", "-wal", "-shm"])
  func `nothing is restored beside what would be taken for its log, and cannot be removed`(
    _ suffix: String
  ) throws {
    try makeBackup()
    unlink(database)
    // unlink(2) refuses a folder, as a disk may refuse any name.
    mkdir(database + suffix, 0o755)
    #expect(throws: (any Error).self) { try Restore(to: database).run(from: backup) }
    #expect(!FileManager.default.fileExists(atPath: database))
    rmdir(database + suffix)
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
    #expect(try FileStatus(path: killed + "-wal").bytes > 0)
    _ = try Restore(to: killed, overwrite: true).run(from: backup)
    #expect(["-wal", "-shm"].allSatisfy { (try? FileStatus(path: killed + $0)) == nil })
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
      (folder.path, "it is not a regular file"),
      (try folder.write("", to: "empty"), "not a SQLite or gzip file"),
      (try folder.write("some text", to: "text"), "not a SQLite or gzip file"),
      (try write(compressed, to: "text.gz"), "its content is not a SQLite file"),
      (try write(compressed.dropLast(), to: "cut.gz"), "is incomplete"),
      (try write(bytes.dropLast(4_096), to: "cut"), "checksum"),
      (try write(bytes.dropLast(4_096 + 64), to: "cut without a seal"), "is not sound"),
      (try write(changed, to: "changed"), "checksum"),
      (try write(changed.dropLast(64), to: "changed without a seal"), "is not sound"),
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

  /// A bit of a text is nothing that SQLite could see.
  @Test(arguments: TestRandom.seeds)
  func `a backup with any bit flipped is refused`(_ seed: UInt64) throws {
    try makeBackup()
    var random = TestRandom(seed)
    let bytes = try #require(FileManager.default.contents(atPath: backup))
    let flipped = folder.file("flipped")
    let ends = [0, 7, 8 * (bytes.count - 64), 8 * bytes.count - 1]
    for bit in ends + (0..<40).map({ _ in random.number(0...8 * bytes.count - 1) }) {
      var changed = bytes
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      try changed.write(to: URL(fileURLWithPath: flipped))
      #expect(throws: (any Error).self, "bit \(bit), seed \(random.seed)") {
        try Restore(to: database).run(from: flipped)
      }
    }
    #expect((try? FileStatus(path: database)) == nil)
  }

  @Test func `a backup without a check sum is restored with a note`() throws {
    try makeBackup()
    let bytes = try #require(FileManager.default.contents(atPath: backup))
    let old = folder.file("old")
    try bytes.dropLast(BackupSeal.byteCount).write(to: URL(fileURLWithPath: old))
    let report = try Restore(to: database).run(from: old)
    #expect(report.notes.contains { $0.contains("has no checksum") })
    #expect(try walk() == ["a", "b"])
    #expect(try Restore(to: database, overwrite: true).run(from: backup).notes == [])
  }

  @Test func `a sealed backup is an ordinary database`() throws {
    try makeBackup()
    let queue = try DatabaseQueue(path: backup)
    #expect(try queue.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") } == ["ok"])
    try queue.close()
    let store = try SQLiteStore(path: backup)
    try store.load(Array((0..<500).map { .ranked("p\($0)", $0) }))
    #expect(try store.check().isEmpty)
    try store.close()
    // Used since, it has no seal any more, and is not refused for that.
    _ = try Restore(to: database).run(from: backup)
    #expect(try walk().count == 502)
  }

  @Test func `a database behind a link is replaced where it lies`() throws {
    try makeBackup()
    let real = folder.file("real.sqlite")
    let store = try SQLiteStore(path: real)
    try store.load([.ranked("c", 1)])
    try store.close()
    try FileManager.default.createSymbolicLink(atPath: database, withDestinationPath: real)
    _ = try Restore(to: database, overwrite: true).run(from: backup)
    #expect(try walk() == ["a", "b"])
    let attributes = try FileManager.default.attributesOfItem(atPath: database)
    #expect(attributes[.type] as? FileAttributeType == .typeSymbolicLink)
    #expect(try SQLiteStore(path: real).walk("featured") == ["a", "b"])
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
    #expect(try FileStatus(path: database).permissions == 0o660)
  }
}
