import Catalog
import Feed

/// The keys under which clients sent increments, with what they were answered.
struct IdempotencyKeys<Rows: StoreRows> {
  let rows: Rows
  let options: StoreOptions
  /// The time of the transaction.
  let now: Timestamp

  /// How many keys go at the most for each that comes: more than one, so that a lower limit is
  /// reached in time, and few, so that no request pays for all.
  private static var goneAtOnce: Int { 8 }

  private var expiry: Timestamp {
    Timestamp(microseconds: now.microseconds - Int64(options.idempotencyKeepSeconds) * 1_000_000)
  }

  /// What the request was answered when it came first; `nil` where this is the first.
  ///
  /// - Throws: `FeedError.idempotencyKeyReused` where it asked for something else.
  func answer(to key: IdempotencyKey) throws -> [Counter]? {
    guard let known = try rows.answer(toKey: key.storedText, since: expiry) else {
      return try answerWithoutOwner(to: key)
    }
    guard known.fingerprint.utf8.elementsEqual(key.fingerprint.utf8) else {
      throw FeedError.idempotencyKeyReused(key.text)
    }
    return try known.counters.map(JSONText.counters) ?? []
  }

  /// The answer to a key that was kept when keys had no owner: another one's, unless it asked for the same.
  private func answerWithoutOwner(to key: IdempotencyKey) throws -> [Counter]? {
    guard let known = try rows.answer(toKey: key.text, since: expiry),
      known.fingerprint.utf8.elementsEqual(key.fingerprint.utf8)
    else { return nil }
    return try known.counters.map(JSONText.counters) ?? []
  }

  /// Stores the key, and deletes old ones.
  func keep(_ key: IdempotencyKey, answer: [Counter]) throws {
    try rows.keep(key, counters: JSONText.text(answer), at: now)
    try rows.forgetKeys(
      before: expiry, beyond: options.maximumIdempotencyKeys, atMost: Self.goneAtOnce)
  }
}
