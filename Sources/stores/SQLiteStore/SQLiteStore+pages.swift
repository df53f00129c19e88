import Catalog
import Feed

/// What the catalog answers: the order of every feed, and what changed.
extension SQLiteStore {
  /// Reads the tops of feeds, so that first pages can be answered, and then reads the rest on a thread of
  /// the store's own. Requests that need more wait for that, and so does a write before it is answered.
  ///
  /// Without it everything is read when it is first needed.
  ///
  /// - Throws: `StoreError`.
  package func beginLoading() throws {
    try follower.beginLoading(
      firstEntries: options.firstEntries, total: options.firstEntriesOfAll)
  }

  /// Brings the catalog up to the file.
  ///
  /// - Returns: whether anything had changed; `false` where the catalog has yet to be read.
  /// - Throws: `StoreError`; then the catalog stays as it was.
  @discardableResult
  package func refresh() throws -> Bool { try follower.refresh() }

  /// The store as of the last refresh: taking it costs a lock for the time of a copy.
  ///
  /// - Throws: `StoreError` where the catalog has yet to be read.
  package func snapshot() throws -> any StoreSnapshot { try follower.snapshot() }

  /// A page of the list of feeds as of the last refresh; without their newest times as long as only
  /// their tops are read.
  ///
  /// - Throws: `StoreError` where the catalog has yet to be read.
  package func feeds(_ query: FeedListQuery) throws -> FeedListPage { try follower.feeds(query) }

  /// The feed of this name as of the last refresh; `nil` if it does not exist. It has no newest time while
  /// only its top is read.
  ///
  /// - Throws: `StoreError` where the catalog has yet to be read.
  package func feed(named name: String) throws -> FeedSummary? {
    try follower.feed(named: name)
  }

  /// Whether the page can be read at once: its rankings are in memory, and none must be compared with another.
  ///
  /// A request for what the store does not have is at hand, too, and refused at once, except for a ranking that
  /// another process may have made since the last refresh. Before the catalog is read, nothing is at hand.
  package func isAtHand(_ query: PageQuery) -> Bool { follower.isAtHand(query) }

  /// A page of a feed without its posts, from the catalog as of the last refresh.
  ///
  /// - Throws: `FeedError` for what the store does not have, `StoreError` for what SQLite says.
  package func cut(_ query: PageQuery) throws -> PageCut {
    try follower.cut(query, from: try follower.latest())
  }

  /// The version of the catalog that was published last; `start` before the first.
  package var version: StoreVersion { follower.version }

  /// See `FeedStore.isUnchanged`. It takes a lock for as long as it takes to look up the posts.
  package func isUnchanged(feed: String, posts: [Int64], since version: StoreVersion) -> Bool {
    follower.isUnchanged(feed: feed, posts: posts, since: version)
  }

  /// See `FeedStore.changedPosts`: as far back as `Options.journalledChanges` reaches.
  package func changedPosts(since version: StoreVersion) -> [Int64]? {
    follower.changedPosts(since: version)
  }

  /// See `FeedStore.changes`: as far back as `changedPosts`.
  package func changes(since version: StoreVersion) -> StoreDifference? {
    follower.changes(since: version)
  }

  /// The posts with these numbers, in this order, as the file has them now.
  ///
  /// - Throws: `StoreError`.
  package func posts(_ numbers: [Int64]) throws -> FlatPosts {
    try withStoreErrors(path: path) {
      try readers.read { try $1.posts(numbers, $0) }
    }
  }
}
