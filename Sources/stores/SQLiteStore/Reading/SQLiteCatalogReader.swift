import Catalog
import Feed
import GRDB
import Prefetch
import RowStore

/// Reads the contents of catalogs, and changes to them, within one snapshot of the database.
struct SQLiteCatalogReader: CatalogReader {
  let database: Database

  /// The newest entry and change. There is one writer at a time, so greater numbers were committed later.
  struct Mark: CatalogMark {
    var entry: Int64 = 0
    var change: Int64 = 0
    var nextDue: Timestamp?
  }

  static let newestSequences = """
    SELECT (SELECT max(entry_id) FROM feed_entry), (SELECT max(change_id) FROM change_log),
      (SELECT min(due_at) FROM schedule)
    """

  func mark() throws -> Mark {
    let rows = RowReader(try database.cachedStatement(sql: Self.newestSequences))
    defer { rows.reset() }
    guard try rows.next() else { return Mark() }
    return Mark(
      entry: rows.integer(0), change: rows.integer(1),
      nextDue: rows.optionalInteger(2).map(Timestamp.init(microseconds:)))
  }
}

// MARK: What has changed

extension SQLiteCatalogReader {
  static let oldestChange = "SELECT min(change_id) FROM change_log"

  func changes(from old: Mark, to new: Mark) throws -> StoreChanges? {
    // The change log is trimmed at its old end: a reader that missed rows starts again.
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
  /// Returns the entry in the columns sort_key, id, post_id, published_at.
  func entry() -> OrderEntry {
    OrderEntry(
      position: Position(key: SortKey(rawValue: integer(0)), id: string(1)), post: integer(2),
      publishedAt: optionalInteger(3).map(Timestamp.init(microseconds:)))
  }

  /// Returns the rankings in these columns; `nil` if the columns are NULL.
  func rankings(since: Int32, until: Int32) -> RankingInterval? {
    optionalInteger(since).map {
      RankingInterval(since: Int($0), until: optionalInteger(until).map(Int.init))
    }
  }
}

extension SQLiteCatalogReader {
  static let everyFeed = "SELECT feed_id, name, title, ranking, oldest_ranking FROM feed"
  static let oneFeed = everyFeed + " WHERE feed_id = ?"

  func feeds() throws -> [FeedState] {
    let rows = RowReader(try database.cachedStatement(sql: Self.everyFeed))
    defer { rows.reset() }
    var feeds: [FeedState] = []
    while try rows.next() { feeds.append(try rows.feed()) }
    return feeds
  }

  func feed(_ id: Int64) throws -> FeedState? {
    let rows = RowReader(try database.cachedStatement(sql: Self.oneFeed))
    defer { rows.reset() }
    try rows.bind(id, at: 1)
    return try rows.next() ? rows.feed() : nil
  }

  /// Whether an entry begins or ends with the ranking.
  static let isRankingBegun = """
    SELECT EXISTS (SELECT 1 FROM feed_entry WHERE feed_id = ? AND since = ? AND since > 1)
      OR EXISTS (SELECT 1 FROM feed_entry WHERE feed_id = ? AND until = ?)
    """

  /// A feed's whole order, with the entries of all its rankings.
  static let feedOrder = """
    SELECT sort_key, id, post_id, published_at, since, until FROM feed_entry
    WHERE feed_id = ? ORDER BY sort_key, id
    """

  func order(ofFeed id: Int64, ranking: Int) throws -> OrderIndex {
    try order(ofFeed: id, ranking: ranking, limit: .max)
  }

  /// Returns the feed's order in one ranking, at most its first `limit` entries.
  private func order(ofFeed feedID: Int64, ranking: Int, limit: Int) throws -> OrderIndex {
    let rows = RowReader(try database.cachedStatement(sql: Self.feedOrder))
    defer { rows.reset() }
    try rows.bind(feedID, at: 1)
    var builder = OrderIndex.Builder()
    while builder.count < limit, try rows.next() {
      guard let rankings = rows.rankings(since: 4, until: 5), rankings.contains(ranking),
        let id = rows.text(1)
      else { continue }
      builder.append(
        key: SortKey(rawValue: rows.integer(0)), id: id, post: rows.integer(2),
        publishedAt: rows.optionalInteger(3).map(Timestamp.init(microseconds:)))
    }
    return builder.index()
  }

  /// The number of entries of a feed in a ranking: all, minus those that had left, minus those yet to come.
  /// Each term is counted in an index.
  static let entryCount = """
    SELECT (SELECT count(*) FROM feed_entry INDEXED BY feed_entry_order WHERE feed_id = ?1)
      - (SELECT count(*) FROM feed_entry INDEXED BY feed_entry_closed
          WHERE feed_id = ?1 AND until IS NOT NULL AND until <= ?2)
      - (SELECT count(*) FROM feed_entry INDEXED BY feed_entry_opened
          WHERE feed_id = ?1 AND since > 1 AND since > ?2)
    """

