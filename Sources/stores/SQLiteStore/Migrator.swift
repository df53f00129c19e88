import Feed
import Foundation
import GRDB
import Migrations
import PostJSON
import RowStore

/// Brings a database to the schema that this program knows: each file in a transaction of its own, with a
/// checksum, never backwards.
package struct Migrator: Sendable {
  private let history: MigrationHistory

  /// This program's migrations, which tests replace.
  @TaskLocal static var known = Migration.sqlite

  /// Creates a migrator of these migrations, which must be numbered from 1 without gaps.
  package init(_ migrations: [Migration] = known) {
    history = MigrationHistory(migrations)
  }

  private static let table = """
    CREATE TABLE IF NOT EXISTS schema_migration (
      version INTEGER PRIMARY KEY,
      name TEXT NOT NULL,
      -- XXH3, 128 bits, as xxh128sum prints it.
      checksum TEXT NOT NULL,
      applied_at TEXT NOT NULL
    ) STRICT
    """

  /// Applies the pending migrations.
  ///
  /// - Returns: the names of the migrations that were applied.
  /// - Throws: `StoreError`; a migration that fails leaves no trace, and the ones before it stay.
  func migrate(_ connections: DatabaseConnections) throws -> [String] {
    try verify(connections.reader)
    // A database that is up to date is not written to: its disk may be full.
    let pending = history.pending(try connections.read(recorded))
    var applied: [String] = []
    for migration in pending {
      let isNew = try connections.writeWithoutTransaction { database in
        var isNew = false
        try database.inTransaction(.immediate) {
          isNew = try apply(migration, to: database)
          return .commit
        }
        return isNew
      }
      if isNew { applied.append(migration.name) }
    }
    return applied
  }

  /// Returns every migration, with the time at which it was applied.
  func status(_ reader: any DatabaseReader) throws -> [MigrationStatus] {
    history.status(try reader.read(recorded))
  }

  /// Checks that the applied migrations are this program's.
  func verify(_ reader: any DatabaseReader) throws {
    let records = try reader.read(recorded)
    do throws(MigrationProblem) {
      try history.verify(records)
    } catch {
      throw StoreError(error)
    }
  }

  private func recorded(_ database: Database) throws -> [MigrationRecord] {
    guard try database.tableExists("schema_migration") else { return [] }
    return history.adopted(
      try Row.fetchAll(
        database,
        sql: "SELECT version, name, checksum, applied_at FROM schema_migration ORDER BY version"
      ).map { MigrationRecord(version: $0[0], name: $0[1], checksum: $0[2], appliedAt: $0[3]) })
  }

  /// Applies the migration, unless another process was faster: the records are read again within the
  /// transaction.
  private func apply(_ migration: Migration, to database: Database) throws -> Bool {
    try database.execute(sql: "PRAGMA application_id = \(DatabaseFile.applicationID)")
    try database.execute(sql: Self.table)
    let records = try recorded(database)
    if records.contains(where: { $0.version == migration.version }) { return false }
    // Writes the records as `recorded` adopts them; later migrations follow them.
    try database.execute(sql: "DELETE FROM schema_migration")
    for record in records { try write(record, database) }
    do {
      try database.execute(sql: migration.sql)
    } catch let error as DatabaseError
      where error.resultCode == .SQLITE_ERROR || error.resultCode == .SQLITE_CONSTRAINT
    {
      throw StoreError.migrationFailed(name: migration.name, reason: error.message ?? "")
    }
    let time = try String.fetchOne(database, sql: "SELECT strftime('%Y-%m-%dT%H:%M:%SZ', 'now')")
    try write(
      MigrationRecord(
        version: migration.version, name: migration.name,
        checksum: MigrationHistory.checksum(migration.sql), appliedAt: time ?? ""), database)
    return true
  }

  private func write(_ record: MigrationRecord, _ database: Database) throws {
    try database.execute(
      sql: "INSERT INTO schema_migration (version, name, checksum, applied_at) VALUES (?, ?, ?, ?)",
      arguments: [record.version, record.name, record.checksum, record.appliedAt])
  }
}
