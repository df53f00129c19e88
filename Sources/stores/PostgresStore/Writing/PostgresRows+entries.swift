import Feed
import Postgres
import RowStore

/// Entries, as they are pending.
extension PostgresRows {
  func openEntries(ofPost number: Int64) -> [StoredEntry] {
    (pending.entries[number] ?? []).filter { $0.until == nil }.map {
      StoredEntry(
        id: $0.id, feedID: $0.feedID, post: number, key: SortKey(rawValue: $0.key), rank: $0.rank,
        publishedAt: $0.publishedAt, since: $0.since)
    }
  }

  func feeds(ofPost number: Int64) -> Set<Int64> {
    Set((pending.entries[number] ?? []).map(\.feedID))
      .union((pending.places[number] ?? []).map(\.feedID))
  }

  func insert(_ entry: NewEntry) {
    pending.lastNewEntry -= 1
    pending.entries[entry.post, default: []].append(
      PendingRows.EntryRow(
        id: pending.lastNewEntry, number: nil, feedID: entry.feedID, postID: entry.position.id,
        key: entry.position.key.rawValue, rank: entry.rank, publishedAt: entry.publishedAt,
        since: entry.since, until: nil))
  }

  func setTime(_ microseconds: Int64?, ofPost number: Int64, inFeed feed: Int64) {
    change(entriesOf: number) { entry in
      guard entry.feedID == feed else { return }
      entry.publishedAt = microseconds
      entry.isChanged = true
    }
  }

  func close(_ entry: StoredEntry, at ranking: Int) {
    change(entriesOf: entry.post) { row in
      guard row.id == entry.id else { return }
      row.until = ranking
      row.isChanged = true
    }
  }

  private func change(entriesOf post: Int64, _ body: (inout PendingRows.EntryRow) -> Void) {
    guard var entries = pending.entries[post] else { return }
    for index in entries.indices { body(&entries[index]) }
    pending.entries[post] = entries
  }

  func delete(_ entry: StoredEntry) { delete(entriesOf: entry.post) { $0.id == entry.id } }

  private func delete(
    entriesOf post: Int64, where isGone: (PendingRows.EntryRow) -> Bool
  ) {
    let entries = pending.entries[post] ?? []
    pending.goneEntries += entries.filter(isGone).compactMap(\.number)
    pending.entries[post] = entries.filter { !isGone($0) }
  }

  func reopen(_ entry: NewEntry, closedAt ranking: Int) -> Bool {
    var isFound = false
    change(entriesOf: entry.post) { row in
      guard row.feedID == entry.feedID, row.until == ranking,
        row.key == entry.position.key.rawValue, row.rank == entry.rank
      else { return }
      row.until = nil
      row.publishedAt = entry.publishedAt
      row.isChanged = true
      isFound = true
    }
    return isFound
  }

  func remove(_ number: Int64, fromFeed feed: Int64) {
    delete(entriesOf: number) { $0.feedID == feed }
    let places = pending.places[number] ?? []
    pending.gonePlaces += places.filter { $0.feedID == feed }
    pending.places[number] = places.filter { $0.feedID != feed }
  }
}

// MARK: Rankings

extension PostgresRows {
  static let isRankingBegun = """
    SELECT EXISTS (SELECT 1 FROM feed_entry
        WHERE feed_id = $1::int8 AND since = $2::int8 AND since > 1)
      OR EXISTS (SELECT 1 FROM feed_entry WHERE feed_id = $1::int8 AND until = $2::int8)
    """

  func isBegun(_ ranking: Int, ofFeed feed: Int64) throws -> Bool {
    try direct(Self.isRankingBegun, [.integer(feed), .integer(ranking)]).boolean(0, 0)
  }

  func noteReplaced(_ ranking: Int, ofFeed feed: Int64, at time: Timestamp) throws {
    try change(
      """
      INSERT INTO replaced_ranking (feed_id, ranking, replaced_at)
      VALUES ($1::int8, $2::int8, $3::int8)
      ON CONFLICT (feed_id, ranking) DO UPDATE SET replaced_at = excluded.replaced_at
      """, [.integer(feed), .integer(ranking), .integer(time.microseconds)])
  }

  func setRankings(ofFeed feed: Int64, current: Int, oldest: Int) throws {
    pending.feeds[feed] = nil
    try change(
      "UPDATE feed SET ranking = $1::int8, oldest_ranking = $2::int8 WHERE feed_id = $3::int8",
      [.integer(current), .integer(oldest), .integer(feed)])
  }

  func forgetRankings(ofFeed feed: Int64, before ranking: Int) throws {
    try change(
      "DELETE FROM replaced_ranking WHERE feed_id = $1::int8 AND ranking < $2::int8",
      [.integer(feed), .integer(ranking)])
    try change(
      "DELETE FROM feed_entry WHERE feed_id = $1::int8 AND until <= $2::int8",
      [.integer(feed), .integer(ranking)])
    // Rows that are gone are not to be written to.
    pending.entries = [:]
    pending.posts = [:]
  }

  /// The one before it cannot be shown without that.
  static let moveBeyond = """
    SELECT until FROM feed_entry WHERE feed_id = $1::int8 AND until IS NOT NULL
    ORDER BY until DESC LIMIT 1 OFFSET $2::int8
    """

  func move(beyond count: Int, inFeed feed: Int64) throws -> Int? {
    try first(direct(Self.moveBeyond, [.integer(feed), .integer(count)]))
  }

  static let oldestReplaced = """
    SELECT ranking FROM replaced_ranking
    WHERE feed_id = $1::int8 AND ranking >= $2::int8 AND replaced_at > $3::int8
    ORDER BY ranking LIMIT 1
    """

  func oldestRanking(
    ofFeed feed: Int64, from first: Int, replacedAfter time: Timestamp
  ) throws -> Int? {
    try self.first(
      direct(
        Self.oldestReplaced, [.integer(feed), .integer(first), .integer(time.microseconds)]))
  }

  private func first(_ rows: Rows) -> Int? {
    rows.count == 0 ? nil : rows.integer(0, 0).map(Int.init)
  }
}
