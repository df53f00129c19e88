import Feed
import Synchronization
import System

/// Follows a store: holds its catalog in memory, applies the writes of every process, and records what
/// changed at which version.
///
/// Theory of operation. A catalog is one immutable value, published as the next version; a reader works
/// on one version. A refresh asks the source whether anything may be new, and if so for what was
/// committed since the last mark. If the source no longer knows that, the follower reads everything again.
/// Beside the catalog, a journal records what changed at which version, so that a caller that caches pages
/// knows which are still valid. Until everything is read, the tops of the feeds may replace the catalog
/// (`beginLoading`).
public final class CatalogFollower<Source: CatalogSource>: Sendable {
  /// The state of the store up to which it has been read.
  public typealias Mark = Source.Reader.Mark
  /// Reads the parts of a page that the catalog does not hold, on any thread, concurrently with the source.
  public typealias ReadParts =
    @Sendable (CatalogFollower, PageNeeds) throws -> PageParts<Mark>

  struct Following: Sendable {
    var source: Source
    /// The mark of the last published catalog.
    var mark: Mark?
  }

  struct Published: Sendable {
    let version: StoreVersion
    let mark: Mark
  }

  let memory: CatalogMemory
  /// Held during a refresh, so that there is one at a time.
  let following: Mutex<Following>
  let published = Mutex<Published?>(nil)
  /// Held while an order is read, without blocking refreshes: a caller that waited for the same order finds
  /// it in memory.
  let holding = Mutex(())
  let readParts: ReadParts
  /// See `FeedStore.dueMoments`.
  public let dueMoments = DueMoments()
  /// The thread that reads the rest after `beginLoading`.
  package let loading = WorkerPool(threads: 1, limit: 2)

  /// Creates a follower of the source. It reads nothing before it is needed.
  ///
  /// - Parameters:
  ///   - journalledChanges: The number of changes of posts that the journal remembers.
  ///   - orderMemoryBytes: The approximate memory for the orders of feeds. Beyond it the least recently
  ///     used orders are evicted, and read again on demand.
  public init(
    _ source: Source, journalledChanges: Int, orderMemoryBytes: Int,
    readParts: @escaping ReadParts
  ) {
    following = Mutex(Following(source: source))
    memory = CatalogMemory(journalledChanges: journalledChanges, limitBytes: orderMemoryBytes)
    self.readParts = readParts
  }

  /// Reads the names of the feeds and the tops of some of them, so that first pages can be answered. Then
  /// it reads the rest on a separate thread. Requests that need more, and refreshes, wait for that.
  ///
  /// Without this call, everything is read when it is first needed.
  ///
  /// - Parameters:
  ///   - firstEntries: The maximum number of entries per feed that are read first.
  ///   - total: The approximate number of such entries of all feeds together.
  public func beginLoading(firstEntries: Int, total: Int) throws {
    try following.withLock { following in
      guard memory.catalog == nil else { return }
      let (tops, mark) = try following.source.read {
        (
          try $0.loadTops(
            count: firstEntries, total: total, limitBytes: memory.limitBytes), try $0.mark()
        )
      }
      publish(CatalogUpdate(catalog: tops, changes: nil), mark, &following)
    }
    // If this fails, or the system has no thread for it, the next caller that needs the rest retries.
    _ = loading.run { _ = try? self.whole() }
  }

  /// Brings the catalog up to date with the store.
  ///
  /// - Returns: Whether anything had changed; `false` if the catalog has not been read yet.
  /// - Throws: Errors of the source; then the catalog stays unchanged.
  @discardableResult
  public func refresh() throws -> Bool {
    try following.withLock { following in
      guard let known = memory.catalog, let mark = following.mark else { return false }
      guard known.isWhole else {
        try load(&following)
        return true
      }
      guard try following.source.mayHaveChanged() else { return false }
      let found = try following.source.read { reader -> (CatalogUpdate, Mark)? in
        let now = try reader.mark()
        return now == mark ? nil : (try reader.update(known, from: mark, to: now), now)
      }
      guard let (update, now) = found else { return false }
      if update.isNothing {
        dueMoments.set(now.nextDue) {}
        following.mark = now
        published.withLock { $0 = $0.map { Published(version: $0.version, mark: now) } }
        return false
      }
      publish(update, now, &following)
      return true
    }
  }

