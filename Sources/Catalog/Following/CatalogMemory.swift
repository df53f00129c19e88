import Feed
import Synchronization

/// The catalog that was published last, and what had changed by then: what readers ask.
final class CatalogMemory: Sendable {
  private struct State {
    /// `nil` until it is read for the first time: who only writes has no use for it.
    var published: PublishedCatalog?
    var journal: ChangeJournal
  }

  private let state: Mutex<State>
  /// Of the catalog that was published last; greater only once memory has everything up to it.
  private let publishedVersion = Atomic<UInt64>(0)

  init(journalledChanges: Int) {
    state = Mutex(State(journal: ChangeJournal(limit: journalledChanges)))
  }

  /// A lock for the time of copying a reference.
  var published: PublishedCatalog? { state.withLock { $0.published } }

  var catalog: FeedCatalog? { published?.catalog }

  /// `start` before the first catalog.
  var version: StoreVersion {
    StoreVersion(number: publishedVersion.load(ordering: .acquiring))
  }

  /// See `FeedStore.isUnchanged`. It takes a lock for as long as it takes to look up the posts.
  func isUnchanged(feed: String, posts: [Int64], since version: StoreVersion) -> Bool {
    if version == self.version { return true }
    return state.withLock { $0.journal.isUnchanged(feed: feed, posts: posts, since: version) }
  }

  /// See `FeedStore.changedPosts`.
  func changedPosts(since version: StoreVersion) -> [Int64]? {
    state.withLock { $0.journal.changedPosts(since: version) }
  }

  /// See `FeedStore.changes`.
  func changes(since version: StoreVersion) -> StoreDifference? {
    state.withLock { $0.journal.changes(since: version) }
  }

  /// Makes the catalog the one that is read, as the next version. One at a time: the loser of a race
  /// would publish an older catalog over a newer one.
  func publish(_ update: CatalogUpdate) -> PublishedCatalog {
    var catalog = update.catalog
    let version = StoreVersion(number: publishedVersion.load(ordering: .relaxed) + 1)
    catalog.version = version
    let published = PublishedCatalog(catalog)
    state.withLock { state in
      state.published = published
      state.journal.note(update.changes, at: version)
    }
    publishedVersion.store(version.number, ordering: .releasing)
    return published
  }

  /// Keeps older rankings of a feed at hand, if the catalog is still the one of this version.
  func keep(_ orders: [Int: OrderIndex], ofFeed name: String, asOf version: StoreVersion) {
    state.withLock { state in
      guard var catalog = state.published?.catalog, catalog.version == version,
        let entry = catalog.feeds[name]
      else { return }
      var order = entry.order
      for (ranking, index) in orders { order.keep(index, of: ranking) }
      catalog.feeds.put(FeedCatalog.Entry(feedID: entry.feedID, order: order))
      state.published = PublishedCatalog(catalog)
    }
  }
}
