import Postgres
import RowStore

extension PostgresStore {
  /// Checks the invariants that SQL cannot declare. Each says the first twenty of its findings. Whether the server's
  /// files are whole, `pg_amcheck` and its check sums say.
  ///
  /// - Returns: what was found; nothing where all is well.
  /// - Throws: `PostgresStoreError`.
  public func check() throws -> [CheckFinding] {
    try withStoreErrors(name) {
      // What is asked goes over all rows.
      let connection = try Connection(
        address, .init(statementMilliseconds: 0, planning: .asUsual))
      return try connection.transaction(.reading) {
        let broken = try Self.invariants.flatMap { invariant in
          try invariant.findings { sql in
            let rows = try connection.run(sql)
            return (0..<rows.count).compactMap { rows.text($0, 0) }
          }
        }
        return try PackedColumn.all.reduce(into: broken) { findings, column in
          findings += try connection.findings(in: column)
        }
      }
    }
  }

  static let invariants: [StoreInvariant] =
    [.entryRepeatsPost(isOther: "IS DISTINCT FROM")] + StoreInvariant.common + [
      .rankingIsFinished(
        places: "SELECT 1 FROM pending_place WHERE pending_place.feed_id = feed.feed_id")
    ]
}

extension Connection {
  /// The first findings in a column, within a transaction.
  fileprivate func findings(in column: PackedColumn) throws -> [CheckFinding] {
    try run(script: "DECLARE packed NO SCROLL CURSOR FOR \(column.sql)")
    var findings: [CheckFinding] = []
    var isMore = true
    while isMore, findings.count < StoreInvariant.findingLimit {
      let rows = try run("FETCH 1000 FROM packed")
      findings += (0..<rows.count).lazy
        .compactMap { column.finding(rows.text($0, 0) ?? "", rows.bytes($0, 1)) }
        .prefix(StoreInvariant.findingLimit - findings.count)
      isMore = rows.count == 1_000
    }
    try run(script: "CLOSE packed")
    return findings
  }
}
