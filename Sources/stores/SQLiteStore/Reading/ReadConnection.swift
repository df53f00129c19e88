import GRDB
import GRDBSQLite

/// A connection that only reads, with the prepared statements of pages.
///
/// A read through GRDB's pool costs 10 µs before it reads anything; a read through this connection costs 2
/// µs.
///
/// `@unchecked`: the statements are used only within the blocks of `queue`, which runs one at a time.
final class ReadConnection: @unchecked Sendable {
  private let queue: DatabaseQueue
  private var statements = Statements()

  private struct Statements {
    var page = PageStatements()
    var begin: Statement?
    var commit: Statement?
    var dataVersion: Statement?
  }

  init(path: String, configuration: Configuration) throws {
    var configuration = configuration
    configuration.readonly = true
    queue = try DatabaseQueue(path: path, configuration: configuration)
  }

  /// Runs the body within one snapshot of the file (https://sqlite.org/isolation.html).
  func read<Result>(
    _ body: (Database, inout PageStatements) throws -> Result
  ) throws -> Result {
    try queue.unsafeRead { database in
      try run(&statements.begin, "BEGIN", database)
      // Ends the snapshot, which a failure leaves open. SQLite may have ended it already.
      defer {
        if sqlite3_get_autocommit(database.sqliteConnection) == 0 {
          try? run(&statements.commit, "COMMIT", database)
        }
      }
      return try body(database, &statements.page)
    }
  }

  /// Returns a number that differs from the last one if another connection, of any process, has written
  /// since (https://sqlite.org/pragma.html#pragma_data_version).
  func dataVersion() throws -> Int64 {
    try queue.unsafeRead { database in
      let statement =
        try statements.dataVersion ?? database.makeStatement(sql: "PRAGMA data_version")
      statements.dataVersion = statement
      let rows = RowReader(statement)
      defer { rows.reset() }
      _ = try rows.next()
      return rows.integer(0)
    }
  }

  /// Checks that the file is still the one that was opened.
  ///
  /// - Throws: `StoreError.gone`, `StoreError.replaced`.
  func look(_ watch: FileWatch) throws { try queue.unsafeRead(watch.look) }

  /// Closes the file. The connection must not be used afterwards.
  func close() throws {
    queue.unsafeRead { _ in statements = Statements() }
    try queue.close()
  }

  private func run(_ kept: inout Statement?, _ sql: String, _ database: Database) throws {
    let statement = try kept ?? database.makeStatement(sql: sql)
    kept = statement
    let rows = RowReader(statement)
    defer { rows.reset() }
    _ = try rows.next()
  }
}
