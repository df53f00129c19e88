import Foundation
import Migrations
import Postgres
import PostgresTestSupport
import RowStore
import SQLiteStore
import Synchronization
import TestSupport
import Testing

@testable import PostgresStore

/// The migrations of PostgreSQL, and that its schema means what SQLite's does.
@Suite(.enabled(if: PostgresCluster.isPresent, "skipped: there is no PostgreSQL"))
struct PostgresSchemaTests {
  @Test func `a schema is made once, and by one of two at a time`() throws {
    let database = try TestDatabase()
    let applied = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      #expect(throws: Never.self) {
        let names = try PostgresSchema(database.address).migrate()
        applied.withLock { $0 += names }
      }
    }
    #expect(applied.withLock { $0 }.sorted() == Migration.postgres.map(\.name))
    let status = try PostgresSchema(database.address).status()
    #expect(status.allSatisfy { $0.appliedAt?.hasSuffix("Z") == true })
    try PostgresSchema(database.address).verify()
  }

  @Test func `a migration that fails leaves no trace, and the ones before it stay`() throws {
    let database = try TestDatabase()
    let bad = Migration(
      version: Migration.postgres.count + 1, name: "9999-bad",
      sql: "CREATE TABLE trace (n int); SELECT * FROM nowhere")
    let error = #expect(throws: PostgresStoreError.self) {
      try PostgresSchema(database.address, Migration.postgres + [bad]).migrate()
    }
    guard case .migrationFailed(name: "9999-bad", _)? = error else { throw error! }
    let connection = try database.connect()
    #expect(try connection.run("SELECT to_regclass('trace') IS NULL").boolean(0, 0))
    #expect(try connection.run("SELECT to_regclass('post') IS NULL").boolean(0, 0) == false)
    #expect(
      try PostgresSchema(database.address).status().map(\.name) == Migration.postgres.map(\.name))
  }

  @Test func `a database that is not this program's is refused by name`() throws {
    let database = try TestDatabase()
    #expect(throws: PostgresStoreError.missing(name: database.address.name)) {
      try PostgresStore(existing: database.address)
    }
    _ = try PostgresSchema(database.address).migrate()
    let connection = try database.connect()
    try connection.run("UPDATE schema_migration SET checksum = 'x'")
    #expect(throws: PostgresStoreError.migration(.edited(name: "0001-store"))) {
      try database.store()
    }
    try connection.run("INSERT INTO schema_migration VALUES (999, '0999-later', '', '')")
    try connection.run("DELETE FROM schema_migration WHERE version < 999")
    #expect(
      throws: PostgresStoreError.migration(
        .newer(version: 999, newestKnown: Migration.postgres.count))
    ) { try database.store() }
  }

  // MARK: Two dialects

  /// A column, as far as its meaning goes.
  private struct Column: Hashable, CustomStringConvertible {
    let name: String
    let kind: String
    let isNullable: Bool
    var description: String { "\(name) \(kind)\(isNullable ? "" : " NOT NULL")" }
  }

  @Test func `both dialects have the same tables, columns, keys and checks`() throws {
    let database = try TestDatabase()
    _ = try PostgresSchema(database.address).migrate()
    let connection = try database.connect()
    let folder = TemporaryFolder()
    let file = folder.file("feed.sqlite")
    try SQLiteStore(path: file).close()
    // What readers of one database follow it by is that database's own.
    let own: Set = ["transaction", "after_entry"]
    for table in StoreTable.all.map(\.name) + ["change_log", "schema_migration"] {
      let theirs = try sqlite(
        file,
        """
        SELECT name || '|' || type || '|' || ("notnull" OR pk > 0) FROM pragma_table_info('\(table)')
        """)
      let columns = Set(
        theirs.map { line -> Column in
          let parts = line.split(separator: "|")
          return Column(
            name: String(parts[0]), kind: String(parts[1]), isNullable: parts[2] == "0")
        }
        .filter { !own.contains($0.name) })
      #expect(!columns.isEmpty, "\(table)")
      let rows = try connection.run(
        """
        SELECT column_name::text, CASE data_type WHEN 'bigint' THEN 'INTEGER' WHEN 'text' THEN 'TEXT'
          WHEN 'bytea' THEN 'BLOB' ELSE data_type::text END, is_nullable = 'YES'
        FROM information_schema.columns WHERE table_schema = $1::text AND table_name = $2::text
        """, [.text(database.schema), .text(table)])
      let ours = Set(
        (0..<rows.count).map {
          Column(
            name: rows.text($0, 0)!, kind: rows.text($0, 1)!, isNullable: rows.boolean($0, 2))
        }
        .filter { !own.contains($0.name) })
      #expect(ours == columns, "\(table)")
      if let told = StoreTable.all.first(where: { $0.name == table }) {
        #expect(Set(told.columns.map(\.name)) == Set(columns.map(\.name)), "\(table)")
      }
      let references = try connection.run(
        """
        SELECT count(*) FROM pg_constraint WHERE contype = 'f'
          AND conrelid = $1::text::regclass
        """, [.text(table)])
      #expect(
        try sqlite(file, "SELECT count(*) FROM pragma_foreign_key_list('\(table)')")
          == ["\(references.integer(0, 0) ?? -1)"], "\(table)")
      let texts = try connection.run(
        """
        SELECT count(*) FROM pg_attribute JOIN pg_collation ON pg_collation.oid = attcollation
        WHERE attrelid = $1::text::regclass AND attnum > 0 AND collname <> 'C'
        """, [.text(table)])
      #expect(texts.integer(0, 0) == 0, "\(table): every text is compared by its bytes")
    }
  }

  /// What the `sqlite3` library says: through the store's own library, by a process of Python, which every machine of
  /// the tests has.
  private func sqlite(_ file: String, _ sql: String) throws -> [String] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "python3", "-c",
      "import sqlite3,sys\nfor r in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]): print(r[0])",
      file, sql,
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(
      decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text.split(separator: "\n").map(String.init)
  }

  /// What each column takes and refuses, on both sides.
  private static let rows: [(table: String, columns: String, values: String, isTaken: Bool)] = [
    ("post", "id, type", "'a', 'image'", true), ("post", "id, type", "'', 'image'", false),
    ("post", "id, type", "'b', 'other'", false),
    ("post", "id, type, title", "'c', 'ad', ''", false),
    ("post", "id, type, published_at", "'d', 'ad', 253402300800000000", false),
    ("post", "id, type, published_at", "'e', 'ad', -62167219200000000", true),
    ("post", "id, type, tags", "'f', 'ad', '[]'", false),
    ("post", "id, type, counters", "'g', 'ad', '{}'", false),
    ("post", "id, type, extra", "'h', 'ad', '{}'", false),
    ("post", "id, type, extra", "'i', 'ad', '[1]'", false),
    ("post", "id, type, extra", "'j', 'ad', 'nonsense'", false),
    ("post", "id, type, extra", "'k', 'ad', '{\"a\":\"\\u0000\"}'", true),
    ("author", "id", "''", false), ("author", "name", "'n'", true),
    ("author", "name", "'n'", false),
    ("author", "name, avatar", "'n', 'v'", true), ("author", "extra", "'{}'", false),
    ("feed", "name", "'f'", true), ("feed", "name", "'f'", false), ("feed", "name", "''", false),
    ("feed", "name, ranking", "'g', 0", false),
    ("feed", "name, ranking, oldest_ranking", "'g', 3, 4", false),
    ("ranking_floor", "\"only\", ranking", "2, 0", false),
    (
      "policy", "network, name, strategy, parameters", "'3g', 'x', 'plain', '{\"leading\":3}'",
      false
    ),
    (
      "policy", "feed, network, name, strategy, parameters",
      "'f', '3g', 'x', 'plain', '{\"leading\":3}'", true
    ),
    (
      "policy", "feed, network, name, strategy, parameters",
      "'f', 'lte', 'x', 'plain', '{\"leading\":300}'", false
    ),
    (
      "policy", "feed, network, name, strategy, parameters", "'f', 'lte', 'x', 'plain', '{}'", true
    ),
    (
      "policy", "feed, network, name, strategy, parameters",
      "'f', 'lte', 'x', 'plain', '{\"leading\":1.5}'", false
    ),
    (
      "policy", "feed, network, name, strategy, parameters",
      "'f', 'lte', 'x', 'plain', '{\"leading\":1,\"leading\":2}'", false
    ),
    (
      "policy", "feed, network, name, strategy, parameters", "'f', 'lte', 'x', 'nothing', '{}'",
      false
    ),
    (
      "policy", "feed, network, name, strategy, parameters, image_weight",
      "'f', 'lte', 'x', 'standard', '{\"leading\":3}', 1001", false
    ),
    (
      "network_profile", "name, title, downlink_kbps, uplink_kbps, round_trip_ms, is_default",
      "'n', 't', 1, 1, 1, 1", false
    ),
    (
      "network_profile", "name, title, downlink_kbps, uplink_kbps, round_trip_ms",
      "'n', 't', 1, 1, 1", true
    ),
    ("idempotency_key", "key, fingerprint, created_at", "'k', '', 0", true),
    ("idempotency_key", "key, fingerprint, created_at", "'k', '', 0", false),
    ("media_truth", "version", "'v'", true), ("media_truth", "version", "'v'", false),
    ("media_truth", "version", "''", false), ("change_log", "kind", "'other'", false),
  ]

  @Test func `both dialects take and refuse the same`() throws {
    let database = try TestDatabase()
    _ = try PostgresSchema(database.address).migrate()
    let connection = try database.connect()
    let folder = TemporaryFolder()
    let file = folder.file("feed.sqlite")
    try SQLiteStore(path: file).close()
    for row in Self.rows {
      let sql = "INSERT INTO \(row.table) (\(row.columns)) VALUES (\(row.values))"
      let ours = (try? connection.runOnce(sql)) != nil
      let process = try sqlite(file, sql, isChange: true)
      #expect(ours == row.isTaken, "PostgreSQL: \(sql)")
      #expect(process == row.isTaken, "SQLite: \(sql)")
    }
  }

  private func sqlite(_ file: String, _ sql: String, isChange: Bool) throws -> Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "python3", "-c",
      """
      import sqlite3,sys
      c=sqlite3.connect(sys.argv[1]); c.execute('PRAGMA foreign_keys = ON')
      try: c.execute(sys.argv[2]); c.commit()
      except sqlite3.Error: sys.exit(1)
      """, file, sql,
    ]
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus == 0
  }
}
