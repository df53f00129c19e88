import Backups
import Foundation
import Glibc
import Logging
import Migrations
import TestSupport
import Testing

@testable import Service
@testable import SQLiteStore

/// A migration cannot be undone, so a service with a backup folder makes a backup before it.
@Suite struct MigrationBackupTests {
  let folder = TemporaryFolder()
  var database: String { folder.file("feed.sqlite") }
  var backups: String { folder.file("backups") }

  private func configuration() throws -> FeedServiceConfiguration {
    try FileManager.default.createDirectory(atPath: backups, withIntermediateDirectories: true)
    var configuration = FeedServiceConfiguration(databasePath: database)
    configuration.backups = BackupSettings(folder: backups)
    return configuration
  }

  /// What a later program has.
  private static let later =
    Migration.sqlite + [
      Migration(
        version: Migration.sqlite.count + 1, name: "9999-next", sql: "CREATE TABLE next (a)")
    ]

  /// A database of this program, which is older than the later one.
  private func makeOldDatabase() throws { _ = try Schema.migrate(path: database) }

  private func pending(_ path: String) throws -> Int {
    try Migrator.$known.withValue(Self.later) {
      try Schema.status(path: path).count { $0.appliedAt == nil }
    }
  }

  private func start() throws {
    _ = try Migrator.$known.withValue(Self.later) {
      try FeedService(configuration(), logger: Logger(label: "test"))
    }
  }

  @Test func `an older database is backed up as it was, and then migrated`() throws {
    try makeOldDatabase()
    try start()
    #expect(try pending(database) == 0)
    let made = try FileManager.default.contentsOfDirectory(atPath: backups)
    #expect(made.count == 1)
    let restored = folder.file("restored.sqlite")
    let report = try Migrator.$known.withValue(Self.later) {
      try Restore(to: restored).run(from: backups + "/" + (made.first ?? ""))
    }
    #expect(report.pendingMigrations == ["9999-next"])
    #expect(try pending(restored) == 1)
    // And the next start has nothing to do.
    try start()
    #expect(try FileManager.default.contentsOfDirectory(atPath: backups) == made)
  }

  @Test func `without a backup nothing is migrated`() throws {
    try makeOldDatabase()
    _ = try configuration()
    // Another program makes one of this folder.
    let descriptor = open(backups, O_RDONLY | O_DIRECTORY)
    defer { close(descriptor) }
    try #require(flock(descriptor, LOCK_EX) == 0)
    let error = #expect(throws: MigrationWithoutBackup.self) { try start() }
    #expect("\(error!)".contains("nothing was changed"))
    #expect(try pending(database) == 1)
  }

  @Test func `a new database is not backed up before it is made`() throws {
    try start()
    #expect(try FileManager.default.contentsOfDirectory(atPath: backups) == [])
    #expect(try pending(database) == 0)
  }
}
