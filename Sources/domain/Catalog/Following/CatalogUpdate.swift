import Feed
import Prefetch

/// The result of a read of the store.
struct CatalogUpdate {
  /// The current catalog.
  var catalog: FeedCatalog
  /// The changes in it; `nil` if the catalog was read again in full, so that anything may have changed.
  var changes: Changes?
  /// Whether the commits changed nothing of a catalog, only other data in the same database.
  var isNothing = false

  /// The changes of a store since the last read.
  struct Changes {
    /// The feeds whose order, title, ranking or total changed, and the deleted ones.
    var feeds: Set<ByteText> = []
    /// The posts whose content changed, and the deleted ones.
    var posts: Set<Int64> = []
    /// Whether networks or policies changed.
    var areSettings = false
  }
}

extension CatalogReader {
  /// Reads the catalog: all feeds, and as many orders as there is room for.
  ///
  /// - Parameter known: The book that stays in force if the stored one is invalid; `nil` if there is none.
  func load(knowing known: PolicyBook?, limitBytes: Int) throws -> FeedCatalog {
    var catalog = FeedCatalog(isWhole: true, limitBytes: limitBytes)
    catalog.policyBook = try book(knowing: known)
    let feeds = try feeds()
    var room = limitBytes - feeds.count * FeedCatalog.Entry.ownBytes
    catalog.feeds = FeedList(
      try feeds.map { feed in
        guard room > 0 else { return unread(feed) }
        let entry = try entry(feed)
        room -= entry.heldBytes - FeedCatalog.Entry.ownBytes
        return entry
      })
    return catalog
  }

  /// Completes a catalog that is known to be as of the reader's moment: orders in memory are not read
  /// again.
  func complete(_ known: FeedCatalog) throws -> FeedCatalog {
    var catalog = FeedCatalog(isWhole: true, limitBytes: known.limitBytes)
    catalog.policyBook = known.policyBook
    catalog.feeds = known.feeds
    for part in known.feeds.entries where !part.isHeld {
      if catalog.hasRoom {
        catalog.feeds.put(try entry(part.state))
      } else if !part.order.orders.isEmpty {
        // Changes cannot be applied to a top alone.
        catalog.feeds.put(unread(part.state))
      }
    }
    return catalog
  }

  /// Reads a catalog with the tops of feeds, each of up to `count` entries and the total count, until they
  /// have `total` entries together. Of the remaining feeds it has only the names.
  func loadTops(count: Int, total: Int, limitBytes: Int) throws -> FeedCatalog {
    var catalog = FeedCatalog(isWhole: false, limitBytes: limitBytes)
    catalog.policyBook = try policyBook()
    var rest = total
    catalog.feeds = FeedList(
      try feeds().map { feed in
        guard rest > 0 else { return unread(feed) }
        let top = try top(of: feed, count: count)
        // A feed costs as much as some entries, even if it has none.
        rest -= top.heldCount + 10
        return FeedCatalog.Entry(feedID: feed.id, order: FeedOrder(feed, top))
      })
    return catalog
  }

  private func entry(_ feed: FeedState) throws -> FeedCatalog.Entry {
    let index = try order(ofFeed: feed.id, ranking: feed.ranking)
    return FeedCatalog.Entry(feedID: feed.id, order: FeedOrder(feed, index))
  }

  private func unread(_ feed: FeedState) -> FeedCatalog.Entry {
    FeedCatalog.Entry(feedID: feed.id, order: FeedOrder(feed, nil))
  }

  /// Returns the feed at the reader's moment with its order. The order was read at another moment and is
  /// brought up to this one; if that is impossible, it is read again.
  func entry(_ feed: FeedState, from read: ReadOrder<Mark>, to now: Mark) throws
    -> FeedCatalog.Entry
  {
    guard let changes = try changes(from: read.mark, to: now) else { return try entry(feed) }
    var order = FeedOrder(read.feed, read.order)
    order.apply(
      changes.entries.filter { $0.feedID == feed.id }, ranking: feed.ranking,
      oldestRanking: feed.oldestRanking)
    return FeedCatalog.Entry(feedID: feed.id, order: FeedOrder(feed, order.current))
  }

  /// Brings the whole catalog from the old moment to the new one, which is the reader's. The cost depends
  /// on the number of changes, not of feeds.
  func update(_ catalog: FeedCatalog, from old: Mark, to new: Mark) throws -> CatalogUpdate {
    guard let changes = try changes(from: old, to: new) else {
      let anew = try load(knowing: catalog.policyBook, limitBytes: catalog.limitBytes)
      return CatalogUpdate(catalog: anew, changes: nil)
    }
    if changes.isNothing {
      return CatalogUpdate(catalog: catalog, changes: CatalogUpdate.Changes(), isNothing: true)
    }
    var update = CatalogUpdate(
      catalog: catalog,
      changes: CatalogUpdate.Changes(posts: changes.posts, areSettings: changes.areSettings))
    if changes.areSettings { update.catalog.policyBook = try book(knowing: catalog.policyBook) }
    var states: [Int64: FeedState] = [:]
    for id in changes.feeds {
      states[id] = try feed(id)
      // Feeds may have exchanged names, so all old names are removed before one is assigned again.
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

  /// Returns the stored book, or the known one while the stored one is invalid.
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
      update.catalog.feeds.put(update.catalog.hasRoom ? try self.entry(feed) : unread(feed))
      update.changes?.feeds.insert(feed.name)
      return
    }
    let isChanged = feed != entry.state
    guard !changes.isEmpty || isChanged else { return }
    update.catalog.feeds.put(entry.brought(to: feed, by: changes))
    if isChanged || changes.contains(where: { $0.isSeen(upTo: feed.ranking) }) {
      update.changes?.feeds.insert(feed.name)
    }
  }
}

extension FeedCatalog.Entry {
  /// The feed after the changes: with its orders if they are loaded, otherwise with its known extent.
  fileprivate func brought(to feed: FeedState, by changes: [EntryChange]) -> FeedCatalog.Entry {
    guard isHeld else {
      let extent = feed.ranking == order.ranking ? extent : nil
      return FeedCatalog.Entry(
        feedID: feedID, order: FeedOrder(feed, nil),
        extent: extent?.after(changes, ranking: feed.ranking), lastAsked: askedTurn)
    }
    var order = order
    order.title = feed.title
    order.apply(changes, ranking: feed.ranking, oldestRanking: feed.oldestRanking)
    return FeedCatalog.Entry(feedID: feedID, order: order, lastAsked: askedTurn)
  }
}
