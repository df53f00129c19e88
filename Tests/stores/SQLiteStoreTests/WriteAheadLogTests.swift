import Feed
import Foundation
import GRDB
import Seeding
import TestSupport
import Testing

@testable import SQLiteStore

@Suite struct WriteAheadLogTests {
  let folder = TemporaryFolder()

  @Test func `a log that nobody writes to any more is cut at the second look`() throws {
    let store = try SQLiteStore(path: folder.file("feed.sqlite"))
    let log = WriteAheadLog(of: store, limitBytes: 1 << 30)
    try store.load([.ranked("a", 1)])
    #expect(store.fileBytes.writeAheadLog > 0)
    #expect(try log.look() == .small)
    #expect(try log.look() == .cut)
    #expect(store.fileBytes.writeAheadLog < WriteAheadLog.smallBytes)
    #expect(try log.look() == .small)
    try store.load([.ranked("b", 2)])
    #expect(try log.look() == .small)
    #expect(store.fileBytes.writeAheadLog > 0)
    #expect(try store.walk("featured") == ["a", "b"])
  }

  @Test func `a log beyond its limit is cut as soon as nobody reads from it`() throws {
    let store = try SQLiteStore(path: folder.file("feed.sqlite"))
    let log = WriteAheadLog(of: store, limitBytes: 1 << 20)
    let reader = try DatabaseQueue(path: store.path)
    try reader.read { database in
      _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM post")
      // Written while somebody reads: the log cannot be begun anew.
      try store.load(Array(PostGenerator(count: 4_000, seed: 1)), batch: 500)
      #expect(store.fileBytes.writeAheadLog > 1 << 20)
      guard case .held(let bytes) = try log.look() else {
        Issue.record("cut while it was read")
        return
      }
      #expect(bytes == store.fileBytes.writeAheadLog)
    }
    #expect(try log.look() == .cut)
    #expect(store.fileBytes.writeAheadLog < WriteAheadLog.smallBytes)
    #expect(try store.check().isEmpty)
  }

  @Test func `the file of a log that was begun anew is no larger than its limit`() throws {
    let file = DatabaseFile.Options(logLimitBytes: 1 << 20)
    let store = try SQLiteStore(path: folder.file("feed.sqlite"), file: file)
    let reader = try DatabaseQueue(path: store.path)
    try reader.read { database in
      _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM post")
      // More than the thousand pages from which on SQLite brings the log in.
      try store.load(Array(PostGenerator(count: 12_000, seed: 1)), batch: 2_000)
      #expect(store.fileBytes.writeAheadLog > 5 << 20)
    }
    // The first brings it in, the second begins it anew.
    try store.load([.ranked("a", 1)])
    try store.load([.ranked("b", 2)])
    #expect(store.fileBytes.writeAheadLog <= 1 << 20)
  }

  /// SQLite keeps the log beside the file itself.
  @Test func `the log of a database behind a link is seen and cut`() throws {
    let link = folder.file("link.sqlite")
    try SQLiteStore(path: folder.file("feed.sqlite")).close()
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: folder.file("feed.sqlite"))
    let store = try SQLiteStore(path: link)
    try store.load(Array(PostGenerator(count: 500, seed: 1)))
    #expect(store.fileBytes.writeAheadLog > WriteAheadLog.smallBytes)
    #expect(try WriteAheadLog(of: store, limitBytes: 1).look() == .cut)
    #expect(store.fileBytes.writeAheadLog < WriteAheadLog.smallBytes)
    #expect(store.fileBytes.database > 0)
  }
}
