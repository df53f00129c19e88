import Catalog
import Feed

extension ItemWrite {
  /// Whether the write has a relative place.
  var isRelative: Bool {
    guard case .put(_, let placements?, _) = change else { return false }
    return placements.contains { $0.relative != nil }
  }

  /// Makes the write on known rows.
  ///
  /// - Parameters:
  ///   - places: the meaning of its relative places.
  ///   - movedFeeds: collects the feeds whose next ranking it begins.
  /// - Throws: `FeedError`, errors of the write's conditions, `RowError`.
  func make(
    on rows: inout KnownRows, _ idempotency: IdempotencyKeys, _ places: RelativePlaces,
    movedFeeds: inout Set<Int64>
  ) throws -> ItemOutcome {
    let row = try rows.post(withID: id)
    if let authorization { try authorization(try row.map(rows.item)) }
    // Before the condition, and whatever happened to the item: the answer is that of the first time.
    if case .increment(_, let key?) = change,
      let counters = try idempotency.answer(to: key, in: rows)
    {
      return .counted(counters, isReplay: true)
    }
    if let condition { try condition(try row.map(rows.item)) }
    if case .put(var post, let placements, let keepsCounters) = change {
      if keepsCounters, let stored = row?.stored { post.counters = stored.post.counters }
      let placements = try placements?.map {
        try places.ranked($0, &rows, movedFeeds: &movedFeeds)
      }
      var batch = ImportBatch(now: idempotency.now)
      try batch.put(post, placements, over: row, &rows)
      movedFeeds.formUnion(batch.movedFeeds)
      return row == nil ? .created(post) : .replaced(post)
    }
    guard let stored = row?.stored else { throw FeedError.unknownItem(id) }
    if case .followSchedule = change {
      var batch = ImportBatch(now: idempotency.now)
      try batch.put(stored.post, nil, over: row, &rows)
      movedFeeds.formUnion(batch.movedFeeds)
      return .replaced(stored.post)
    }
    guard case .increment(let increments, let key) = change else {
      rows.delete(stored)
      return .deleted
    }
    let counters = try stored.post.counters.adding(increments, ofItem: id)
    rows.set(counters, of: stored)
    if let key { idempotency.keep(key, answer: counters, in: &rows) }
    return .counted(counters, isReplay: false)
  }
}

extension FeedWrite {
  /// Makes the write on known rows. Triggers update what belongs to a feed, whichever program changes its row.
  ///
  /// - Throws: `FeedError`, errors of the write's condition, `RowError`.
  func make(on rows: inout KnownRows) throws -> FeedOutcome {
    let feed = try rows.feed(named: name)
    try condition?(feed.map { StoredFeed(name: name, title: $0.title) })
    switch change {
    case .put(let title):
      guard let feed else {
        _ = try rows.insertFeed(named: name, title: title)
        return .created
      }
      if !feed.title.isSame(as: title) { rows.setTitle(title, of: feed) }
      return .replaced
    case .rename(let other, let title):
      guard let feed else { throw FeedError.unknownFeed(name) }
      guard try rows.feed(named: other) == nil else { throw FeedError.feedExists(other) }
      rows.rename(feed, to: other, title: title)
      return .renamed
    case .delete:
      guard let feed else { throw FeedError.unknownFeed(name) }
      rows.delete(feed)
      return .deleted
    }
  }
}

/// The keys under which clients sent increments, with the answers.
struct IdempotencyKeys {
  let options: StoreOptions
  /// The time of the transaction.
  let now: Timestamp

  /// The maximum number of keys that are deleted for each new one: more than one, so that a lower limit is
  /// reached in time, and few, so that no request pays for all.
  private static var deletedAtOnce: Int { 8 }

  private var expiry: Timestamp {
    Timestamp(microseconds: now.microseconds - Int64(options.idempotencyKeepSeconds) * 1_000_000)
  }

  /// Returns the answer to the first request with the key; `nil` if this is the first.
  ///
  /// - Throws: `FeedError.idempotencyKeyReused` if the first request was another one.
  func answer(to key: IdempotencyKey, in rows: KnownRows) throws -> [Counter]? {
    guard let known = stored(key.storedText, in: rows) else {
      return try answerWithoutOwner(to: key, in: rows)
    }
    guard known.fingerprint.utf8.elementsEqual(key.fingerprint.utf8) else {
      throw FeedError.idempotencyKeyReused(key.text)
    }
    return try known.counters.map(JSONText.counters) ?? []
  }

  /// Returns the answer to a key from the time when keys had no owner. Such a key is another owner's,
  /// unless the requests are the same.
  private func answerWithoutOwner(to key: IdempotencyKey, in rows: KnownRows) throws -> [Counter]? {
    guard let known = stored(key.text, in: rows),
      known.fingerprint.utf8.elementsEqual(key.fingerprint.utf8)
    else { return nil }
    return try known.counters.map(JSONText.counters) ?? []
  }

  private func stored(_ text: String, in rows: KnownRows) -> StoredKey? {
    rows.key(text).flatMap { $0.createdAt > expiry.microseconds ? $0 : nil }
  }

  /// Stores the key, and deletes old ones.
  func keep(_ key: IdempotencyKey, answer: [Counter], in rows: inout KnownRows) {
    rows.keep(
      StoredKey(
        key: key.storedText, fingerprint: key.fingerprint, counters: JSONText.text(answer),
        createdAt: now.microseconds))
    rows.forgetKeys(
      before: expiry, beyond: options.maximumIdempotencyKeys, atMost: Self.deletedAtOnce)
  }
}
