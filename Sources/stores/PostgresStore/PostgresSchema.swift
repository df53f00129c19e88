import Migrations
import Postgres
import RowStore

/// The schema of a database, for the `migrate` commands and for every process that opens it: each migration
/// in its own transaction, with a checksum, never backwards. One program migrates at a time: the others
/// wait, and find it done.
package struct PostgresSchema: Sendable {
  private let address: DatabaseAddress
  private let history: MigrationHistory

  /// Creates the schema of the database at this address.
  package init(_ address: DatabaseAddress) { self.init(address, Migration.postgres) }

  init(_ address: DatabaseAddress, _ migrations: [Migration]) {
    self.address = address
    history = MigrationHistory(migrations)
  }

  /// A migrating process holds this lock of the database, whatever the schema is: no table exists yet that
  /// could give the lock a number.
  private static let lock = "SELECT pg_advisory_xact_lock(491913175, 1)"

  /// Applies the pending migrations, and creates the tables if they are absent.
  ///
  /// - Returns: the names of the migrations that were applied.
  /// - Throws: `PostgresStoreError`; a migration that fails leaves no trace, and the ones before it stay.
  package func migrate() throws -> [String] {
    try withConnection { connection in
      // An up-to-date schema is not written to: a process that only reads may lack the right.
      let records = try verified(connection)
      var applied: [String] = []
      for migration in history.pending(records) where try apply(migration, connection) {
        applied.append(migration.name)
      }
      return applied
    }
  }

  /// Returns every migration, with the time at which it was applied.
  ///
  /// - Throws: `PostgresStoreError`.
  package func status() throws -> [MigrationStatus] {
    try withConnection { history.status(try Self.records($0)) }
  }

  /// Checks that the applied migrations are this program's.
  ///
  /// - Throws: `PostgresStoreError` that names the migration.
  package func verify() throws { _ = try withConnection(verified) }

  /// Checks that no migration is pending.
  ///
  /// - Throws: `PostgresStoreError`.
  func requireUpToDate() throws {
    let records = try withConnection(verified)
    guard !records.isEmpty else { throw PostgresStoreError.missing(name: address.name) }
    let pending = history.pending(records).map(\.name)
    guard pending.isEmpty else { throw PostgresStoreError.pendingMigrations(pending) }
  }

  private func withConnection<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try withStoreErrors(address.name) {
      // A migration has no time limit.
      let connection = try Connection(
        address, Connection.Options(statementMilliseconds: 0))
      let encoding = try connection.run("SHOW server_encoding").text(0, 0) ?? ""
      guard encoding == "UTF8" else {
        throw PostgresStoreError.notUTF8(name: address.name, encoding: encoding)
      }
      return try body(connection)
    }
  }

  private func verified(_ connection: Connection) throws -> [MigrationRecord] {
    let records = try Self.records(connection)
    do throws(MigrationProblem) {
      try history.verify(records)
    } catch {
      throw PostgresStoreError.migration(error)
    }
    return records
  }

  private static func records(_ connection: Connection) throws -> [MigrationRecord] {
    guard try connection.run("SELECT to_regclass('schema_migration') IS NOT NULL").boolean(0, 0)
    else { return [] }
    let rows = try connection.run(
      "SELECT version, name, checksum, applied_at FROM schema_migration ORDER BY version")
    return (0..<rows.count).map { row in
      MigrationRecord(
        version: Int(rows.integer(row, 0) ?? 0), name: rows.text(row, 1) ?? "",
        checksum: rows.text(row, 2) ?? "", appliedAt: rows.text(row, 3) ?? "")
    }
  }

  /// Creates the first schema of the search path if it does not exist, as for a role that was given a
  /// schema of its own.
  private static let schema = """
    DO $$
    DECLARE wanted text := split_part(current_setting('search_path'), ',', 1);
    BEGIN
      IF current_schema() IS NULL THEN EXECUTE format('CREATE SCHEMA %I', btrim(wanted, '" ')); END IF;
    END $$
    """

  private static let table = """
    CREATE TABLE IF NOT EXISTS schema_migration (
      version bigint PRIMARY KEY,
      name text COLLATE "C" NOT NULL,
      -- XXH3, 128 bits, as xxh128sum prints it.
      checksum text COLLATE "C" NOT NULL,
      applied_at text COLLATE "C" NOT NULL
    )
    """

  /// Applies the migration, unless another process was faster: the record is read again once the lock is held.
  private func apply(_ migration: Migration, _ connection: Connection) throws -> Bool {
    try connection.transaction {
      try connection.run(Self.lock)
      try connection.run(script: Self.schema)
      try connection.run(script: Self.table)
      let known = try connection.run(
        "SELECT 1 FROM schema_migration WHERE version = $1::int8",
        [.integer(Int64(migration.version))])
      guard known.count == 0 else { return false }
      do throws(PostgresError) {
        try connection.run(script: migration.sql)
      } catch {
        guard case .server(let message) = error else { throw error }
        throw PostgresStoreError.migrationFailed(name: migration.name, reason: message.text)
      }
      try connection.run(
        """
        INSERT INTO schema_migration (version, name, checksum, applied_at)
        VALUES ($1::int8, $2::text, $3::text,
          to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
        """,
        [
          .integer(Int64(migration.version)), .text(migration.name),
          .text(MigrationHistory.checksum(migration.sql)),
        ])
      return true
    }
  }
}
