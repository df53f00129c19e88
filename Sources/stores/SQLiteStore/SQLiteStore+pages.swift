import Catalog
import Feed

/// The catalog of the store: the order of every feed, and its changes.
extension SQLiteStore {
  /// Reads the tops of feeds, so that first pages can be answered, and then reads the rest on a thread of
  /// the store. Requests that need more wait for that, and a write waits for it before it is answered.
  ///
  /// Without this call, everything is read when it is first needed.
  ///
  /// - Throws: `StoreError`.
  package func beginLoading() throws {
    try follower.beginLoading(
      firstEntries: options.firstEntries, total: options.firstEntriesOfAll)
  }

  /// Updates the catalog from the file.
  ///
  /// - Returns: whether anything had changed; `false` if the catalog has yet to be read.
  /// - Throws: `StoreError`; then the catalog is unchanged.
  @discardableResult
  package func refresh() throws -> Bool { try follower.refresh() }

  /// Returns the store as of the last refresh. Takes a lock for the time of a copy.
  ///
  /// - Throws: `StoreError` if the catalog has yet to be read.
  package func snapshot() throws -> any StoreSnapshot { try follower.snapshot() }

  /// Returns a page of the list of feeds as of the last refresh. While only the tops of feeds are read, it
  /// has no newest times.
  ///
  /// - Throws: `StoreError` if the catalog has yet to be read.
  package func feeds(_ query: FeedListQuery) throws -> FeedListPage { try follower.feeds(query) }

  /// Returns the feed of this name as of the last refresh; `nil` if it does not exist. While only its top
  /// is read, it has no newest time.
  ///
  /// - Throws: `StoreError` if the catalog has yet to be read.
  package func feed(named name: String) throws -> FeedSummary? {
    try follower.feed(named: name)
  }

  /// Whether the page can be read at once: its rankings are in memory, and none must be compared with
  /// another.
  ///
  /// A request for something that the store does not have is at hand, too, and refused at once, except for
  /// a ranking that another process may have made since the last refresh. Before the catalog is read,
  /// nothing is at hand.
  package func isAtHand(_ query: PageQuery) -> Bool { follower.isAtHand(query) }

  /// Returns a page of a feed without its posts, from the catalog as of the last refresh.
  ///
  /// - Throws: `FeedError` for what the store does not have, `StoreError` for errors of SQLite.
  package func cut(_ query: PageQuery) throws -> PageCut {
    try follower.cut(query, from: try follower.latest())
  }

  /// The version of the catalog that was last published; `start` before the first.
  package var version: StoreVersion { follower.version }

  /// See `FeedStore.isUnchanged`. Takes a lock while it looks up the posts.
  package func isUnchanged(feed: String, posts: [Int64], since version: StoreVersion) -> Bool {
    follower.isUnchanged(feed: feed, posts: posts, since: version)
  }

  /// See `FeedStore.changedPosts`. Reaches as far back as `StoreOptions.journalledChanges`.
  package func changedPosts(since version: StoreVersion) -> [Int64]? {
    follower.changedPosts(since: version)
  }

  /// See `FeedStore.changes`. Reaches as far back as `changedPosts`.
  package func changes(since version: StoreVersion) -> StoreDifference? {
    follower.changes(since: version)
  }

  /// Returns the posts with these numbers, in this order, as they are in the file now.
  ///
  /// - Throws: `StoreError`.
  package func posts(_ numbers: [Int64]) throws -> FlatPosts {
    try withStoreErrors(path: path) {
      try readers.read { try $1.posts(numbers, $0) }
    }
  }
}
