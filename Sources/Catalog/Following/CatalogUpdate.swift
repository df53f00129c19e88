import Feed
import Prefetch

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
  ///
  /// - Parameter known: the book that stays in force where the written one is not understood; nil where
  ///   there is none.
  func load(knowing known: PolicyBook?) throws -> FeedCatalog {
    var catalog = FeedCatalog(isWhole: true)
    catalog.policyBook = try book(knowing: known)
    catalog.feeds = FeedList(try feeds().map(entry))
    return catalog
  }

  /// The whole catalog, of which something is known as of the reader's moment: that is not read again.
  func complete(_ known: FeedCatalog) throws -> FeedCatalog {
    var catalog = FeedCatalog(isWhole: true)
    catalog.policyBook = known.policyBook
    catalog.feeds = known.feeds
    for part in known.feeds.entries where !part.isWhole {
      catalog.feeds.put(try entry(part.state))
    }
    return catalog
  }

  /// The catalog with the tops of feeds, each up to `count` entries and with how many there are in all, as
  /// long as these are not more than `total` together: of the feeds after that, nothing but their names.
  func loadTops(count: Int, total: Int) throws -> FeedCatalog {
    var catalog = FeedCatalog(isWhole: false)
    catalog.policyBook = try policyBook()
    var rest = total
    catalog.feeds = FeedList(
      try feeds().map { feed in
        guard rest > 0 else {
          return FeedCatalog.Entry(feedID: feed.id, order: FeedOrder(feed, nil))
        }
        let top = try top(of: feed, count: count)
        // A feed costs as much as some entries, even where it has none.
        rest -= top.heldCount + 10
        return FeedCatalog.Entry(feedID: feed.id, order: FeedOrder(feed, top))
      })
    return catalog
  }

  private func entry(_ feed: FeedState) throws -> FeedCatalog.Entry {
    let index = try order(ofFeed: feed.id, ranking: feed.ranking)
    return FeedCatalog.Entry(feedID: feed.id, order: FeedOrder(feed, index))
  }

  /// The catalog, which is whole and of the old moment, brought up to the new one, the reader's: it costs
  /// what changed, however many feeds there are.
  func update(_ catalog: FeedCatalog, from old: Mark, to new: Mark) throws -> CatalogUpdate {
    guard let changes = try changes(from: old, to: new) else {
      return CatalogUpdate(catalog: try load(knowing: catalog.policyBook), changes: nil)
    }
    var update = CatalogUpdate(
      catalog: catalog,
      changes: CatalogUpdate.Changes(posts: changes.posts, areSettings: changes.areSettings))
    if changes.areSettings { update.catalog.policyBook = try book(knowing: catalog.policyBook) }
    var states: [Int64: FeedState] = [:]
    for id in changes.feeds {
      states[id] = try feed(id)
      // Names may have gone round: they are all free before one is given again.
      if let known = catalog.feeds[id: id], states[id]?.name.isSame(as: known.order.name) != true {
        update.catalog.feeds.remove(id: id)
        update.changes?.feeds.insert(known.order.name)
      }
    }
    let byFeed = Dictionary(grouping: changes.entries, by: \.feedID)
    for id in changes.feeds.union(byFeed.keys) {
      guard let state = changes.feeds.contains(id) ? states[id] : catalog.feeds[id: id]?.state
      else { continue }
      try bring(state, in: &update, upTo: byFeed[id] ?? [])
    }
    return update
  }

  /// The written book, or the known one as long as that is not understood.
  private func book(knowing known: PolicyBook?) throws -> PolicyBook {
    do {
      return try policyBook()
    } catch let error as PolicyError {
      guard var book = known else { throw error }
      book.problem = error
      return book
    }
  }

  private func bring(
    _ feed: FeedState, in update: inout CatalogUpdate, upTo changes: [EntryChange]
  ) throws {
    guard let entry = update.catalog.feeds[id: feed.id] else {
      update.catalog.feeds.put(try self.entry(feed))
      update.changes?.feeds.insert(feed.name)
      return
    }
    let isChanged = feed != entry.state
    guard !changes.isEmpty || isChanged else { return }
    var order = entry.order
    order.title = feed.title
    order.apply(changes, ranking: feed.ranking, oldestRanking: feed.oldestRanking)
    update.catalog.feeds.put(FeedCatalog.Entry(feedID: feed.id, order: order))
    if isChanged || changes.contains(where: { $0.isSeen(upTo: feed.ranking) }) {
      update.changes?.feeds.insert(feed.name)
    }
  }
}

extension FeedOrder {
  /// The feed with the order of its current ranking, if that is read.
  fileprivate init(_ feed: FeedState, _ index: OrderIndex?) {
    self.init(
      name: feed.name, title: feed.title, ranking: feed.ranking,
      oldestRanking: feed.oldestRanking, orders: index.map { [feed.ranking: $0] } ?? [:])
  }
}
