import Foundation
import GRDB
import RowStore

extension SQLiteStore: TableStore {
  /// So many rows are handed out at a time.
  private static let portion = 2_000

  /// See `TableStore`.
  ///
  /// - Throws: `StoreError`, what `body` throws.
  public func readTables(_ body: (StoreTable, [[TableValue]]) throws -> Void) throws {
    try withStoreErrors(path: path) {
      try pool.read { database in
        for table in StoreTable.all {
          var rows: [[TableValue]] = []
          let cursor = try Row.fetchCursor(
            database, sql: "SELECT \(table.columnList) FROM \(table.name)")
          while let row = try cursor.next() {
            rows.append(try table.columns.indices.map { try Self.value(row[$0] as DatabaseValue) })
            if rows.count == Self.portion {
              try body(table, rows)
              rows.removeAll(keepingCapacity: true)
            }
          }
          if !rows.isEmpty { try body(table, rows) }
        }
      }
    }
  }

  private static func value(_ stored: DatabaseValue) throws -> TableValue {
    switch stored.storage {
    case .null: .null
    case .int64(let number): .integer(number)
    case .string(let text): .text(Array(text.utf8))
    case .blob(let data): .bytes(Array(data))
    case .double: throw RowError("a row holds a number that is not whole")
    }
  }

  /// See `TableStore`.
  ///
  /// - Throws: `StoreNotEmpty`, `StoreError`, what `fill` throws.
  public func writeTables(
    _ fill: ((StoreTable, [[TableValue]]) throws -> Void) throws -> Void
  ) throws {
    try withStoreErrors(path: path) {
      try pool.write { database in
        let isEmpty = "SELECT NOT EXISTS (SELECT 1 FROM post) AND NOT EXISTS (SELECT 1 FROM feed)"
        guard try Bool.fetchOne(database, sql: isEmpty) ?? false else {
          throw StoreNotEmpty(name: path)
        }
        for statement in StoreTable.makingRoom { try database.execute(sql: statement) }
        try fill { table, rows in
          let places = table.columns.map { _ in "?" }.joined(separator: ", ")
          let statement = try database.cachedStatement(
            sql: "INSERT INTO \(table.name) (\(table.columnList)) VALUES (\(places))")
          for row in rows {
            try statement.execute(arguments: StatementArguments(row.map(Self.stored)))
          }
        }
        try ChangeLog(database: database).trim()
      }
    }
    followOwnWrite()
  }

  private static func stored(_ value: TableValue) -> DatabaseValue {
    switch value {
    case .null: .null
    case .integer(let number): number.databaseValue
    case .text(let bytes): String(decoding: bytes, as: UTF8.self).databaseValue
    case .bytes(let bytes): Data(bytes).databaseValue
    }
  }
}
