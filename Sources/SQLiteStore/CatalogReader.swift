import Feed
import GRDB
import Prefetch

/// Reads catalogs, and what has changed since, within one snapshot of the database.
struct CatalogReader {
  let database: Database

  static let newestSequences = """
    SELECT (SELECT max(entry_id) FROM feed_entry), (SELECT max(change_id) FROM change_log)
    """

  /// The newest entry and change: equal numbers mean that the order of no feed changed.
  func sequences() throws -> (entry: Int64, change: Int64) {
    let statement = try database.cachedStatement(sql: Self.newestSequences)
    guard let row = try Row.fetchOne(statement) else { return (0, 0) }
    return (row[0] ?? 0, row[1] ?? 0)
  }

  /// The whole catalog.
  func load() throws -> Catalog {
    var catalog = Catalog()
    (catalog.entrySequence, catalog.changeSequence) = try sequences()
    catalog.policyBook = try policyBook()
    for feed in try feeds() {
      catalog.feeds[feed.name] = Catalog.Entry(feedID: feed.id, order: try order(of: feed))
    }
    return catalog
  }

  /// The catalog brought up to the database; `nil` where nothing changed.
  func update(_ catalog: Catalog) throws -> CatalogUpdate? {
    let (entry, change) = try sequences()
    if entry == catalog.entrySequence, change == catalog.changeSequence { return nil }
    // The log is cut from its old end: a reader that missed rows starts anew.
    let oldest =
      try Int64.fetchOne(database, sql: "SELECT min(change_id) FROM change_log") ?? change + 1
    if change < catalog.changeSequence || oldest > catalog.changeSequence + 1 {
      return CatalogUpdate(catalog: try load(), changes: nil)
    }

    var updated = catalog
    var log = try loggedChanges(after: catalog.changeSequence)
    log.entries += try newEntries(after: catalog.entrySequence)
    let byFeed = Dictionary(grouping: log.entries, by: \.feedID)
    var changes = CatalogUpdate.Changes(posts: log.posts, areSettings: log.areSettings)
    let feeds = try feeds()
    let names = Set(feeds.map(\.name))
    changes.feeds = Set(updated.feeds.keys).subtracting(names)
    updated.feeds = updated.feeds.filter { names.contains($0.key) }
    for feed in feeds
    where try update(&updated, feed: feed, changes: byFeed[feed.id] ?? []) {
      changes.feeds.insert(feed.name)
    }
    if log.areSettings { updated.policyBook = try policyBook() }
    (updated.entrySequence, updated.changeSequence) = (entry, change)
    return CatalogUpdate(catalog: updated, changes: changes)
  }

  /// Brings one feed up to the database.
  ///
  /// - Returns: whether its readers see a difference.
  private func update(
    _ catalog: inout Catalog, feed: FeedRow, changes: [EntryChange]
  ) throws -> Bool {
    guard var entry = catalog.feeds[feed.name], entry.feedID == feed.id else {
      catalog.feeds[feed.name] = Catalog.Entry(feedID: feed.id, order: try order(of: feed))
      return true
    }
    let isFeedChanged =
      feed.ranking != entry.order.ranking || feed.title != entry.order.title
      || feed.oldestRanking != entry.order.oldestRanking
    guard !changes.isEmpty || isFeedChanged else { return false }
    entry.order.title = feed.title
    entry.order.apply(changes, ranking: feed.ranking, oldestRanking: feed.oldestRanking)
    entry.summarize()
    catalog.feeds[feed.name] = entry
    return isFeedChanged || changes.contains { $0.isSeen(upTo: feed.ranking) }
  }
}

// MARK: Feeds and their order

extension CatalogReader {
  struct FeedRow {
    let id: Int64
    let name: String
    let title: String?
    let ranking: Int
    let oldestRanking: Int
  }

  private func feeds() throws -> [FeedRow] {
    try Row.fetchAll(
      database,
      sql: "SELECT feed_id, name, title, ranking, oldest_ranking FROM feed ORDER BY name"
    ).map {
      FeedRow(id: $0[0], name: $0[1], title: $0[2], ranking: $0[3], oldestRanking: $0[4])
    }
  }

  /// The feed in its current ranking, and in the next one where that is being made.
  private func order(of feed: FeedRow) throws -> FeedOrder {
    var orders = [feed.ranking: try order(feedID: feed.id, ranking: feed.ranking)]
    let next = feed.ranking + 1
    let isNextBegun =
      try Bool.fetchOne(
        database, sql: Self.isRankingBegun, arguments: [feed.id, next, feed.id, next]) ?? false
    if isNextBegun { orders[next] = try order(feedID: feed.id, ranking: next) }
    return FeedOrder(
      name: feed.name, title: feed.title, ranking: feed.ranking,
      oldestRanking: feed.oldestRanking, orders: orders)
  }