  /// Returns the whole current catalog. Takes a lock for the time of a copy; the first call takes as long
  /// as the load.
  ///
  /// - Throws: Errors of the source.
  public func whole() throws -> FeedCatalog { try publishedWhole().catalog }

  func publishedWhole() throws -> PublishedCatalog {
    if let published = memory.published, published.catalog.isWhole { return published }
    return try following.withLock { following in
      if let published = memory.published, published.catalog.isWhole { return published }
      return try load(&following)
    }
  }

  /// Returns the catalog, or the tops of the feeds as long as only they are read.
  ///
  /// - Throws: Errors of the source if nothing is read yet.
  public func latest() throws -> FeedCatalog { try publishedLatest().catalog }

  func publishedLatest() throws -> PublishedCatalog {
    try memory.published ?? publishedWhole()
  }

  /// Waits for current reads and closes the source. What is in memory stays readable.
  public func close() throws {
    loading.wait()
    try following.withLock { try $0.source.close() }
  }

  @discardableResult
  private func load(_ following: inout Following) throws -> PublishedCatalog {
    let old = following.mark
    let (catalog, mark) = try following.source.read { reader in
      let (mark, known) = (try reader.mark(), memory.catalog)
      let catalog =
        if let known, mark == old {
          try reader.complete(known)
        } else {
          try reader.load(knowing: known?.policyBook, limitBytes: memory.limitBytes)
        }
      return (catalog, mark)
    }
    // If the tops were up to date, pages made of them are still valid.
    let changes = mark == old ? CatalogUpdate.Changes() : nil
    return publish(CatalogUpdate(catalog: catalog, changes: changes), mark, &following)
  }

  @discardableResult
  func publish(
    _ update: CatalogUpdate, _ mark: Mark, _ following: inout Following
  ) -> PublishedCatalog {
    let new = dueMoments.set(mark.nextDue) { memory.publish(update) }
    following.mark = mark
    published.withLock { $0 = Published(version: new.catalog.version, mark: mark) }
    return new
  }
}

// MARK: Queries

extension CatalogFollower {
  /// The version of the last published catalog; `start` before the first.
  public var version: StoreVersion { memory.version }

  /// See `FeedStore.isUnchanged`.
  public func isUnchanged(feed: String, posts: [Int64], since version: StoreVersion) -> Bool {
    memory.isUnchanged(feed: feed, posts: posts, since: version)
  }

  /// Whether these posts are unchanged since `version`; `false` if that is no longer known.
  public func isUnchanged(posts: [Int64], since version: StoreVersion) -> Bool {
    memory.isUnchanged(posts: posts, since: version)
  }

  /// See `FeedStore.changedPosts`.
  public func changedPosts(since version: StoreVersion) -> [Int64]? {
    memory.changedPosts(since: version)
  }

  /// See `FeedStore.changes`.
  public func changes(since version: StoreVersion) -> StoreDifference? {
    memory.changes(since: version)
  }

  /// See `FeedStore.isAtHand`. `false` for all queries before the catalog is read.
  public func isAtHand(_ query: PageQuery) -> Bool { memory.catalog?.isAtHand(query) ?? false }

  /// See `FeedStore.feed(named:)`.
  public func feed(named name: String) throws -> FeedSummary? {
    guard let feed = try latest().feeds[name] else { return nil }
    if let summary = feed.summary { return summary }
    do {
      return try whole().feeds[name]?.summary ?? held(name).catalog.feeds[name]?.summary
    } catch FeedError.unknownFeed {
      return nil
    }
  }

  /// See `FeedStore.feeds(_:)`.
  public func feeds(_ query: FeedListQuery) throws -> FeedListPage {
    if let page = try latest().feeds.page(query) { return page }
    while true {
      let feeds = try whole().feeds
      if let page = feeds.page(query) { return page }
      // The facts about a feed stay in memory when its order is evicted.
      for name in feeds.unread(query) {
        do { _ = try held(name) } catch FeedError.unknownFeed { continue }
      }
    }
  }

  /// Returns the store as of the last refresh. Takes a lock for the time of copying a reference.
  ///
  /// - Throws: Errors of the source if the catalog has not been read yet.
  public func snapshot() throws -> any StoreSnapshot {
    CatalogSnapshot(cutter: self, published: try publishedLatest())
  }

