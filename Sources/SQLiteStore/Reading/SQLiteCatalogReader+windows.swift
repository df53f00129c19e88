import Catalog
import Feed
import GRDB

/// Windows of orders: each statement begins at its place in the index of the order and ends with its rows.
/// Entries of other rankings that lie between them are stepped over.
extension SQLiteCatalogReader {
  private static let shown = """
    SELECT sort_key, id, post_id, published_at FROM feed_entry
    WHERE feed_id = ?1 AND since <= ?2 AND (until IS NULL OR until > ?2)
    """
  static let windowAtOffset = shown + " ORDER BY sort_key, id LIMIT ?3 OFFSET ?4"
  static let windowBelow = shown + " AND (sort_key, id) > (?3, ?4) ORDER BY sort_key, id LIMIT ?5"
  static let windowFrom = shown + " AND (sort_key, id) >= (?3, ?4) ORDER BY sort_key, id LIMIT ?5"
  static let windowAbove =
    shown + " AND (sort_key, id) < (?3, ?4) ORDER BY sort_key DESC, id DESC LIMIT ?5"
  /// Counted in the index.
  static let countThrough = """
    SELECT count(*) FROM feed_entry WHERE feed_id = ?1 AND since <= ?2
      AND (until IS NULL OR until > ?2) AND (sort_key, id) <= (?3, ?4)
    """
  static let countAbove = """
    SELECT count(*) FROM feed_entry WHERE feed_id = ?1 AND since <= ?2
      AND (until IS NULL OR until > ?2) AND (sort_key, id) < (?3, ?4)
    """

  func window(of feed: FeedState, at place: OrderWindow.Place, rows: Int) throws -> OrderWindow {
    let count = try count(Self.entryCount, feed)
    let entries: [OrderEntry]
    let offset: Int
    switch place {
    case .offset(let start):
      offset = min(start, count)
      entries = try self.entries(at: offset, of: feed, rows)
    case .below(let position):
      offset = try self.count(Self.countThrough, feed, position)
      entries = try self.entries(Self.windowBelow, feed, position, rows)
    case .above(let position):
      let above = try self.entries(Self.windowAbove, feed, position, rows)
      offset = try self.count(Self.countAbove, feed, position) - above.count
      entries = above.reversed() + (try self.entries(Self.windowFrom, feed, position, 1))
    }
    let isTop = offset == 0 && !entries.isEmpty
    let first = isTop ? entries.first : try self.entries(at: 0, of: feed, 1).first
    return OrderWindow(first: first, offset: offset, entries: entries, count: count)
  }

  private func entries(
    _ sql: String, _ feed: FeedState, _ position: Position, _ count: Int
  ) throws -> [OrderEntry] {
    let rows = RowReader(try database.cachedStatement(sql: sql))
    defer { rows.reset() }
    try rows.bind(feed, position)
    try rows.bind(Int64(count), at: 5)
    return try rows.entries()
  }

  private func entries(at offset: Int, of feed: FeedState, _ count: Int) throws -> [OrderEntry] {
    let rows = RowReader(try database.cachedStatement(sql: Self.windowAtOffset))
    defer { rows.reset() }
    try rows.bind(feed, nil)
    try rows.bind(Int64(count), at: 3)
    try rows.bind(Int64(offset), at: 4)
    return try rows.entries()
  }
}

extension RowReader {
  fileprivate func entries() throws -> [OrderEntry] {
    var entries: [OrderEntry] = []
    while try next() { entries.append(entry()) }
    return entries
  }
}
