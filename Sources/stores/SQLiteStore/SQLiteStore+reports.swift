import Catalog
import Feed
import Foundation
import GRDB
import Reports
import RowStore

/// What clients report.
extension SQLiteStore: ReportStore {
  /// See `ReportStore`.
  ///
  /// - Throws: `StoreError`, `PackedError`.
  package func add(
    _ parts: [CountedPart], at hour: Int, after batch: Int64, forgettingBefore oldest: Int64,
    cellsPerHour: Int
  ) throws -> [ReportMemory.Batch] {
    try withStoreErrors(path: path) {
      try pool.write { database in
        try ReportTable(database).add(
          parts, at: hour, after: batch, forgettingBefore: oldest, cellsPerHour: cellsPerHour)
      }
    }
  }

  /// See `ReportStore`.
  ///
  /// - Throws: `StoreError`.
  package func reportBatches() throws -> [ReportMemory.Batch] {
    try withStoreErrors(path: path) {
      try readers.read { database, _ in try ReportTable(database).batches(after: 0) }
    }
  }

  /// See `ReportStore`.
  ///
  /// - Throws: `StoreError`, `PackedError`.
  package func readReportCells(
    since hour: Int, _ body: (ReportCellKey, ReportCell) throws -> Void
  ) throws {
    try withStoreErrors(path: path) {
      try readers.read { database, _ in
        try ReportTable(database).readCells(since: hour, body)
      }
    }
  }

  /// See `ReportStore`.
  ///
  /// - Throws: `StoreError`.
  package func dropReports(before hour: Int, fingerprintsBefore other: Int) throws {
    try withStoreErrors(path: path) {
      try pool.write { database in
        try ReportTable(database).drop(before: hour, fingerprintsBefore: other)
      }
    }
  }
}

/// The tables of reports.
struct ReportTable: ReportRows {
  private let database: Database

  init(_ database: Database) { self.database = database }

  static let batchesAfter = """
    SELECT batch_id, hour, fingerprints FROM report_batch WHERE batch_id > ? ORDER BY batch_id
    """
  static let figuresOfCell = """
    SELECT figures FROM report_cell
    WHERE hour = ? AND feed = ? AND policy = ? AND arm = ? AND network = ?
    """
  static let putCell = """
    INSERT INTO report_cell (hour, feed, policy, arm, network, figures) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (hour, feed, policy, arm, network) DO UPDATE SET figures = excluded.figures
    """
  static let countCells = "SELECT count(*) FROM report_cell WHERE hour = ?"
  static let cellsSince = """
    SELECT hour, feed, policy, arm, network, figures FROM report_cell WHERE hour >= ?
    ORDER BY hour, feed, policy, arm, network
    """

  func batches(after number: Int64) throws -> [ReportMemory.Batch] {
    let rows = RowReader(try database.cachedStatement(sql: Self.batchesAfter))
    defer { rows.reset() }
    try rows.bind(number, at: 1)
    var batches: [ReportMemory.Batch] = []
    while try rows.next() {
      batches.append(
        ReportMemory.Batch(
          number: rows.integer(0), hour: Int(rows.integer(1)),
          fingerprints: PackedReport.fingerprints(rows.bytes(2).map { Array($0) } ?? [])))
    }
    return batches
  }

  func figures(_ key: ReportCellKey) throws -> [UInt8]? {
    let rows = RowReader(try database.cachedStatement(sql: Self.figuresOfCell))
    defer { rows.reset() }
    try rows.bind(Int64(key.hour), at: 1)
    for (index, name) in [key.feed, key.policy, key.arm, key.network].enumerated() {
      try rows.bind(name, at: index + 2)
    }
    return try rows.next() ? rows.bytes(0).map { Array($0) } ?? [] : nil
  }

  func put(_ figures: [UInt8], at key: ReportCellKey) throws {
    try database.cachedStatement(sql: Self.putCell).execute(
      arguments: [key.hour, key.feed, key.policy, key.arm, key.network, Data(figures)])
  }

  func deleteBatches(before number: Int64) throws {
    try database.execute(
      sql: "DELETE FROM report_batch WHERE batch_id < ?", arguments: [number])
  }

  func cellCount(hour: Int) throws -> Int {
    try Int.fetchOne(database.cachedStatement(sql: Self.countCells), arguments: [hour]) ?? 0
  }

  func add(_ batch: ReportMemory.Batch, packed: [UInt8]) throws {
    try database.execute(
      sql: "INSERT INTO report_batch (batch_id, hour, fingerprints) VALUES (?, ?, ?)",
      arguments: [batch.number, batch.hour, Data(packed)])
  }

  func readCells(
    since hour: Int, _ body: (ReportCellKey, ReportCell) throws -> Void
  ) throws {
    let rows = RowReader(try database.cachedStatement(sql: Self.cellsSince))
    defer { rows.reset() }
    try rows.bind(Int64(hour), at: 1)
    while try rows.next() {
      let packed = rows.bytes(5).map { Array($0) } ?? []
      guard let cell = try PackedReport.readable(packed) else { continue }
      let key = ReportCellKey(
        hour: Int(rows.integer(0)), feed: rows.string(1), policy: rows.string(2),
        arm: rows.string(3), network: rows.string(4))
      try body(key, cell)
    }
  }

  func drop(before hour: Int, fingerprintsBefore other: Int) throws {
    try database.execute(sql: "DELETE FROM report_cell WHERE hour < ?", arguments: [hour])
    try database.execute(
      sql: """
        DELETE FROM report_batch
        WHERE hour < ? AND batch_id < (SELECT max(batch_id) FROM report_batch)
        """, arguments: [other])
  }
}
