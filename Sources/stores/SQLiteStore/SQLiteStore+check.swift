import GRDB
import RowStore

extension SQLiteStore {
  /// Checks the file (https://sqlite.org/pragma.html#pragma_integrity_check), the foreign keys, and the
  /// invariants that SQL cannot declare. Each check returns at most its first twenty findings.
  ///
  /// - Returns: the findings; empty if the database is sound.
  /// - Throws: `StoreError`.
  package func check() throws -> [CheckFinding] {
    try withStoreErrors(path: path) {
      try pool.read { try Self.integrityFindings($0) + Self.invariantFindings($0) }
    }
  }

  /// Returns the findings of SQLite's own checks, which work with any schema.
  static func integrityFindings(_ database: Database) throws -> [CheckFinding] {
    var findings: [CheckFinding] = []
    let integrity = try String.fetchAll(database, sql: "PRAGMA integrity_check(20)")
    findings += integrity.filter { $0 != "ok" }.map {
      CheckFinding(severity: .error, text: "integrity: \($0)")
    }
    for row in try Row.fetchAll(database, sql: "PRAGMA foreign_key_check").prefix(20) {
      let table: String = row[0]
      let parent: String = row[2]
      let number = (row[1] as Int64?).map(String.init) ?? "?"
      findings.append(
        CheckFinding(
          severity: .error,
          text: "foreign key: row \(number) of \(table) has no row of \(parent)"))
    }
    return findings
  }

  /// Returns the broken invariants of a database whose schema is up to date.
  static func invariantFindings(_ database: Database) throws -> [CheckFinding] {
    let areIndexesMissing = try LateIndexes.areMissing(database)
    let broken = try invariants.flatMap { invariant in
      // Without the index, this would read all posts for each author.
      if areIndexesMissing, invariant.sql == StoreInvariant.everyAuthorHasAPost.sql {
        return [CheckFinding]()
      }
      return try invariant.findings { try String.fetchAll(database, sql: $0) }
    }
    return try PackedColumn.all.reduce(into: broken) { findings, column in
      findings += try database.findings(in: column)
    }
  }

  static let invariants: [StoreInvariant] =
    [
      StoreInvariant(
        """
        a first load is unfinished; if no seed is running, the next server or seed completes it
        """,
        severity: .note, sql: LateIndexes.missing),
      .entryRepeatsPost(isOther: "IS NOT"),
    ] + StoreInvariant.common + [
      StoreInvariant(
        "tags and counters are JSON",
        sql: """
          SELECT 'post ' || id FROM post
          WHERE (tags IS NOT NULL AND (NOT json_valid(tags) OR json_type(tags) <> 'array'))
            OR (counters IS NOT NULL
              AND (NOT json_valid(counters) OR json_type(counters) <> 'object'))
          """),
      StoreInvariant(
        "counters are whole numbers of 64 bits",
        sql: """
          SELECT 'post ' || post.id FROM post, json_each(post.counters)
          WHERE json_valid(counters) AND typeof(json_each.value) <> 'integer'
          """),
      StoreInvariant(
        "an idempotency key's answer is JSON",
        sql: """
          SELECT 'key ' || key FROM idempotency_key
          WHERE counters IS NOT NULL
            AND (NOT json_valid(counters) OR json_type(counters) <> 'object')
          """),
      // CROSS JOIN keeps this order; otherwise all pending places are read for each feed.
      .rankingIsFinished(
        places: """
          SELECT 1 FROM ranking_run CROSS JOIN pending_place
            ON pending_place.run_id = ranking_run.run_id AND pending_place.feed_id = feed.feed_id
          """),
    ]
}

extension Database {
  /// Returns the first findings in a column, at most `StoreInvariant.findingLimit`.
  fileprivate func findings(in column: PackedColumn) throws -> [CheckFinding] {
    let rows = RowReader(try cachedStatement(sql: column.sql))
    defer { rows.reset() }
    var findings: [CheckFinding] = []
    while findings.count < StoreInvariant.findingLimit, try rows.next() {
      if let finding = column.finding(rows.string(0), rows.bytes(1)) { findings.append(finding) }
    }
    return findings
  }
}