  /// Returns a page from this catalog; if it does not have the feed's order, from a later one that has.
  ///
  /// - Throws: `FeedError` for what the store does not have, and errors of the source.
  public func cut(_ query: PageQuery, from known: FeedCatalog) throws -> PageCut {
    guard let feed = known.feeds[query.feed] else { throw FeedError.unknownFeed(query.feed) }
    guard feed.isHeld || feed.hasInTop(query) else {
      if let cut = try windowCut(query, of: feed, known.version) { return cut }
      guard known.isWhole else { return try cut(query, from: whole()) }
      return try cut(query, from: held(query.feed).catalog)
    }
    if let needs = feed.needs(of: query) { return try cut(query, from: feed, needs, known.version) }
    return try feed.cut(query, asOf: known.version)
  }

  /// Returns the page, cut from a window that is read for it, and starts reading the order in the
  /// background; `nil` if the page needs the order.
  ///
  /// - Parameter version: The catalog's version. The window may be newer than it: then the page counts as
  ///   outdated as soon as the catalog has the change.
  private func windowCut(
    _ query: PageQuery, of feed: FeedCatalog.Entry, _ version: StoreVersion
  ) throws -> PageCut? {
    let ranking = feed.order.ranking
    guard let window = query.window(ranking: ranking),
      let read = try readParts(
        self, feed.needs(.window(window.place, rows: window.rows))
      ).current, read.feed.ranking == ranking
    else { return nil }
    // If other orders are being read, as after a start, the next request triggers this one.
    _ = loading.run { _ = try? self.held(query.feed) }
    let order = FeedOrder(read.feed, read.order)
    return PageCut(
      feed: FeedSummary(
        name: order.name, title: order.title, total: read.order.count, ranking: ranking,
        newestPublishedAt: read.order.newestPublishedAt),
      slice: try order.slice(query), version: version)
  }

  /// Returns the catalog with this feed's order. If the order is not in memory, it is read without a lock;
  /// a lock is only taken to apply the writes since then.
  private func held(_ name: String) throws -> PublishedCatalog {
    try holding.withLock { _ in
      while true {
        let published = try publishedWhole()
        guard let feed = published.catalog.feeds[name] else { throw FeedError.unknownFeed(name) }
        if feed.isHeld { return published }
        if let read = try readParts(self, feed.needs(.whole)).current,
          let held = try following.withLock({ try hold(feed.feedID, read, &$0) })
        {
          return held
        }
        // The feed is gone; another one may have its name.
        try refresh()
      }
    }
  }

  /// Returns the catalog with the order that was read; `nil` if the feed is gone.
  private func hold(
    _ feedID: Int64, _ read: ReadOrder<Mark>, _ following: inout Following
  ) throws -> PublishedCatalog? {
    guard let known = memory.catalog, let mark = following.mark else {
      preconditionFailure("an order is held before the catalog is read")
    }
    let (update, entry, now) = try following.source.read { reader in
      let now = try reader.mark()
      let update = now == mark ? nil : try reader.update(known, from: mark, to: now)
      let feed = (update?.catalog ?? known).feeds[id: feedID]
      return (update, try feed.map { try reader.entry($0.state, from: read, to: now) }, now)
    }
    if let update { publish(update, now, &following) }
    return entry.map(memory.hold)
  }

  /// Returns a page of this feed, with the parts that it reads.
  private func cut(
    _ query: PageQuery, from feed: FeedCatalog.Entry, _ needs: PageNeeds, _ version: StoreVersion
  ) throws -> PageCut {
    let parts = try readParts(self, needs)
    keep(parts, ofFeed: needs.feed)
    return try feed.cut(
      query, position: parts.position, orders: parts.orders, asOf: version)
  }

  /// Keeps the orders only if nothing was written meanwhile: a later refresh would not know what they lack.
  private func keep(_ parts: PageParts<Mark>, ofFeed name: String) {
    guard let mark = parts.mark, let published = published.withLock({ $0 }),
      published.mark == mark
    else { return }
    memory.keep(parts.orders, ofFeed: name, asOf: published.version)
  }
}
