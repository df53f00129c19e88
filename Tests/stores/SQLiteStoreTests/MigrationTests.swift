import Feed
import Foundation
import GRDB
import Migrations
import TestSupport
import Testing

@testable import SQLiteStore

@Suite struct MigrationTests {
  let folder = TemporaryFolder()
  var path: String { folder.file("feed.sqlite") }

  private func failure(_ body: () throws -> Void) -> StoreError? {
    do {
      try body()
      return nil
    } catch {
      return error as? StoreError
    }
  }

  @Test func `a new database gets every migration, once`() throws {
    #expect(try Schema.migrate(path: path) == Migration.sqlite.map(\.name))
    #expect(try Schema.migrate(path: path) == [])
    #expect(try Schema.status(path: path).allSatisfy { $0.appliedAt != nil })
    try Schema.verify(path: path)
  }

  @Test func `the versions count from one without a gap and name their files`() {
    for (index, migration) in Migration.sqlite.enumerated() {
      #expect(migration.version == index + 1)
      #expect(migration.name.hasPrefix(String(format: "%04d-", index + 1)))
      #expect(!migration.sql.isEmpty)
    }
  }

  @Test(arguments: ["sqlite", "postgres"])
  func `CEmbedded.c lists the files of the folder, and no other`(_ folder: String) throws {
    let migrations = folder == "sqlite" ? Migration.sqlite : Migration.postgres
    let files = try FileManager.default.contentsOfDirectory(
      atPath: Repository.url("Migrations/\(folder)").path)
    #expect(migrations.map { $0.name + ".sql" } == files.sorted())
  }

  @Test func `each database has every migration`() {
    #expect(Migration.sqlite.map(\.name) == Migration.postgres.map(\.name))
  }

  @Test func `an edited migration is refused by name`() throws {
    _ = try Schema.migrate(path: path)
    try DatabaseQueue(path: path).write {
      try $0.execute(sql: "UPDATE schema_migration SET checksum = 'x' WHERE version = 1")
    }
    #expect(failure { try Schema.verify(path: path) } == .editedMigration(name: "0001-store"))
    #expect(failure { _ = try SQLiteStore(path: path) } == .editedMigration(name: "0001-store"))
  }

  @Test func `a migration that this program does not know is refused by name`() throws {
    _ = try Schema.migrate(path: path)
    try DatabaseQueue(path: path).write {
      try $0.execute(sql: "UPDATE schema_migration SET name = '0001-other'")
    }
    #expect(
      failure { try Schema.verify(path: path) }
        == .unknownMigration(version: 1, name: "0001-other"))
  }

  @Test func `a database newer than the program is refused`() throws {
    _ = try Schema.migrate(path: path)
    let newest = Migration.sqlite.count
    try DatabaseQueue(path: path).write {
      try $0.execute(
        sql: "INSERT INTO schema_migration VALUES (?, 'later', 'x', 'now')", arguments: [newest + 1]
      )
    }
    #expect(
      failure { _ = try SQLiteStore(path: path) }
        == .newerDatabase(version: newest + 1, newestKnown: newest))
  }

  @Test func `a migration that fails leaves no trace and keeps the ones before it`() throws {
    let pool = try DatabaseFile.open(path: path, options: .init())
    let migrator = Migrator([
      Migration(version: 1, name: "0001-good", sql: "CREATE TABLE good (a)"),
      Migration(version: 2, name: "0002-bad", sql: "CREATE TABLE half (a); CREATE TABLE good (a)"),
    ])
    guard case .migrationFailed("0002-bad", _)? = failure({ _ = try migrator.migrate(pool) }) else {
      Issue.record("the failure names no migration")
      return
    }
    let tables = try pool.read { try String.fetchAll($0, sql: "SELECT name FROM sqlite_schema") }
    #expect(tables.contains("good"))
    #expect(!tables.contains("half"))
    #expect(try migrator.status(pool.reader).map { $0.appliedAt != nil } == [true, false])
  }

  @Test func `the database of another application is refused and left alone`() throws {
    try DatabaseQueue(path: path).write { database in
      try database.execute(sql: "PRAGMA application_id = 77; CREATE TABLE theirs (a)")
    }
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    #expect(
      failure { _ = try SQLiteStore(path: path) } == .foreign(path: path, applicationID: 77))
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
  }

  @Test func `a database without an owner is refused unless it is empty`() throws {
    try DatabaseQueue(path: path).write { try $0.execute(sql: "CREATE TABLE theirs (a)") }
    #expect(failure { _ = try SQLiteStore(path: path) } == .foreign(path: path, applicationID: 0))
    let empty = try folder.write("", to: "empty.sqlite")
    #expect(failure { _ = try SQLiteStore(path: empty) } == nil)
  }

  @Test func `what is no database is refused in words`() throws {
    let text = try folder.write(String(repeating: "no database ", count: 100), to: "text")
    #expect(failure { _ = try SQLiteStore(path: text) } == .notADatabase(path: text))
    guard case .cannotOpen? = failure({ _ = try SQLiteStore(path: folder.path) }) else {
      Issue.record("a folder was opened")
      return
    }
    let missing = folder.file("none/feed.sqlite")
    guard case .cannotOpen? = failure({ _ = try SQLiteStore(path: missing) }) else {
      Issue.record("a database was made in a folder that is not there")
      return
    }
    #expect(failure { _ = try SQLiteStore(existing: path) } == .missing(path: path))
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `a command that only reads asks for pending migrations`() throws {
    try Self.leaveUnfinished(path)
    #expect(
      failure { _ = try SQLiteStore(existing: path) }
        == .pendingMigrations(Migration.sqlite.map(\.name)))
  }

  /// A database whose first migration did not come to its end.
  static func leaveUnfinished(_ path: String) throws {
    let pool = try DatabaseFile.open(path: path, options: .init())
    let none = Migrator([Migration(version: 1, name: "0001-none", sql: "SELECT 1")])
    _ = try none.migrate(pool)
    try pool.write { try $0.execute(sql: "DELETE FROM schema_migration") }
    try pool.close()
  }

  @Test func `a kind is one of those that there are`() throws {
    let pool = try DatabaseFile.open(path: path, options: .init())
    _ = try Migrator().migrate(pool)
    func isTaken(_ sql: String, _ kind: String?) throws -> Bool {
      do {
        try pool.write { try $0.execute(sql: sql, arguments: [kind]) }
        return true
      } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
        return false
      }
    }
    let statements = [
      "INSERT INTO post (id, type) VALUES (hex(randomblob(8)), ?)": PostType.allCases.map(
        \.rawValue),
      "INSERT INTO media (post_id, ordinal, kind, url) VALUES (1, abs(random() % 1000000), ?, '/')":
        MediaKind.allCases.map(\.rawValue),
      "INSERT INTO change_log (kind) VALUES (?)": ["entry", "feed", "post", "settings"],
    ]
    _ = try isTaken("INSERT INTO post (post_id, id, type) VALUES (1, 'first', ?)", "text")
    for (sql, kinds) in statements {
      for kind in kinds { #expect(try isTaken(sql, kind), "\(kind)") }
      for kind in [nil, "", "movie", "Image", "image ", "'image'", "Post"] {
        #expect(try !isTaken(sql, kind), "\(kind ?? "NULL")")
      }
    }
  }
}
