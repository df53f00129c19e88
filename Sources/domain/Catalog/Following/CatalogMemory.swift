import Feed
import Synchronization

/// The last published catalog and the journal of changes: the state that readers query.
final class CatalogMemory: Sendable {
  private struct State {
    /// `nil` until the first read: a process that only writes does not need it.
    var published: PublishedCatalog?
    var journal: ChangeJournal

    @discardableResult
    mutating func publishNext(_ catalog: FeedCatalog) -> PublishedCatalog {
      var next = catalog
      next.turn = (published?.catalog.turn ?? 0) + 1
      let published = PublishedCatalog(next)
      self.published = published
      return published
    }
  }

  private let state: Mutex<State>
  /// The version of the last published catalog; increased only after memory has everything up to it.
  private let publishedVersion = Atomic<UInt64>(0)
  /// The approximate memory limit for feeds, in bytes.
  let limitBytes: Int

  init(journalledChanges: Int, limitBytes: Int) {
    state = Mutex(State(journal: ChangeJournal(limit: journalledChanges)))
    self.limitBytes = limitBytes
  }

  /// Takes a lock for the time of copying a reference.
  var published: PublishedCatalog? { state.withLock { $0.published } }

  var catalog: FeedCatalog? { published?.catalog }

  /// `start` before the first catalog.
  var version: StoreVersion {
    StoreVersion(number: publishedVersion.load(ordering: .acquiring))
  }

  /// See `FeedStore.isUnchanged`. Takes a lock for the time of looking up the posts.
  func isUnchanged(feed: String, posts: [Int64], since version: StoreVersion) -> Bool {
    if version == self.version { return true }
    return state.withLock { $0.journal.isUnchanged(feed: feed, posts: posts, since: version) }
  }

  /// Whether these posts are unchanged since `version`; `false` if that is no longer known.
  func isUnchanged(posts: [Int64], since version: StoreVersion) -> Bool {
    if version == self.version { return true }
    return state.withLock { $0.journal.isUnchanged(posts: posts, since: version) }
  }

  /// See `FeedStore.changedPosts`.
  func changedPosts(since version: StoreVersion) -> [Int64]? {
    state.withLock { $0.journal.changedPosts(since: version) }
  }

  /// See `FeedStore.changes`.
  func changes(since version: StoreVersion) -> StoreDifference? {
    state.withLock { $0.journal.changes(since: version) }
  }

  /// Publishes the catalog as the next version. The caller publishes one at a time: the loser of a race
  /// would publish an older catalog over a newer one.
  func publish(_ update: CatalogUpdate) -> PublishedCatalog {
    var catalog = update.catalog
    let version = StoreVersion(number: publishedVersion.load(ordering: .relaxed) + 1)
    catalog.version = version
    catalog.letGo()
    let published = state.withLock { state in
      let published = state.publishNext(catalog)
      state.journal.note(update.changes, at: version)
      return published
    }
    publishedVersion.store(version.number, ordering: .releasing)
    return published
  }

  /// Keeps older rankings of a feed in memory, if the catalog still has this version.
  func keep(_ orders: [Int: OrderIndex], ofFeed name: String, asOf version: StoreVersion) {
    state.withLock { state in
      guard var catalog = state.published?.catalog, catalog.version == version,
        let entry = catalog.feeds[name], entry.isHeld
      else { return }
      var order = entry.order
      for (ranking, index) in orders { order.keep(index, of: ranking) }
      catalog.feeds.put(
        FeedCatalog.Entry(feedID: entry.feedID, order: order, lastAsked: entry.askedTurn))
      catalog.letGo()
      state.publishNext(catalog)
    }
  }

  /// Adds a feed with its order to the catalog. The order is as of the last published catalog, so pages
  /// that were made before stay valid. Evicts other orders if there is no room.
  ///
  /// - Returns: The catalog with the feed.
  func hold(_ entry: FeedCatalog.Entry) -> PublishedCatalog {
    state.withLock { state in
      guard var catalog = state.published?.catalog else {
        preconditionFailure("an order is held before the catalog is read")
      }
      entry.noteAsked(in: catalog.turn + 1)
      catalog.feeds.put(entry)
      catalog.letGo()
      return state.publishNext(catalog)
    }
  }
}
