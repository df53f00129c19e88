import Feed
import Synchronization

/// The catalog that was published last, and what had changed by then: what readers ask.
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
  /// Of the catalog that was published last; greater only once memory has everything up to it.
  private let publishedVersion = Atomic<UInt64>(0)
  /// What feeds may take, about.
  let limitBytes: Int

  init(journalledChanges: Int, limitBytes: Int) {
    state = Mutex(State(journal: ChangeJournal(limit: journalledChanges)))
    self.limitBytes = limitBytes
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

  /// Whether these posts are what they were at `version`; where that is no longer known, they are not.
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

  /// Makes the catalog the one that is read, as the next version. One at a time: the loser of a race
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

  /// Keeps older rankings of a feed at hand, if the catalog is still the one of this version.
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

  /// Takes in a feed with its order, which is what it is as of the catalog that was published last: nothing
  /// that was read before is another. Others go where there is no room for them.
  ///
  /// - Returns: the catalog with the feed.
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
