import Catalog
import Feed
import Postgres
import Reports
import RowStore

/// The reports of clients.
extension PostgresStore: ReportStore {
  /// See `ReportStore`.
  ///
  /// - Throws: `PostgresStoreError`, `PackedError`.
  package func add(
    _ parts: [CountedPart], at hour: Int, after batch: Int64, forgettingBefore oldest: Int64,
    cellsPerHour: Int, of limits: WatchLimits
  ) throws -> [ReportMemory.Batch] {
    try withStoreErrors(name) {
      try writer.transaction { rows in
        try ReportTable(rows.connection).add(
          parts, at: hour, after: batch, forgettingBefore: oldest, cellsPerHour: cellsPerHour,
          of: limits)
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
    // One hour at a time: libpq holds a result as a whole. A read may run again, the body may not.
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
  package func dropReports(
    before hour: Int, fingerprintsBefore other: Int, of limits: WatchLimits
  ) throws {
    try writeReports { try $0.drop(before: hour, fingerprintsBefore: other, of: limits) }
    followOwnWrite()
  }

  /// See `ReportStore`.
  ///
  /// - Throws: `PostgresStoreError`, `PackedError`.
  package func watchedItems(after id: String?, limit: Int) throws -> [WatchedItem] {
    try read { try ReportTable($0).watchedItems(after: id, limit: limit) }
  }

  /// See `ReportStore`.
  ///
  /// - Throws: `PostgresStoreError`, `PackedError`.
  package func watchedClasses() throws -> [ClipClass: WatchRecord] {
    try read { try ReportTable($0).watchedClasses() }
  }

  /// See `ReportStore`.
  ///
  /// - Throws: `PostgresStoreError`.
  package func publish(_ curves: [(item: String, survival: [WatchPoint])]) throws {
    try writeReports { try $0.publish(curves) }
    followOwnWrite()
  }

  /// See `ReportStore`.
  ///
  /// - Throws: `PostgresStoreError`.
  package func promises(_ keys: [PromiseKey]) throws -> [PromiseRecord?] {
    try read { connection in try keys.map(ReportTable(connection).promise) }
  }

  /// See `ReportStore`.
  ///
  /// - Throws: `PostgresStoreError`.
  package func promises(_ state: PromiseRecord.State, limit: Int) throws -> [PromiseKey] {
    try read { try ReportTable($0).promises(state, limit: limit) }
  }

  /// See `ReportStore`.
  ///
  /// - Throws: `PostgresStoreError`.
  package func worstPromises(
    leastViews: Int, limit: Int
  ) throws -> [(key: PromiseKey, record: PromiseRecord)] {
    try read { try ReportTable($0).worstPromises(leastViews: leastViews, limit: limit) }
  }

  /// See `ReportStore`.
  ///
  /// - Throws: `PostgresStoreError`.
  package func note(_ state: PromiseRecord.State, of keys: [PromiseKey]) throws {
    try writeReports { table in for key in keys { try table.note(state, of: key) } }
  }

  private func writeReports(_ body: (ReportTable) throws -> Void) throws {
    try withStoreErrors(name) {
      try writer.transaction { rows in
        try body(ReportTable(rows.connection))
        rows.trimLog()
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

  /// Returns the cells of the first hour, from this one on, that has any; nil in place of damaged ones.
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

  func drop(before hour: Int, fingerprintsBefore other: Int, of limits: WatchLimits) throws {
    for table in ["report_cell", "report_watch", "report_promise"] {
      try connection.run("DELETE FROM \(table) WHERE hour < $1::int8", [.integer(hour)])
    }
    try connection.run(
      ReportText.dropLightestItems("$1::int8"),
      [.integer(ReportText.excess(try watchedCount(), limits.items))])
    try connection.run(
      ReportText.dropLightestPromises("$1::int8"),
      [.integer(ReportText.excess(try promiseCount(), limits.promises))])
    try connection.run(ReportText.withdrawCurves, [])
    try connection.run(
      """
      DELETE FROM report_batch
      WHERE hour < $1::int8 AND batch_id < (SELECT max(batch_id) FROM report_batch)
      """, [.integer(other)])
  }
}

/// How clips are watched, and the ledger of promises.
extension ReportTable {
  func watched(_ place: WatchPlace) throws -> (hour: Int, figures: [UInt8])? {
    let rows = try connection.run(
      "SELECT hour, figures FROM report_watch WHERE kind = $1::text AND name = $2::text",
      [.text(place.kind), .text(place.name)])
    guard rows.count > 0 else { return nil }
    return (
      Int(try RowValues(rows: rows, row: 0).integer(0)), rows.bytes(0, 1).map { Array($0) } ?? []
    )
  }

  func put(_ figures: [UInt8], views: Int, hour: Int, at place: WatchPlace) throws {
    try connection.run(
      """
      INSERT INTO report_watch (kind, name, hour, views, figures)
      VALUES ($1::text, $2::text, $3::int8, $4::int8, $5::bytea)
      ON CONFLICT (kind, name) DO UPDATE
      SET hour = excluded.hour, views = excluded.views, figures = excluded.figures
      """,
      [
        .text(place.kind), .text(place.name), .integer(hour), .integer(views), .bytes(figures),
      ])
  }

  private func count(_ sql: String) throws -> Int {
    Int(try connection.run(sql, []).integer(0, 0) ?? 0)
  }

  func watchedCount() throws -> Int { try count(ReportText.countItems) }

  func promiseCount() throws -> Int { try count(ReportText.countPromises) }

  func watchedItems(after id: String?, limit: Int) throws -> [WatchedItem] {
    let rows = try connection.run(
      """
      SELECT name, hour, figures, post_id, survival FROM report_watch
      LEFT JOIN post ON post.id = name WHERE report_watch.kind = 'item' AND name > $1::text
      ORDER BY name LIMIT $2::int8
      """, [.text(id ?? ""), .integer(limit)])
    return try rows.values.map { row in
      // A damaged record is returned with nothing counted, so that those after it are found.
      let record = try PackedReport.told(
        row.text(2).map { Array($0) } ?? [], hour: Int(try row.integer(1)))
      return WatchedItem(
        id: try row.name(0), record: record,
        published: row.optional(3).map { _ in ReportText.points(row.string(4)) })
    }
  }

  func watchedClasses() throws -> [ClipClass: WatchRecord] {
    var classes: [ClipClass: WatchRecord] = [:]
    for row in try connection.run(ReportText.classes, []).values {
      guard case .clips(let clips)? = WatchPlace(kind: try row.name(0), name: try row.name(1))
      else { continue }
      classes[clips] = try PackedReport.readable(
        row.text(3).map { Array($0) } ?? [], hour: Int(try row.integer(2)))
    }
    return classes
  }

  func publish(_ curves: [(item: String, survival: [WatchPoint])]) throws {
    for (item, survival) in curves {
      try connection.run(
        "UPDATE post SET survival = $1::text WHERE id = $2::text",
        [.text(ReportText.survival(survival)), .text(item)])
    }
  }

  private func values(_ key: PromiseKey) -> [Parameter] {
    [.text(key.url), .text(key.version), .text(key.network)]
  }

  func promise(_ key: PromiseKey) throws -> PromiseRecord? {
    let rows = try connection.run(
      """
      SELECT \(ReportText.promise) FROM report_promise
      WHERE url = $1::text AND version = $2::text AND network = $3::text
      """, values(key))
    return try rows.values.map { try Self.promise($0, from: 0) }.first
  }

  private static func promise(_ row: RowValues, from first: Int) throws -> PromiseRecord {
    PromiseRecord(try (0..<6).map { Int(try row.integer(first + $0)) })
  }

  func put(_ record: PromiseRecord, at key: PromiseKey) throws {
    try connection.run(
      """
      INSERT INTO report_promise
        (url, version, network, hour, kept, late, recent_kept, recent_late, state)
      VALUES ($1::text, $2::text, $3::text, $4::int8, $5::int8, $6::int8, $7::int8, $8::int8,
        $9::int8)
      ON CONFLICT (url, version, network) DO UPDATE SET hour = excluded.hour,
        kept = excluded.kept, late = excluded.late, recent_kept = excluded.recent_kept,
        recent_late = excluded.recent_late, state = excluded.state
      """, values(key) + record.columns.map { .integer($0) })
  }

  func promises(_ state: PromiseRecord.State, limit: Int) throws -> [PromiseKey] {
    try connection.run(
      """
      SELECT url, version, network FROM report_promise WHERE state = $1::int8 AND state <> 0
      ORDER BY url, version, network LIMIT $2::int8
      """, [.integer(state.rawValue), .integer(limit)]
    ).values.map {
      PromiseKey(url: try $0.name(0), version: try $0.name(1), network: try $0.name(2))
    }
  }

  func worstPromises(
    leastViews: Int, limit: Int
  ) throws -> [(key: PromiseKey, record: PromiseRecord)] {
    try connection.run(
      """
      SELECT url, version, network, \(ReportText.promise) FROM report_promise
      WHERE \(ReportText.isTold("$1::int8")) ORDER BY \(ReportText.worstFirst) LIMIT $2::int8
      """, [.integer(leastViews), .integer(limit)]
    ).values.map { row in
      let key = PromiseKey(
        url: try row.name(0), version: try row.name(1), network: try row.name(2))
      return (key, try Self.promise(row, from: 3))
    }
  }

  func note(_ state: PromiseRecord.State, of key: PromiseKey) throws {
    guard var record = try promise(key) else { return }
    record.become(state)
    try put(record, at: key)
  }
}
