import Catalog
import Feed
import Postgres
import Reports
import RowStore

/// What clients report.
extension PostgresStore: ReportStore {
  /// See `ReportStore`.
  ///
  /// - Throws: `PostgresStoreError`, `PackedError`.
  package func add(
    _ parts: [CountedPart], at hour: Int, after batch: Int64, forgettingBefore oldest: Int64,
    cellsPerHour: Int
  ) throws -> [ReportMemory.Batch] {
    try withStoreErrors(name) {
      try writer.transaction { rows in
        try ReportTable(rows.connection).add(
          parts, at: hour, after: batch, forgettingBefore: oldest, cellsPerHour: cellsPerHour)
      }
    }
  }

  /// See `ReportStore`.
  ///
  /// - Throws: `PostgresStoreError`.
  package func reportBatches() throws -> [ReportMemory.Batch] {
    try read { try ReportTable($0).batches(after: 0) }
  }

  /// See `ReportStore`.
  ///
  /// - Throws: `PostgresStoreError`, `PackedError`.
  package func readReportCells(
    since hour: Int, _ body: (ReportCellKey, ReportCell) throws -> Void
  ) throws {
    // An hour at a time: libpq holds an answer as a whole. A read may run again, the body may not.
    var next = hour
    while true {
      let cells = try read { try ReportTable($0).cells(atOrAfter: next) }
      guard let last = cells.last else { return }
      for (key, cell) in cells {
        if let cell { try body(key, cell) }
      }
      next = last.key.hour + 1
    }
  }

  /// See `ReportStore`.
  ///
  /// - Throws: `PostgresStoreError`.
  package func dropReports(before hour: Int, fingerprintsBefore other: Int) throws {
    try withStoreErrors(name) {
      try writer.transaction { rows in
        try ReportTable(rows.connection).drop(before: hour, fingerprintsBefore: other)
      }
    }
  }
}

/// The tables of reports.
struct ReportTable: ReportRows {
  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  private static let isOfKey = """
    hour = $1::int8 AND feed = $2::text AND policy = $3::text AND arm = $4::text
      AND network = $5::text
    """

  private func values(_ key: ReportCellKey) -> [Parameter] {
    [.integer(key.hour), .text(key.feed), .text(key.policy), .text(key.arm), .text(key.network)]
  }

  func batches(after number: Int64) throws -> [ReportMemory.Batch] {
    let rows = try connection.run(
      """
      SELECT batch_id, hour, fingerprints FROM report_batch WHERE batch_id > $1::int8
      ORDER BY batch_id
      """, [.integer(number)])
    return try (0..<rows.count).map { row in
      let values = RowValues(rows: rows, row: row)
      return ReportMemory.Batch(
        number: try values.integer(0), hour: Int(try values.integer(1)),
        fingerprints: PackedReport.fingerprints(rows.bytes(row, 2).map { Array($0) } ?? []))
    }
  }

  func figures(_ key: ReportCellKey) throws -> [UInt8]? {
    let rows = try connection.run(
      "SELECT figures FROM report_cell WHERE \(Self.isOfKey)", values(key))
    return rows.count == 0 ? nil : rows.bytes(0, 0).map { Array($0) } ?? []
  }

  func put(_ figures: [UInt8], at key: ReportCellKey) throws {
    try connection.run(
      """
      INSERT INTO report_cell (hour, feed, policy, arm, network, figures)
      VALUES ($1::int8, $2::text, $3::text, $4::text, $5::text, $6::bytea)
      ON CONFLICT (hour, feed, policy, arm, network) DO UPDATE SET figures = excluded.figures
      """, values(key) + [.bytes(figures)])
  }

  func deleteBatches(before number: Int64) throws {
    try connection.run("DELETE FROM report_batch WHERE batch_id < $1::int8", [.integer(number)])
  }

  func cellCount(hour: Int) throws -> Int {
    let rows = try connection.run(
      "SELECT count(*) FROM report_cell WHERE hour = $1::int8", [.integer(hour)])
    return Int(rows.integer(0, 0) ?? 0)
  }

  func add(_ batch: ReportMemory.Batch, packed: [UInt8]) throws {
    try connection.run(
      """
      INSERT INTO report_batch (batch_id, hour, fingerprints)
      VALUES ($1::int8, $2::int8, $3::bytea)
      """, [.integer(batch.number), .integer(batch.hour), .bytes(packed)])
  }

  /// The cells of the first hour from this one on that has any; nil in place of those that are damaged.
  func cells(atOrAfter hour: Int) throws -> [(key: ReportCellKey, cell: ReportCell?)] {
    let rows = try connection.run(
      """
      SELECT hour, feed, policy, arm, network, figures FROM report_cell
      WHERE hour = (SELECT min(hour) FROM report_cell WHERE hour >= $1::int8)
      ORDER BY feed, policy, arm, network
      """, [.integer(hour)])
    return try (0..<rows.count).map { row in
      let values = RowValues(rows: rows, row: row)
      let key = ReportCellKey(
        hour: Int(try values.integer(0)), feed: rows.text(row, 1) ?? "",
        policy: rows.text(row, 2) ?? "", arm: rows.text(row, 3) ?? "",
        network: rows.text(row, 4) ?? "")
      return (key, try PackedReport.readable(rows.bytes(row, 5).map { Array($0) } ?? []))
    }
  }

  func drop(before hour: Int, fingerprintsBefore other: Int) throws {
    try connection.run("DELETE FROM report_cell WHERE hour < $1::int8", [.integer(hour)])
    try connection.run(
      """
      DELETE FROM report_batch
      WHERE hour < $1::int8 AND batch_id < (SELECT max(batch_id) FROM report_batch)
      """, [.integer(other)])
  }
}