  func top(of feed: FeedState, count: Int) throws -> OrderIndex {
    let top = try order(ofFeed: feed.id, ranking: feed.ranking, limit: count)
    return OrderIndex(top: top, count: try self.count(Self.entryCount, feed))
  }

  /// Returns the count that a statement selects for a feed and a position in its order.
  func count(_ sql: String, _ feed: FeedState, _ position: Position? = nil) throws -> Int {
    let rows = RowReader(try database.cachedStatement(sql: sql))
    defer { rows.reset() }
    try rows.bind(feed, position)
    _ = try rows.next()
    return Int(rows.integer(0))
  }

  static let oldestRankingOfFeed = "SELECT oldest_ranking FROM feed WHERE feed_id = ?"

  func oldestRanking(ofFeed id: Int64) throws -> Int? {
    let statement = try database.cachedStatement(sql: Self.oldestRankingOfFeed)
    return try Int.fetchOne(statement, arguments: [id])
  }

  static let placeOfPost = """
    SELECT feed_entry.sort_key FROM post JOIN feed_entry USING (post_id)
    WHERE post.id = ? AND feed_entry.feed_id = ? AND since <= ? AND (until IS NULL OR until > ?)
    """

  func position(ofItem id: String, inFeed feedID: Int64, ranking: Int) throws -> Position? {
    let statement = try database.cachedStatement(sql: Self.placeOfPost)
    return try Row.fetchOne(statement, arguments: [id, feedID, ranking, ranking]).map {
      Position(key: SortKey(rawValue: $0[0]), id: id)
    }
  }
}

extension RowReader {
  /// Binds the feed, its current ranking, and the position, if there is one, to the first question marks.
  func bind(_ feed: FeedState, _ position: Position?) throws {
    try bind(feed.id, at: 1)
    try bind(Int64(feed.ranking), at: 2)
    guard let position else { return }
    try bind(position.key.rawValue, at: 3)
    try bind(position.id, at: 4)
  }

  /// Returns the feed in the columns feed_id, name, title, ranking, oldest_ranking.
  func feed() throws -> FeedState {
    FeedState(
      id: integer(0), name: string(1), title: text(2).map { String(decoding: $0, as: UTF8.self) },
      ranking: try RankingNumber.checked(integer(3)), oldestRanking: Int(integer(4)))
  }
}

extension SQLiteCatalogReader {
  /// - Throws: `PolicyError` for the first policy whose strategy this program does not know.
  func policyBook() throws -> PolicyBook {
    let networks = try Row.fetchAll(
      database,
      sql: """
        SELECT name, title, downlink_kbps, uplink_kbps, round_trip_ms, loss_percent,
          effective_type, is_default
        FROM network_profile ORDER BY name
        """
    ).map { row in
      NetworkProfile(
        name: row[0], title: row[1], downlinkKbps: row[2], uplinkKbps: row[3],
        roundTripMilliseconds: row[4], lossPercent: row[5], effectiveType: row[6],
        isDefault: row[7])
    }
    let policies = try Row.fetchAll(database, sql: "SELECT * FROM policy").map { row in
      (PolicyBook.Key(feed: row["feed"], network: row["network"]), try Self.policy(row))
    }
    return PolicyBook(
      networks: networks, policies: Dictionary(policies, uniquingKeysWith: { _, last in last }),
      evidence: try AppliedPolicies(database: database).evidence(),
      experiments: try AppliedPolicies(database: database).selected(ExperimentText.running)
        .experiments().compactMap(\.running))
  }

  private static func policy(_ row: Row) throws(PolicyError) -> Policy {
    Policy(
      name: row["name"],
      strategy: try PolicyColumns.strategy(
        name: row["strategy"], parameters: row["parameters"], feed: row["feed"],
        network: row["network"]), trailing: row["trailing"],
      imageWeight: row["image_weight"], videoWeight: row["video_weight"],
      webappWeight: row["webapp_weight"], adWeight: row["ad_weight"],
      textWeight: row["text_weight"], carouselVisibleParts: row["carousel_visible_parts"],
      videoStartBytes: row["video_start_bytes"], videoBytes: row["video_bytes"],
      videoKbps: row["video_kbps"], imageBytes: row["image_bytes"],
      webappBytes: row["webapp_bytes"], nextPagePercent: row["next_page_percent"],
      itemsPerMinute: row["items_per_minute"])
  }
}

/// Windows of orders. Each statement begins at its place in the index of the order, ends with its rows, and
/// skips entries of other rankings in between.
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
