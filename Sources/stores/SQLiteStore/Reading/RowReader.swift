import GRDB
import GRDBSQLite
import RowStore

/// Steps through a statement's rows and gives access to columns in SQLite's memory
/// (https://sqlite.org/c3ref/column_blob.html).
///
/// GRDB's `Row` makes a value of each column, which costs more for a page than reading it. A statement has
/// one reader at a time, which resets it at the start and ends with `reset()`.
struct RowReader {
  private let statement: SQLiteStatement

  init(_ statement: Statement) {
    self.statement = statement.sqliteStatement
    reset()
  }

  /// Releases the rows; without it the statement holds its snapshot of the file.
  func reset() {
    sqlite3_reset(statement)
  }

  /// The number of question marks in the statement.
  var parameterCount: Int { Int(sqlite3_bind_parameter_count(statement)) }

  /// Binds the number, or NULL, to the `index`-th question mark, from 1.
  ///
  /// - Throws: `DatabaseError`.
  func bind(_ number: Int64?, at index: Int) throws {
    if let number {
      try check(sqlite3_bind_int64(statement, Int32(index), number))
    } else {
      try check(sqlite3_bind_null(statement, Int32(index)))
    }
  }

  /// Binds the text to the `index`-th question mark, from 1.
  ///
  /// - Throws: `DatabaseError` if the text is too long, or there is no memory for a copy.
  func bind(_ text: String, at index: Int) throws {
    // SQLITE_TRANSIENT: SQLite copies the text.
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    var text = text
    let code = text.withUTF8 { utf8 in
      utf8.withMemoryRebound(to: CChar.self) { utf8 in
        // A null pointer would bind NULL instead of the empty text.
        guard let start = utf8.baseAddress else {
          return sqlite3_bind_text(statement, Int32(index), "", 0, transient)
        }
        return sqlite3_bind_text64(
          statement, Int32(index), start, UInt64(utf8.count), transient, UInt8(SQLITE_UTF8))
      }
    }
    try check(code)
  }

  /// Steps to the next row.
  ///
  /// - Returns: whether there is one.
  /// - Throws: `DatabaseError`.
  func next() throws -> Bool {
    let code = sqlite3_step(statement)
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE { return false }
    throw failure(code)
  }

  private func check(_ code: Int32) throws {
    if code != SQLITE_OK { throw failure(code) }
  }

  private func failure(_ code: Int32) -> DatabaseError {
    DatabaseError(
      resultCode: ResultCode(rawValue: code),
      message: sqlite3_errmsg(sqlite3_db_handle(statement)).map { String(cString: $0) },
      sql: sqlite3_sql(statement).map { String(cString: $0) })
  }

  /// Returns the number in the column; 0 for NULL.
  func integer(_ column: Int32) -> Int64 {
    sqlite3_column_int64(statement, column)
  }

  /// Returns the number in the column; `nil` for NULL.
  func optionalInteger(_ column: Int32) -> Int64? {
    let value = value(column)
    return sqlite3_value_type(value) == SQLITE_NULL ? nil : sqlite3_value_int64(value)
  }

  /// Returns the text in the column, `nil` for NULL and the empty text. It is valid until the next step.
  func text(_ column: Int32) -> UnsafeBufferPointer<UInt8>? {
    let value = value(column)
    // As a blob, a text is its UTF-8, without the copy that adds a zero byte.
    guard let start = sqlite3_value_blob(value) else { return nil }
    return UnsafeBufferPointer(
      start: start.assumingMemoryBound(to: UInt8.self), count: Int(sqlite3_value_bytes(value)))
  }

  /// Returns the value of the column, looked up once for all reads of it. Other threads must not use the
  /// connection meanwhile (https://sqlite.org/c3ref/column_blob.html); a reader's owner is its only user.
  private func value(_ column: Int32) -> OpaquePointer? { sqlite3_column_value(statement, column) }

  /// Returns the bytes in the column, `nil` for NULL and for no bytes. They are valid until the next step.
  func bytes(_ column: Int32) -> UnsafeBufferPointer<UInt8>? { text(column) }

  /// Returns the text in the column, empty for NULL.
  func string(_ column: Int32) -> String {
    text(column).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}

extension RowReader: ColumnRow {
  func text(_ column: Int) -> UnsafeBufferPointer<UInt8>? {
    text(Int32(truncatingIfNeeded: column))
  }
  func number(_ column: Int) -> Int64? { optionalInteger(Int32(truncatingIfNeeded: column)) }
}
