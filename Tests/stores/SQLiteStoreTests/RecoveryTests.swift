import Feed
import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteStore

/// What programs leave behind that are killed at a bad moment.
@Suite struct RecoveryTests {
  /// A kill while SQLite keeps a rollback journal, which it does until WAL is turned on.
  @Test func `a database with a hot journal is recovered and opened`() throws {
    let folder = TemporaryFolder()
    let path = folder.file("feed.sqlite")
    let store = try SQLiteStore(path: path)
    try store.load([.ranked("a", 1)])
    try store.close()
    let copy = folder.file("copy.sqlite")
    try DatabaseQueue(path: path).writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA journal_mode = DELETE")
      try database.execute(sql: "BEGIN IMMEDIATE; UPDATE post SET title = 'changed'")
      // As a kill would leave them.
      for suffix in ["", "-journal"] {
        try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
      }
      try database.execute(sql: "ROLLBACK")
    }

    let recovered = try SQLiteStore(path: copy)
    #expect(try recovered.post(withID: "a")?.title == "Post a")
    #expect(try recovered.check().isEmpty)
    try recovered.close()
  }
}