  /// Whether anything was moved to the ranking.
  static let isRankingBegun = """
    SELECT EXISTS (SELECT 1 FROM feed_entry WHERE feed_id = ? AND since = ? AND since > 1)
      OR EXISTS (SELECT 1 FROM feed_entry WHERE feed_id = ? AND until = ?)
    """

  /// A feed's order as it is read whole, all rankings together.
  static let feedOrder = """
    SELECT sort_key, id, post_id, published_at, since, until FROM feed_entry
    WHERE feed_id = ? ORDER BY sort_key, id
    """

  /// The feed's order in one ranking.
  func order(feedID: Int64, ranking: Int) throws -> OrderIndex {
    let statement = try database.cachedStatement(sql: Self.feedOrder)
    let rows = try Row.fetchCursor(statement, arguments: [feedID])
    var entries: [OrderEntry] = []
    while let row = try rows.next() {
      let interval = RankingInterval(since: row[4], until: row[5])
      if interval.contains(ranking) { entries.append(Self.entry(row, from: 0)) }
    }
    return OrderIndex(entries)
  }

  /// An entry of the columns sort_key, id, post_id, published_at.
  private static func entry(_ row: Row, from column: Int) -> OrderEntry {
    OrderEntry(
      position: Position(key: SortKey(rawValue: row[column]), id: row[column + 1]),
      post: row[column + 2],
      publishedAt: (row[column + 3] as Int64?).map(Timestamp.init(microseconds:)))
  }

  static let entriesAfter = """
    SELECT sort_key, id, post_id, published_at, since, until, feed_id FROM feed_entry
    WHERE entry_id > ? ORDER BY entry_id
    """

  static let changesAfter = """
    SELECT sort_key, id, post_id, published_at, since, until, feed_id, new_since, new_until, kind
    FROM change_log WHERE change_id > ? ORDER BY change_id
    """

  private func newEntries(after sequence: Int64) throws -> [EntryChange] {
    try Row.fetchAll(
      database.cachedStatement(sql: Self.entriesAfter), arguments: [sequence]
    ).map { row in
      EntryChange(
        feedID: row[6], entry: Self.entry(row, from: 0), old: nil,
        new: RankingInterval(since: row[4], until: row[5]))
    }
  }

  /// What the log says happened.
  private struct LoggedChanges {
    var entries: [EntryChange] = []
    var posts: Set<Int64> = []
    var areSettings = false
  }

  private func loggedChanges(after sequence: Int64) throws -> LoggedChanges {
    let rows = try Row.fetchCursor(
      database.cachedStatement(sql: Self.changesAfter), arguments: [sequence])
    var changes = LoggedChanges()
    while let row = try rows.next() {
      switch row[9] as String {
      case "entry":
        let newSince: Int? = row[7]
        changes.entries.append(
          EntryChange(
            feedID: row[6], entry: Self.entry(row, from: 0),
            old: RankingInterval(since: row[4], until: row[5]),
            new: newSince.map { RankingInterval(since: $0, until: row[8]) }))
      case "post": changes.posts.insert(row[2])
      default: changes.areSettings = true
      }
    }
    return changes
  }
}

// MARK: Networks and policies

extension CatalogReader {
  private func policyBook() throws -> PolicyBook {
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
      (PolicyBook.Key(feed: row["feed"], network: row["network"]), Self.policy(row))
    }
    return PolicyBook(
      networks: networks, policies: Dictionary(policies, uniquingKeysWith: { _, last in last }))
  }

  private static func policy(_ row: Row) -> Policy {
    Policy(
      name: row["name"], strategy: Policy.Strategy(rawValue: row["strategy"]) ?? .plain,
      maxCost: row["max_cost"], leading: row["leading"], trailing: row["trailing"],
      imageWeight: row["image_weight"], videoWeight: row["video_weight"],
      webappWeight: row["webapp_weight"], adWeight: row["ad_weight"],
      textWeight: row["text_weight"], carouselVisibleParts: row["carousel_visible_parts"],
      videoStartBytes: row["video_start_bytes"], videoBytes: row["video_bytes"],
      videoKbps: row["video_kbps"], imageBytes: row["image_bytes"],
      webappBytes: row["webapp_bytes"], nextPagePercent: row["next_page_percent"],
      itemsPerMinute: row["items_per_minute"])
  }
}
