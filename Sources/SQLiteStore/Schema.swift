import GRDB
import RowStore

/// The schema of a database, for the `migrate` commands.
public enum Schema {
  /// Applies what is pending, making the database where there is none.
  ///
  /// - Returns: the names of the migrations that were applied.
  /// - Throws: `StoreError`.
  public static func migrate(
    path: String, options: DatabaseFile.Options = DatabaseFile.Options()
  ) throws -> [String] {
    let connections = try DatabaseFile.open(path: path, options: options)
    return try withStoreErrors(path: path) { try Migrator().migrate(connections) }
  }

  /// Every migration, with when it was applied.
  ///
  /// - Throws: `StoreError`.
  public static func status(
    path: String, options: DatabaseFile.Options = DatabaseFile.Options()
  ) throws -> [MigrationStatus] {
    try withExisting(path: path, options) { try Migrator().status($0.reader) }
  }

  /// Sees that the applied migrations are this program's.
  ///
  /// - Throws: `StoreError`, naming the migration.
  public static func verify(
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
