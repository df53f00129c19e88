import Catalog
import Feed
import GRDB

/// The keys under which clients sent increments, with what they were answered.
struct IdempotencyKeys {
  let database: Database
  let options: SQLiteStore.Options
  /// The time of the transaction.
  let now: Timestamp

  /// How many keys go at the most for each that comes: more than one, so that a lower limit is
  /// reached in time, and few, so that no request pays for all.
  private static let goneAtOnce = 8

  private var expiry: Int64 {
    now.microseconds - Int64(options.idempotencyKeepSeconds) * 1_000_000
  }

  static let answerToKey = """
    SELECT fingerprint, counters FROM idempotency_key WHERE key = ? AND created_at > ?
    """

  /// What the request was answered when it came first; `nil` where this is the first.
  ///
  /// - Throws: `FeedError.idempotencyKeyReused` where it asked for something else.
  func answer(to key: IdempotencyKey) throws -> [Counter]? {
    let statement = try database.cachedStatement(sql: Self.answerToKey)
    guard let row = try Row.fetchOne(statement, arguments: [key.text, expiry]) else { return nil }
    let fingerprint: String = row[0]
    guard fingerprint.utf8.elementsEqual(key.fingerprint.utf8) else {
      throw FeedError.idempotencyKeyReused(key.text)
    }
    return try (row[1] as String?).map(JSONText.counters) ?? []
  }

  /// Keeps the key, and lets go of old ones.
  func keep(_ key: IdempotencyKey, answer: [Counter]) throws {
    // In place of the same key where that has expired, under a new number.
    try execute(
      """
      INSERT OR REPLACE INTO idempotency_key (key, fingerprint, counters, created_at)
      VALUES (?, ?, ?, ?)
      """, [key.text, key.fingerprint, JSONText.text(answer), now.microseconds])
    try execute(Self.deleteExpired, [expiry, Self.goneAtOnce])
    try execute(Self.deleteBeyondLimit, [options.maximumIdempotencyKeys, Self.goneAtOnce])
  }

  static let deleteExpired = """
    DELETE FROM idempotency_key WHERE key_id IN
      (SELECT key_id FROM idempotency_key WHERE created_at <= ? ORDER BY created_at LIMIT ?)
    """

  static let deleteBeyondLimit = """
    DELETE FROM idempotency_key WHERE key_id IN
      (SELECT key_id FROM idempotency_key
        WHERE key_id <= (SELECT max(key_id) FROM idempotency_key) - ? ORDER BY key_id LIMIT ?)
    """

  private func execute(_ sql: String, _ arguments: StatementArguments) throws {
    try database.cachedStatement(sql: sql).execute(arguments: arguments)
  }
}
