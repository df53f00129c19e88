import Catalog
import Feed
import Foundation
import GRDB
import Reports
import RowStore

/// The reports of clients.
extension SQLiteStore: ReportStore {
  /// See `ReportStore`.
  ///
  /// - Throws: `StoreError`, `PackedError`.
  package func add(
    _ parts: [CountedPart], at hour: Int, after batch: Int64, forgettingBefore oldest: Int64,
    cellsPerHour: Int, of limits: WatchLimits
  ) throws -> [ReportMemory.Batch] {
    try withStoreErrors(path: path) {
      try pool.write { database in
        try ReportTable(database).add(
          parts, at: hour, after: batch, forgettingBefore: oldest, cellsPerHour: cellsPerHour,
          of: limits)
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
  package func dropReports(
    before hour: Int, fingerprintsBefore other: Int, of limits: WatchLimits
  ) throws {
    try withStoreErrors(path: path) {
      try pool.write { database in
        try ReportTable(database).drop(before: hour, fingerprintsBefore: other, of: limits)
        try ChangeLog(database: database).trim()
      }
    }
    followOwnWrite()
  }

  /// See `ReportStore`.
  ///
  /// - Throws: `StoreError`, `PackedError`.
  package func watchedItems(after id: String?, limit: Int) throws -> [WatchedItem] {
    try readReports { try $0.watchedItems(after: id, limit: limit) }
  }

  /// See `ReportStore`.
  ///
  /// - Throws: `StoreError`, `PackedError`.
  package func watchedClasses() throws -> [ClipClass: WatchRecord] {
    try readReports { try $0.watchedClasses() }
  }

  /// See `ReportStore`.
  ///
  /// - Throws: `StoreError`.
  package func publish(_ curves: [(item: String, survival: [WatchPoint])]) throws {
    try withStoreErrors(path: path) {
      try pool.write { database in
        try ReportTable(database).publish(curves)
        try ChangeLog(database: database).trim()
      }
    }
    followOwnWrite()
  }

  /// See `ReportStore`.
  ///
  /// - Throws: `StoreError`.
  package func promises(_ keys: [PromiseKey]) throws -> [PromiseRecord?] {
    try readReports { table in try keys.map(table.promise) }
  }

  /// See `ReportStore`.
  ///
  /// - Throws: `StoreError`.
  package func promises(_ state: PromiseRecord.State, limit: Int) throws -> [PromiseKey] {
    try readReports { try $0.promises(state, limit: limit) }
  }

  /// See `ReportStore`.
  ///
  /// - Throws: `StoreError`.
  package func worstPromises(
    leastViews: Int, limit: Int
  ) throws -> [(key: PromiseKey, record: PromiseRecord)] {
    try readReports { try $0.worstPromises(leastViews: leastViews, limit: limit) }
  }

  /// See `ReportStore`.
  ///
  /// - Throws: `StoreError`.
  package func note(_ state: PromiseRecord.State, of keys: [PromiseKey]) throws {
    try withStoreErrors(path: path) {
      try pool.write { database in
        for key in keys { try ReportTable(database).note(state, of: key) }
      }
    }
  }

  private func readReports<Result>(_ body: (ReportTable) throws -> Result) throws -> Result {
    try withStoreErrors(path: path) {
      try readers.read { database, _ in try body(ReportTable(database)) }
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

  func drop(before hour: Int, fingerprintsBefore other: Int, of limits: WatchLimits) throws {
    for table in ["report_cell", "report_watch", "report_promise"] {
      try database.execute(sql: "DELETE FROM \(table) WHERE hour < ?", arguments: [hour])
    }
    try database.execute(
      sql: ReportText.dropLightestItems("?"),
      arguments: [ReportText.excess(try watchedCount(), limits.items)])
    try database.execute(
      sql: ReportText.dropLightestPromises("?"),
      arguments: [ReportText.excess(try promiseCount(), limits.promises)])
    try database.execute(sql: ReportText.withdrawCurves)
    try database.execute(
      sql: """
        DELETE FROM report_batch
        WHERE hour < ? AND batch_id < (SELECT max(batch_id) FROM report_batch)
        """, arguments: [other])
  }
}

/// How clips are watched, and the ledger of promises.
extension ReportTable {
  static let watched = "SELECT hour, figures FROM report_watch WHERE kind = ? AND name = ?"
  static let putWatched = """
    INSERT INTO report_watch (kind, name, hour, views, figures) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (kind, name) DO UPDATE
    SET hour = excluded.hour, views = excluded.views, figures = excluded.figures
    """
  static let watchedItems = """
    SELECT name, hour, figures, post.post_id, survival FROM report_watch
    LEFT JOIN post ON post.id = name WHERE kind = 'item' AND name > ? ORDER BY name LIMIT ?
    """
  static let promise = """
    SELECT \(ReportText.promise) FROM report_promise WHERE url = ? AND version = ? AND network = ?
    """
  static let putPromise = """
    INSERT INTO report_promise
      (url, version, network, hour, kept, late, recent_kept, recent_late, state)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (url, version, network) DO UPDATE SET hour = excluded.hour, kept = excluded.kept,
      late = excluded.late, recent_kept = excluded.recent_kept,
      recent_late = excluded.recent_late, state = excluded.state
    """
  static let worst = """
    SELECT url, version, network, \(ReportText.promise) FROM report_promise
    WHERE \(ReportText.isTold("?")) ORDER BY \(ReportText.worstFirst) LIMIT ?
    """

  func watched(_ place: WatchPlace) throws -> (hour: Int, figures: [UInt8])? {
    let rows = RowReader(try database.cachedStatement(sql: Self.watched))
    defer { rows.reset() }
    try rows.bind(place.kind, at: 1)
    try rows.bind(place.name, at: 2)
    guard try rows.next() else { return nil }
    return (Int(rows.integer(0)), rows.bytes(1).map { Array($0) } ?? [])
  }

  func put(_ figures: [UInt8], views: Int, hour: Int, at place: WatchPlace) throws {
    try database.cachedStatement(sql: Self.putWatched).execute(
      arguments: [place.kind, place.name, hour, views, Data(figures)])
  }

  func watchedCount() throws -> Int {
    try Int.fetchOne(database.cachedStatement(sql: ReportText.countItems)) ?? 0
  }

  func watchedItems(after id: String?, limit: Int) throws -> [WatchedItem] {
    let rows = RowReader(try database.cachedStatement(sql: Self.watchedItems))
    defer { rows.reset() }
    try rows.bind(id ?? "", at: 1)
    try rows.bind(Int64(limit), at: 2)
    var items: [WatchedItem] = []
    while try rows.next() {
      let figures = rows.bytes(2).map { Array($0) } ?? []
      // A damaged record is returned with nothing counted, so that those after it are found.
      let record = try PackedReport.told(figures, hour: Int(rows.integer(1)))
      let isThere = rows.optionalInteger(3) != nil
      items.append(
        WatchedItem(
          id: rows.string(0), record: record,
          published: isThere ? ReportText.points(rows.string(4)) : nil))
    }
    return items
  }

  func watchedClasses() throws -> [ClipClass: WatchRecord] {
    let rows = RowReader(try database.cachedStatement(sql: ReportText.classes))
    defer { rows.reset() }
    var classes: [ClipClass: WatchRecord] = [:]
    while try rows.next() {
      guard case .clips(let clips)? = WatchPlace(kind: rows.string(0), name: rows.string(1)) else {
        continue
      }
      let figures = rows.bytes(3).map { Array($0) } ?? []
      classes[clips] = try PackedReport.readable(figures, hour: Int(rows.integer(2)))
    }
    return classes
  }

  func publish(_ curves: [(item: String, survival: [WatchPoint])]) throws {
    let statement = try database.cachedStatement(sql: "UPDATE post SET survival = ? WHERE id = ?")
    for (item, survival) in curves {
      try statement.execute(arguments: [ReportText.survival(survival), item])
    }
  }

  func promise(_ key: PromiseKey) throws -> PromiseRecord? {
    let rows = RowReader(try database.cachedStatement(sql: Self.promise))
    defer { rows.reset() }
    for (index, text) in [key.url, key.version, key.network].enumerated() {
      try rows.bind(text, at: index + 1)
    }
    return try rows.next() ? Self.promise(rows, from: 0) : nil
  }

  private static func promise(_ rows: RowReader, from first: Int32) -> PromiseRecord {
    PromiseRecord((0..<6).map { Int(rows.integer(first + $0)) })
  }

  func put(_ record: PromiseRecord, at key: PromiseKey) throws {
    let values = record.columns
    try database.cachedStatement(sql: Self.putPromise).execute(
      arguments: [
        key.url, key.version, key.network, values[0], values[1], values[2], values[3], values[4],
        values[5],
      ])
  }

  func promiseCount() throws -> Int {
    try Int.fetchOne(database.cachedStatement(sql: ReportText.countPromises)) ?? 0
  }

  func promises(_ state: PromiseRecord.State, limit: Int) throws -> [PromiseKey] {
    let statement = try database.cachedStatement(
      sql: """
        SELECT url, version, network FROM report_promise WHERE state = ? AND state <> 0
        ORDER BY url, version, network LIMIT ?
        """)
    return try Row.fetchAll(statement, arguments: [state.rawValue, limit]).map {
      PromiseKey(url: $0[0], version: $0[1], network: $0[2])
    }
  }

  func worstPromises(
    leastViews: Int, limit: Int
  ) throws -> [(key: PromiseKey, record: PromiseRecord)] {
    let rows = RowReader(try database.cachedStatement(sql: Self.worst))
    defer { rows.reset() }
    try rows.bind(Int64(leastViews), at: 1)
    try rows.bind(Int64(limit), at: 2)
    var worst: [(key: PromiseKey, record: PromiseRecord)] = []
    while try rows.next() {
      let key = PromiseKey(
        url: rows.string(0), version: rows.string(1), network: rows.string(2))
      worst.append((key, Self.promise(rows, from: 3)))
    }
    return worst
  }

  func note(_ state: PromiseRecord.State, of key: PromiseKey) throws {
    guard var record = try promise(key) else { return }
    record.become(state)
    try put(record, at: key)
  }
}
