import GRDB
import GRDBSQLite

/// A connection that only reads, with what it needs for a page prepared.
///
/// A read through GRDB's pool costs 10 µs before anything is read; this one costs 2.
///
/// `@unchecked`: the statements are touched only within the blocks of `queue`, which runs one at a time.
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
      // Ends the snapshot, which a failure leaves open; one that SQLite has ended itself is no failure.
      defer {
        if sqlite3_get_autocommit(database.sqliteConnection) == 0 {
          try? run(&statements.commit, "COMMIT", database)
        }
      }
      return try body(database, &statements.page)
    }
  }

  /// A number that differs from the last one when another connection, of whichever process, has written
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

  /// Sees that the file is still the one that was opened.
  ///
  /// - Throws: `StoreError.gone`, `StoreError.replaced`.
  func look(_ watch: FileWatch) throws { try queue.unsafeRead(watch.look) }

  /// Closes the file. It is not read from again.
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
