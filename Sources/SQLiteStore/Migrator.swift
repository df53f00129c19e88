import CXXHash
import GRDB
import Migrations

/// A migration and whether the database has it.
public struct MigrationStatus: Hashable, Sendable {
  /// Counts from 1 without a gap.
  public let version: Int
  /// The file's name without its ending, `0001-feeds`.
  public let name: String
  /// When it was applied, RFC 3339; `nil` where it is pending.
  public let appliedAt: String?
}

/// Brings a database to the schema that this program knows: each file in a transaction of its own,
/// with a check sum, never backwards.
public struct Migrator: Sendable {
  private let migrations: [Migration]

  /// A migrator of these migrations, which must be numbered from 1 without a gap.
  public init(_ migrations: [Migration] = Migration.all) {
    precondition(
      migrations.map(\.version)
        == Array(1...max(1, migrations.count)).prefix(migrations.count).map { $0 })
    self.migrations = migrations
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

  /// Applies what is pending.
  ///
  /// - Returns: the names of the migrations that were applied.
  /// - Throws: `StoreError`; a migration that fails leaves no trace, the ones before it stay.
  func migrate(_ connections: DatabaseConnections) throws -> [String] {
    try verify(connections.reader)
    // What is up to date is not written to: it may lie on a disk that is full.
    let known = Set(try connections.read(recorded).map(\.version))
    var applied: [String] = []
    for migration in migrations where !known.contains(migration.version) {
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

  /// Every migration, with when it was applied.
  func status(_ reader: any DatabaseReader) throws -> [MigrationStatus] {
    let recorded = try reader.read(recorded)
    return migrations.map { migration in
      let applied = recorded.first { $0.version == migration.version }
      return MigrationStatus(
        version: migration.version, name: migration.name, appliedAt: applied?.appliedAt)
    }
  }

  /// Sees that what was applied is what this program has.
  func verify(_ reader: any DatabaseReader) throws {
    for record in try reader.read(recorded) {
      guard let migration = migrations.first(where: { $0.version == record.version }) else {
        if record.version > migrations.count {
          throw StoreError.newerDatabase(version: record.version, newestKnown: migrations.count)
        }
        throw StoreError.unknownMigration(version: record.version, name: record.name)
      }
      guard migration.name == record.name else {
        throw StoreError.unknownMigration(version: record.version, name: record.name)
      }
      guard Self.checksum(migration.sql) == record.checksum else {
        throw StoreError.editedMigration(name: migration.name)
      }
    }
  }

  private struct Record {
    let version: Int
    let name: String
    let checksum: String
    let appliedAt: String
  }

  private func recorded(_ database: Database) throws -> [Record] {
    guard try database.tableExists("schema_migration") else { return [] }
    return try Row.fetchAll(
      database,
      sql: "SELECT version, name, checksum, applied_at FROM schema_migration ORDER BY version"
    ).map { Record(version: $0[0], name: $0[1], checksum: $0[2], appliedAt: $0[3]) }
  }

  /// Another process may have been faster, so the record is looked at again within the transaction.
  private func apply(_ migration: Migration, to database: Database) throws -> Bool {
    try database.execute(sql: "PRAGMA application_id = \(DatabaseFile.applicationID)")
    try database.execute(sql: Self.table)
    let isApplied =
      try Bool.fetchOne(
        database, sql: "SELECT EXISTS (SELECT 1 FROM schema_migration WHERE version = ?)",
        arguments: [migration.version]) ?? false
    if isApplied { return false }
    PackedTruth.migrating.forEach(database.add(function:))
    do {
      try database.execute(sql: migration.sql)
    } catch let error as DatabaseError
      where error.resultCode == .SQLITE_ERROR || error.resultCode == .SQLITE_CONSTRAINT
    {
      throw StoreError.migrationFailed(name: migration.name, reason: error.message ?? "")
    }
    try database.execute(
      sql: """
        INSERT INTO schema_migration (version, name, checksum, applied_at)
        VALUES (?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
        """,
      arguments: [migration.version, migration.name, Self.checksum(migration.sql)])
    return true
  }

  static func checksum(_ text: String) -> String {
    var text = text
    let hash = text.withUTF8 { lookahead_xxh3_128($0.baseAddress, $0.count) }
    func hexadecimal(_ value: UInt64) -> String {
      let digits = String(value, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }
    return hexadecimal(hash.high) + hexadecimal(hash.low)
  }
}
