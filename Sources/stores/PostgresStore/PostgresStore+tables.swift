import Postgres
import RowStore

extension PostgresStore: TableStore {
  /// The number of rows that are passed on at once.
  private static let portion = 2_000

  /// See `TableStore`.
  ///
  /// - Throws: `PostgresStoreError`, what `body` throws.
  package func readTables(_ body: (StoreTable, [[TableValue]]) throws -> Void) throws {
    try withStoreErrors(name) {
      let connection = try Connection(address, .init(statementMilliseconds: 0))
      try connection.transaction(.reading) {
        for table in StoreTable.all {
          try connection.run(
            script: """
              DECLARE copied NO SCROLL CURSOR FOR SELECT \(table.columnList) FROM \(table.name)
              """)
          var isMore = true
          while isMore {
            // Not prepared: the columns differ from table to table.
            let rows = try connection.runOnce("FETCH \(Self.portion) FROM copied")
            if rows.count > 0 {
              try body(table, try (0..<rows.count).map { try Self.values(rows, $0, table) })
            }
            isMore = rows.count == Self.portion
          }
          try connection.run(script: "CLOSE copied")
        }
      }
    }
  }

  private static func values(
    _ rows: Rows, _ row: Int, _ table: StoreTable
  ) throws -> [TableValue] {
    try table.columns.enumerated().map { index, column in
      guard let bytes = rows.bytes(row, index) else { return .null }
      return switch column.kind {
      case .integer: .integer(try RowValues(rows: rows, row: row).integer(index))
      case .text: .text(Array(bytes))
      case .bytes: .bytes(Array(bytes))
      }
    }
  }

  /// The tables whose rows get numbers from the database, and the columns of the numbers.
  private static let numbered = [
    ("author", "author_id"), ("post", "post_id"), ("feed", "feed_id"), ("feed_entry", "entry_id"),
    ("policy", "policy_id"), ("applied_policy", "applied_id"),
    ("experiment", "experiment_id"), ("experiment_step", "step_id"),
    ("idempotency_key", "key_id"), ("ranking_run", "run_id"), ("media_truth", "truth_id"),
  ]

  /// See `TableStore`.
  ///
  /// - Throws: `StoreNotEmpty`, `PostgresStoreError`, what `fill` throws.
  package func writeTables(
    _ fill: ((StoreTable, [[TableValue]]) throws -> Void) throws -> Void
  ) throws {
    try withStoreErrors(name) {
      try writer.transaction(isBulk: true, isRepeatable: false) { rows in
        let connection = rows.connection
        let isEmpty = try connection.run(
          "SELECT NOT EXISTS (SELECT 1 FROM post) AND NOT EXISTS (SELECT 1 FROM feed)")
        guard isEmpty.boolean(0, 0) else { throw StoreNotEmpty(name: name) }
        for statement in StoreTable.makingRoom { try connection.run(statement) }
        try fill { table, values in
          var rows = CopyRows()
          for row in values {
            rows.beginRow(columns: Int16(table.columns.count))
            for value in row { try rows.append(value) }
          }
          try connection.copy(rows, into: "\(table.name) (\(table.columnList))")
        }
        // New numbers follow the copied ones.
        for (table, column) in Self.numbered {
          try connection.run(
            """
            SELECT setval(pg_get_serial_sequence('\(table)', '\(column)'), max(\(column)))
            FROM \(table) HAVING max(\(column)) >= 1
            """)
        }
        try connection.run(PostgresRows.forgetIndexedTexts)
        rows.trimLog()
      }
    }
    followOwnWrite()
  }
}

extension CopyRows {
  fileprivate mutating func append(_ value: TableValue) throws(PostgresError) {
    switch value {
    case .null: try append(nil as Int64?)
    case .integer(let number): try append(number)
    case .text(let bytes), .bytes(let bytes): try append(bytes)
    }
  }
}
