import Catalog
import Feed
import Postgres

/// What was committed between two moments.
///
/// Rows get their numbers before they are committed, and whoever went by the greatest number that was seen would lose
/// those that are committed later. So each row of the change log, and each new entry, has the number of its
/// transaction, and what is asked for is what the old snapshot does not show: from its oldest running transaction on,
/// by an index, all that was not committed then. What runs now is not shown by the new snapshot either, and comes with
/// a later one. Nothing waits for a transaction that takes long; as long as it does, some rows behind it are looked
/// at again.
extension PostgresCatalogReader {
  static let isKnown = """
    SELECT pg_snapshot_xmax($1::text::pg_snapshot) <= pg_snapshot_xmax($2::text::pg_snapshot)
      AND NOT EXISTS (SELECT 1 FROM change_log_floor
        WHERE transaction >= pg_snapshot_xmin($1::text::pg_snapshot))
    """

  private static let isUnseen = """
    transaction >= pg_snapshot_xmin($1::text::pg_snapshot)
      AND NOT pg_visible_in_snapshot(transaction, $1::text::pg_snapshot)
    """

  static let changesAfter = """
    SELECT sort_key, id, post_id, published_at, since, until, feed_id, new_since, new_until, kind
    FROM change_log WHERE \(isUnseen) ORDER BY change_id
    """

  static let entriesAfter = """
    SELECT sort_key, id, post_id, published_at, since, until, feed_id
    FROM feed_entry WHERE \(isUnseen) ORDER BY entry_id
    """

  func changes(from old: Mark, to new: Mark) throws -> StoreChanges? {
    guard old.history == new.history, let before = old.snapshot, let now = new.snapshot else {
      return nil
    }
    let snapshot = [Parameter.text(before)]
    let answers = try connection.run([
      Statement(Self.isKnown, snapshot + [.text(now)]),
      Statement(Self.changesAfter, snapshot), Statement(Self.entriesAfter, snapshot),
    ])
    guard answers[0].boolean(0, 0) else { return nil }
    var changes = StoreChanges()
    for index in 0..<answers[1].count {
      try changes.add(logged: RowValues(rows: answers[1], row: index))
    }
    for index in 0..<answers[2].count {
      let row = RowValues(rows: answers[2], row: index)
      changes.entries.append(
        EntryChange(
          feedID: try row.integer(6), entry: try row.entry(), old: nil,
          new: row.rankings(since: 4, until: 5)))
    }
    return changes
  }
}

extension StoreChanges {
  /// Adds a row of the change log.
  fileprivate mutating func add(logged row: RowValues) throws {
    switch try row.name(9) {
    case "entry":
      entries.append(
        EntryChange(
          feedID: try row.integer(6), entry: try row.entry(),
          old: row.rankings(since: 4, until: 5), new: row.rankings(since: 7, until: 8)))
    case "feed": feeds.insert(try row.integer(6))
    case "post": posts.insert(try row.integer(2))
    default: areSettings = true
    }
  }
}

extension RowValues {
  /// The entry of the columns sort_key, id, post_id, published_at.
  func entry() throws -> OrderEntry {
    OrderEntry(
      position: try position(0), post: try integer(2),
      publishedAt: optional(3).map(Timestamp.init(microseconds:)))
  }

  /// Of this column, a sort_key, and of the one behind it, an id.
  func position(_ column: Int) throws -> Position {
    Position(key: SortKey(rawValue: try integer(column)), id: try name(column + 1))
  }

  /// The rankings in these columns; `nil` where there are none.
  fileprivate func rankings(since: Int, until: Int) -> RankingInterval? {
    optional(since).map { RankingInterval(since: Int($0), until: optional(until).map(Int.init)) }
  }
}
