import Catalog
import Feed
import GRDB

/// Reads what catalogs are made of, and what has changed since, within one snapshot of the database.
struct SQLiteCatalogReader: CatalogReader {
  let database: Database

  /// The newest entry and change. There is one writer at a time, so greater numbers were committed later.
  struct Mark: Equatable {
    var entry: Int64 = 0
    var change: Int64 = 0
  }

  static let newestSequences = """
    SELECT (SELECT max(entry_id) FROM feed_entry), (SELECT max(change_id) FROM change_log)
    """

  func mark() throws -> Mark {
    let rows = RowReader(try database.cachedStatement(sql: Self.newestSequences))
    defer { rows.reset() }
    return try rows.next() ? Mark(entry: rows.integer(0), change: rows.integer(1)) : Mark()
  }
}

// MARK: What has changed

extension SQLiteCatalogReader {
  static let oldestChange = "SELECT min(change_id) FROM change_log"

  func changes(from old: Mark, to new: Mark) throws -> StoreChanges? {
    // The change log is cut from its old end: a reader that missed rows starts anew.
    let oldest = try Int64.fetchOne(database.cachedStatement(sql: Self.oldestChange))
    let hasMissed = oldest.map { $0 > old.change && $0 - 1 > old.change }
    if new.change < old.change || hasMissed ?? (new.change > old.change) { return nil }
    var changes = try loggedChanges(after: old.change)
    changes.entries += try newEntries(after: old.entry)
    return changes
  }

  static let entriesAfter = """
    SELECT sort_key, id, post_id, published_at, since, until, feed_id FROM feed_entry
    WHERE entry_id > ? ORDER BY entry_id
    """

  private func newEntries(after sequence: Int64) throws -> [EntryChange] {
    let rows = RowReader(try database.cachedStatement(sql: Self.entriesAfter))
    defer { rows.reset() }
    try rows.bind(sequence, at: 1)
    var changes: [EntryChange] = []
    while try rows.next() {
      changes.append(
        EntryChange(
          feedID: rows.integer(6), entry: rows.entry(), old: nil,
          new: rows.rankings(since: 4, until: 5)))
    }
    return changes
  }

  static let changesAfter = """
    SELECT sort_key, id, post_id, published_at, since, until, feed_id, new_since, new_until, kind
    FROM change_log WHERE change_id > ? ORDER BY change_id
    """

  private func loggedChanges(after sequence: Int64) throws -> StoreChanges {
    let rows = RowReader(try database.cachedStatement(sql: Self.changesAfter))
    defer { rows.reset() }
    try rows.bind(sequence, at: 1)
    var changes = StoreChanges()
    while try rows.next() {
      switch rows.string(9) {
      case "entry":
        changes.entries.append(
          EntryChange(
            feedID: rows.integer(6), entry: rows.entry(),
            old: rows.rankings(since: 4, until: 5), new: rows.rankings(since: 7, until: 8)))
      case "feed": changes.feeds.insert(rows.integer(6))
      case "post": changes.posts.insert(rows.integer(2))
      default: changes.areSettings = true
      }
    }
    return changes
  }
}

extension RowReader {
  /// The entry of the columns sort_key, id, post_id, published_at.
  func entry() -> OrderEntry {
    OrderEntry(
      position: Position(key: SortKey(rawValue: integer(0)), id: string(1)), post: integer(2),
      publishedAt: optionalInteger(3).map(Timestamp.init(microseconds:)))
  }

  /// The rankings in these columns; `nil` where there are none.
  func rankings(since: Int32, until: Int32) -> RankingInterval? {
    optionalInteger(since).map {
      RankingInterval(since: Int($0), until: optionalInteger(until).map(Int.init))
    }
  }
}
