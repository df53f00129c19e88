import Feed

/// What a look at the store brought.
struct CatalogUpdate {
  /// The catalog as the store has it now.
  var catalog: FeedCatalog
  /// What is different in it, and which posts changed; `nil` where the catalog was read anew, so that
  /// anything may be.
  var changes: Changes?

  /// What of the store changed.
  struct Changes {
    /// The feeds whose order, title, ranking or total did, those that are gone among them.
    var feeds: Set<ByteText> = []
    /// The posts whose content did, or that are gone.
    var posts: Set<Int64> = []
    /// The networks or policies did.
    var areSettings = false
  }
}

extension CatalogReader {
  /// The whole catalog.
  func load() throws -> FeedCatalog {
    try catalog(isWhole: true) { try order(ofFeed: $0.id, ranking: $0.ranking) }
  }

  /// The catalog with the top of each feed and how many entries it has.
  func loadTops(count: Int) throws -> FeedCatalog {
    try catalog(isWhole: false) { try top(of: $0, count: count) }
  }

  private func catalog(
    isWhole: Bool, _ order: (FeedState) throws -> OrderIndex
  ) throws -> FeedCatalog {
    var catalog = FeedCatalog(isWhole: isWhole)
    catalog.policyBook = try policyBook()
    for feed in try feeds() {
      catalog.feeds[feed.name] = FeedCatalog.Entry(
        feedID: feed.id, order: FeedOrder(feed, try order(feed)))
    }
    return catalog
  }

  /// The catalog, which is whole and of the old moment, brought up to the new one, the reader's.
  func update(_ catalog: FeedCatalog, from old: Mark, to new: Mark) throws -> CatalogUpdate {
    guard let changes = try changes(from: old, to: new) else {
      return CatalogUpdate(catalog: try load(), changes: nil)
    }
    let byFeed = Dictionary(grouping: changes.entries, by: \.feedID)
    var update = CatalogUpdate(
      catalog: catalog,
      changes: CatalogUpdate.Changes(posts: changes.posts, areSettings: changes.areSettings))
    // What is said of a feed itself is among the settings.
    let feeds = changes.areSettings ? try feeds() : catalog.feeds.values.map(\.state)
    if changes.areSettings {
      update.removeFeeds(except: Set(feeds.map { ByteText($0.name) }))
      update.catalog.policyBook = try policyBook()
    }
    for feed in feeds {
      try bring(feed, in: &update, upTo: byFeed[feed.id] ?? [])
    }
    return update
  }

  private func bring(
    _ feed: FeedState, in update: inout CatalogUpdate, upTo changes: [EntryChange]
  ) throws {
    guard let entry = update.catalog.feeds[feed.name], entry.feedID == feed.id else {
      let index = try order(ofFeed: feed.id, ranking: feed.ranking)
      update.catalog.feeds[feed.name] = FeedCatalog.Entry(
        feedID: feed.id, order: FeedOrder(feed, index))
      update.changes?.feeds.insert(feed.name)
      return
    }
    let isChanged = feed != entry.state
    guard !changes.isEmpty || isChanged else { return }
    var order = entry.order
    order.title = feed.title
    order.apply(changes, ranking: feed.ranking, oldestRanking: feed.oldestRanking)
    update.catalog.feeds[feed.name] = FeedCatalog.Entry(feedID: feed.id, order: order)
    if isChanged || changes.contains(where: { $0.isSeen(upTo: feed.ranking) }) {
      update.changes?.feeds.insert(feed.name)
    }
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

extension FeedOrder {
  /// The feed with the order of its current ranking.
  fileprivate init(_ feed: FeedState, _ index: OrderIndex) {
    self.init(
      name: feed.name, title: feed.title, ranking: feed.ranking,
      oldestRanking: feed.oldestRanking, orders: [feed.ranking: index])
  }
}
