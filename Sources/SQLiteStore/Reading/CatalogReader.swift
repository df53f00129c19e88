import Feed
import GRDB

/// Reads catalogs, and what has changed since, within one snapshot of the database.
struct CatalogReader {
  let database: Database

  static let newestSequences = """
    SELECT (SELECT max(entry_id) FROM feed_entry), (SELECT max(change_id) FROM change_log)
    """

  /// The newest entry and change: equal numbers mean that nothing changed.
  func sequences() throws -> (entry: Int64, change: Int64) {
    let rows = RowReader(try database.cachedStatement(sql: Self.newestSequences))
    defer { rows.reset() }
    return try rows.next() ? (rows.integer(0), rows.integer(1)) : (0, 0)
  }

  /// The whole catalog.
  func load() throws -> Catalog {
    try catalog(isWhole: true) { try order(of: $0) }
  }

  /// The catalog with the top of each feed and how many entries it has.
  func loadTops(count: Int) throws -> Catalog {
    try catalog(isWhole: false) { try top(of: $0, count: count) }
  }

  private func catalog(
    isWhole: Bool, _ order: (Catalog.FeedRow) throws -> FeedOrder
  ) throws -> Catalog {
    var catalog = Catalog(isWhole: isWhole)
    (catalog.entrySequence, catalog.changeSequence) = try sequences()
    catalog.policyBook = try policyBook()
    for feed in try feeds() {
      catalog.feeds[feed.name] = Catalog.Entry(feedID: feed.id, order: try order(feed))
    }
    return catalog
  }
}

// MARK: What has changed

extension CatalogReader {
  static let oldestChange = "SELECT min(change_id) FROM change_log"

  /// The catalog, which is whole, brought up to the database; `nil` where nothing changed.
  func update(_ catalog: Catalog) throws -> CatalogUpdate? {
    let (entry, change) = try sequences()
    if entry == catalog.entrySequence, change == catalog.changeSequence { return nil }
    // The log is cut from its old end: a reader that missed rows starts anew.
    let oldest = try Int64.fetchOne(database.cachedStatement(sql: Self.oldestChange))
    let hasMissed = oldest.map { $0 > catalog.changeSequence && $0 - 1 > catalog.changeSequence }
    if change < catalog.changeSequence || hasMissed ?? (change > catalog.changeSequence) {
      return CatalogUpdate(catalog: try load(), changes: nil)
    }

    var log = try loggedChanges(after: catalog.changeSequence)
    log.entries += try newEntries(after: catalog.entrySequence)
    let byFeed = Dictionary(grouping: log.entries, by: \.feedID)
    var update = CatalogUpdate(
      catalog: catalog,
      changes: CatalogUpdate.Changes(posts: log.posts, areSettings: log.areSettings))
    // What a feed's own row says is among the settings.
    let feeds = log.areSettings ? try feeds() : catalog.feeds.values.map(\.row)
    if log.areSettings {
      update.removeFeeds(except: Set(feeds.map { ByteText($0.name) }))
      update.catalog.policyBook = try policyBook()
    }
    for feed in feeds {
      try bring(feed, in: &update, upTo: byFeed[feed.id] ?? [])
    }
    (update.catalog.entrySequence, update.catalog.changeSequence) = (entry, change)
    return update
  }

  private func bring(
    _ feed: Catalog.FeedRow, in update: inout CatalogUpdate, upTo changes: [EntryChange]
  ) throws {
    guard let entry = update.catalog.feeds[feed.name], entry.feedID == feed.id else {
      update.catalog.feeds[feed.name] = Catalog.Entry(feedID: feed.id, order: try order(of: feed))
      update.changes?.feeds.insert(feed.name)
      return
    }
    let isRowChanged = feed != entry.row
    guard !changes.isEmpty || isRowChanged else { return }
    var order = entry.order
    order.title = feed.title
    order.apply(changes, ranking: feed.ranking, oldestRanking: feed.oldestRanking)
    update.catalog.feeds[feed.name] = Catalog.Entry(feedID: feed.id, order: order)
    if isRowChanged || changes.contains(where: { $0.isSeen(upTo: feed.ranking) }) {
      update.changes?.feeds.insert(feed.name)
    }
  }

  static let entriesAfter = """
    SELECT sort_key, id, post_id, published_at, since, until, feed_id FROM feed_entry
    WHERE entry_id > ? ORDER BY entry_id
    """

  private func newEntries(after sequence: Int64) throws -> [EntryChange] {
    let rows = RowReader(try database.cachedStatement(sql: Self.entriesAfter))
    defer { rows.reset() }
    rows.bind(sequence, at: 1)
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

  /// What the log says happened.
  private struct LoggedChanges {
    var entries: [EntryChange] = []
    var posts: Set<Int64> = []
    var areSettings = false
  }

  private func loggedChanges(after sequence: Int64) throws -> LoggedChanges {
    let rows = RowReader(try database.cachedStatement(sql: Self.changesAfter))
    defer { rows.reset() }
    rows.bind(sequence, at: 1)
    var changes = LoggedChanges()
    while try rows.next() {
      switch rows.string(9) {
      case "entry":
        changes.entries.append(
          EntryChange(
            feedID: rows.integer(6), entry: rows.entry(),
            old: rows.rankings(since: 4, until: 5), new: rows.rankings(since: 7, until: 8)))
      case "post": changes.posts.insert(rows.integer(2))
      default: changes.areSettings = true
      }
    }
    return changes
  }
}

extension CatalogUpdate {
  fileprivate mutating func removeFeeds(except kept: Set<ByteText>) {
    for name in catalog.feeds.keys where !kept.contains(name) {
      catalog.feeds[name] = nil
      changes?.feeds.insert(name)
    }
  }
}

extension RowReader {
  /// The entry of the columns sort_key, id, post_id, published_at.
  fileprivate func entry() -> OrderEntry {
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
