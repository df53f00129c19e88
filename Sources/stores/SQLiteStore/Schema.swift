import GRDB
import GRDBSQLite
import RowStore

/// The schema of a database, for the `migrate` commands.
package enum Schema {
  /// Applies the pending migrations; creates the database if it does not exist.
  ///
  /// - Returns: the names of the migrations that were applied.
  /// - Throws: `StoreError`.
  package static func migrate(
    path: String, options: DatabaseFile.Options = DatabaseFile.Options()
  ) throws -> [String] {
    let connections = try DatabaseFile.open(path: path, options: options)
    return try withStoreErrors(path: path) { try Migrator().migrate(connections) }
  }

  /// Returns every migration, with the time at which it was applied.
  ///
  /// - Throws: `StoreError`.
  package static func status(
    path: String, options: DatabaseFile.Options = DatabaseFile.Options()
  ) throws -> [MigrationStatus] {
    try withExisting(path: path, options) { try Migrator().status($0.reader) }
  }

  /// Checks that the applied migrations are this program's.
  ///
  /// - Throws: `StoreError` that names the migration.
  package static func verify(
    path: String, options: DatabaseFile.Options = DatabaseFile.Options()
  ) throws {
    try withExisting(path: path, options) { try Migrator().verify($0.reader) }
  }

  private static func withExisting<Result>(
    path: String, _ options: DatabaseFile.Options, _ body: (DatabaseConnections) throws -> Result
  ) throws -> Result {
    try DatabaseFile.requireExisting(path: path)
    let connections = try DatabaseFile.open(path: path, options: options)
    return try withStoreErrors(path: path) { try body(connections) }
  }
}

/// The SQLite library that this program runs with, which is the system's.
package enum SQLiteLibrary {
  /// The library's release: `3.40.1`.
  package static var version: String { String(cString: sqlite3_libversion()) }

  /// Whether SQLite can lose committed writes when one connection begins a checkpoint while another restarts
  /// the WAL (https://sqlite.org/wal.html#walresetbug).
  package static var hasLogResetRace: Bool { hasLogResetRace(Int(sqlite3_libversion_number())) }

  /// Whether a release has that bug. The number is that of `sqlite3_libversion_number()`: 3.40.1 is
  /// 3040001.
  static func hasLogResetRace(_ number: Int) -> Bool {
    switch number {
    // Releases before 3.7.0 have no WAL.
    case ..<3_007_000: false
    case 3_044_006..<3_045_000, 3_050_007..<3_051_000, 3_051_003...: false
    default: true
    }
  }

  /// The release and how this program avoids the WAL-reset bug, for a person.
  package static var summary: String {
    hasLogResetRace
      ? "SQLite \(version); its WAL-reset bug has no effect, because every checkpoint holds the "
        + "write lock"
      : "SQLite \(version), without the WAL-reset bug; every checkpoint holds the write lock anyway"
  }
}
