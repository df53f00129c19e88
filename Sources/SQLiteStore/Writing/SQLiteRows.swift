import Catalog
import Feed
import GRDB
import RowStore

/// A SQLite file's rows within one transaction: each change is made at once.
struct SQLiteRows: StoreRows {
  let database: Database
  /// The database's, to stand in errors.
  let path: String

  // The rows of the file are as near as anything that could be read ahead.
  func prepare(for writes: [WaitingWrite]) {}
  func prepare(for records: [SeedRecord], run: Int64?) {}

  func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
    var result: Result?
    try database.inSavepoint {
      result = try body()
      return .commit
    }
    return result!
  }

  /// Some failures undo more than a savepoint, and with it the writes before this one
  /// (https://sqlite.org/lang_transaction.html, "Response To Errors Within A Transaction").
  func told(_ error: any Error) -> (any Error)? {
    guard database.isInsideTransaction else { return nil }
    return (error as? DatabaseError).map { StoreError($0, path: path) } ?? error
  }

  func trimLog() throws { try ChangeLog(database: database).trim() }

  func execute(_ sql: String, _ values: [any Bindable] = []) throws {
    let statement = try reader(sql, values)
    defer { statement.reset() }
    while try statement.next() {}
  }

  /// The number in the first column of the first row; `nil` where there is no row.
  func number(_ sql: String, _ values: [any Bindable]) throws -> Int64? {
    let statement = try reader(sql, values)
    defer { statement.reset() }
    return try statement.next() ? statement.integer(0) : nil
  }

  private func reader(_ sql: String, _ values: [any Bindable]) throws -> RowReader {
    let statement = RowReader(try database.cachedStatement(sql: sql))
    // One too few would be the last statement's.
    precondition(values.count == statement.parameterCount, "another number of values")
    for (index, value) in values.enumerated() { try value.bind(to: statement, at: index + 1) }
    return statement
  }

  func row(_ sql: String, _ arguments: StatementArguments) throws -> Row? {
    try Row.fetchOne(database.cachedStatement(sql: sql), arguments: arguments)
  }

  func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> [Row] {
    try Row.fetchAll(database.cachedStatement(sql: sql), arguments: arguments)
  }
}

// MARK: Feeds

extension SQLiteRows {
  func feed(named name: String) throws -> FeedState? {
    try row(SQLiteCatalogReader.everyFeed + " WHERE name = ?", [name]).map(Self.feed)
  }

  func feed(_ id: Int64) throws -> FeedState? {
    try row(SQLiteCatalogReader.oneFeed, [id]).map(Self.feed)
  }

  private static func feed(_ row: Row) throws -> FeedState {
    FeedState(
      id: row[0], name: row[1], title: row[2], ranking: try RankingNumber.checked(row[3]),
      oldestRanking: row[4])
  }

  func insertFeed(named name: String, title: String?) throws -> FeedState {
    try execute("INSERT INTO feed (name, title) VALUES (?, ?)", [name, title])
    // A trigger may have given it another ranking.
    guard let feed = try feed(named: name) else { throw RowError("the feed \(name) was not made") }
    return feed
  }

  func setTitle(_ title: String?, ofFeed id: Int64) throws {
    try execute("UPDATE feed SET title = ? WHERE feed_id = ?", [title, id])
  }

  func renameFeed(_ id: Int64, to name: String, title: String?) throws {
    try execute("UPDATE feed SET name = ?, title = ? WHERE feed_id = ?", [name, title, id])
  }

  func deleteFeed(_ id: Int64) throws { try execute("DELETE FROM feed WHERE feed_id = ?", [id]) }
}

// MARK: Idempotency keys

extension SQLiteRows {
  static let answerToKey = """
    SELECT fingerprint, counters FROM idempotency_key WHERE key = ? AND created_at > ?
    """

  func answer(
    toKey key: String, since time: Timestamp
  ) throws -> (fingerprint: String, counters: String?)? {
    try row(Self.answerToKey, [key, time.microseconds]).map { ($0[0], $0[1]) }
  }

  func keep(_ key: IdempotencyKey, counters: String?, at time: Timestamp) throws {
    // In place of the same key where that has expired, under a new number.
    try execute(
      """
      INSERT OR REPLACE INTO idempotency_key (key, fingerprint, counters, created_at)
      VALUES (?, ?, ?, ?)
      """, [key.storedText, key.fingerprint, counters, time.microseconds])
  }

  static let deleteExpiredKeys = """
    DELETE FROM idempotency_key WHERE key_id IN
      (SELECT key_id FROM idempotency_key WHERE created_at <= ? ORDER BY created_at LIMIT ?)
    """

  static let deleteKeysBeyond = """
    DELETE FROM idempotency_key WHERE key_id IN
      (SELECT key_id FROM idempotency_key
        WHERE key_id <= (SELECT max(key_id) FROM idempotency_key) - ? ORDER BY key_id LIMIT ?)
    """

  func forgetKeys(before time: Timestamp, beyond count: Int, atMost limit: Int) throws {
    try execute(Self.deleteExpiredKeys, [time.microseconds, limit])
    try execute(Self.deleteKeysBeyond, [count, limit])
  }
}
