import Feed

/// A store of posts and feeds.
///
/// Memory holds the orders that pages are cut from, and the recent changes: a caller that caches pages
/// compares versions to know whether they are still valid. Besides the errors that a method names, each
/// throws the store's own failures.
public protocol FeedStore: Sendable {
  /// Returns a page of the list of feeds. The cost depends on the page, not on the number of feeds. Until
  /// the store is read whole, this may wait for that.
  func feeds(_ query: FeedListQuery) throws -> FeedListPage
  /// Returns the feed with this name; `nil` if it does not exist. May wait in the same way.
  func feed(named name: String) throws -> FeedSummary?
  /// The store's version: cheap enough to read on every request.
  ///
  /// A caller that caches what it reads asks for the version before it reads. The version rises before a
  /// write of this process is answered, and before `refresh()` returns with another process's write.
  var version: StoreVersion { get }
  /// The next times at which posts become visible or end, updated as soon as the write of such a time is
  /// visible.
  var dueMoments: DueMoments { get }
  /// Returns a page of a feed without its posts; reads only memory if `isAtHand(query)`.
  ///
  /// - Throws: `FeedError` for what the store does not have.
  func cut(_ query: PageQuery) throws -> PageCut
  /// Whether the page can be cut at once, without loading or comparing an order.
  func isAtHand(_ query: PageQuery) -> Bool
  /// Returns the current posts with these numbers, in this order; omits deleted ones. For threads that may
  /// block.
  func posts(_ numbers: [Int64]) throws -> FlatPosts
  /// Passes the same posts to `completion`, for event loops. Calls it once: before this returns, or later
  /// on any thread if the store has to wait for them.
  func posts(
    _ numbers: [Int64], completion: @escaping @Sendable (Result<FlatPosts, any Error>) -> Void)
  /// Whether the feed (its order, title, ranking and total), the settings (networks, policies) and these
  /// posts are unchanged since `version`; `false` if that is no longer known.
  func isUnchanged(feed: String, posts: [Int64], since version: StoreVersion) -> Bool
  /// Returns the posts that changed or were deleted since `version`, each once, without new posts; `nil` if
  /// that is no longer known, so that all may have changed.
  func changedPosts(since version: StoreVersion) -> [Int64]?
  /// Returns all differences since `version`; `nil` if that is no longer known, so that anything may have
  /// changed. The cost depends on the number of recent changes. For threads that may block.
  func changes(since version: StoreVersion) -> StoreDifference?
  /// Applies what any program wrote since the last refresh.
  ///
  /// - Returns: Whether `version` has increased.
  @discardableResult func refresh() throws -> Bool
  /// Returns the item with this id; `nil` if it does not exist. For threads that may block.
  func item(withID id: String) throws -> StoredItem?
  /// Passes the same item to `completion`, as `posts(_:completion:)` does.
  func item(
    withID id: String, completion: @escaping @Sendable (Result<StoredItem?, any Error>) -> Void)
  /// Returns the numbers of posts that match the filter, the latest created first. Returns at most `limit`,
  /// and examines at most `looks` posts, which bounds the cost. For threads that may block.
  ///
  /// - Parameter number: All returned numbers are below it; `nil` to start with the newest post.
  /// - Throws: `TextIndexUnfinished` if the filter has a text and not all texts are indexed yet.
  func postNumbers(
    below number: Int64?, _ filter: ItemFilter, limit: Int, looks: Int
  ) throws -> PostNumbers
  /// Returns the items with posts of these numbers, in this order, without the facts about their files;
  /// omits deleted ones. For threads that may block.
  func items(_ numbers: [Int64]) throws -> [StoredItem]
  /// Returns the posts that should have entered or left their feeds by now, the earliest first, at most
  /// `limit`, and the time of the next one, by the clock of writes. For threads that may block.
  func duePosts(limit: Int) throws -> DuePosts
  /// Begins an import of records.
  func beginImport() throws -> any FeedImport
  /// Changes one item, and returns at once.
  ///
  /// `completion` is called once, on any thread: when the write is durable and the next read sees it; or
  /// when it failed and nothing is changed, with the error of the write's condition, with `FeedError` if
  /// the change is not possible, or with an error of the store. Writes of one caller are made in the order
  /// in which they were submitted.
  func write(
    _ write: ItemWrite,
    completion: @escaping @Sendable (Result<ItemOutcome, any Error>) -> Void)
  /// Changes one feed, like the method for items. No cursor of a deleted or renamed feed is valid for a
  /// later feed with its name.
  func write(
    _ write: FeedWrite,
    completion: @escaping @Sendable (Result<FeedOutcome, any Error>) -> Void)
  /// Calls `body` with everything as records, in canonical order: the feeds that have a title by name, then
  /// the posts by id.
  func exportRecords(_ body: (SeedRecord) throws -> Void) throws
}

/// Implementations for a store whose reads do not wait: from memory, or one read of a file.
extension FeedStore {
  /// Reads the posts at once.
  public func posts(
    _ numbers: [Int64], completion: @escaping @Sendable (Result<FlatPosts, any Error>) -> Void
  ) {
    completion(Result { try posts(numbers) })
  }

  /// Reads the item at once.
  public func item(
    withID id: String, completion: @escaping @Sendable (Result<StoredItem?, any Error>) -> Void
  ) {
    completion(Result { try item(withID: id) })
  }
}

extension FeedStore {
  /// Returns a page of a feed, and its posts with the facts about their files.
  ///
  /// If a post is gone, memory was behind the store: this refreshes it and cuts the page again.
  ///
  /// - Throws: `FeedError` for what the store does not have, and errors of the store.
  public func pagePosts(_ query: PageQuery) throws -> (cut: PageCut, posts: FlatPosts) {
    for attempt in 1... {
      let cut = try cut(query)
      let posts = try posts(cut.posts)
      // If posts are deleted faster than this reader reads, the page is short, but its posts are correct.
      if posts.count == cut.slice.count || attempt == 3 {
        return (cut, posts)
      }
      try refresh()
    }
    preconditionFailure("the third attempt returns")
  }
}

/// The result of a whole import.
public struct ImportSummary: Hashable, Sendable {
  /// The number of records whose post or feed is new.
  public var added = 0
  /// The number of records that changed a post or feed.
  public var changed = 0
  /// The number of records that equal what was stored.
  public var unchanged = 0
  /// The feeds that got a new ranking, in the order of their names.
  @ByBytes public var rankedAnew: [String] = []

  /// Creates the summary of a run that has done nothing yet.
  public init() {}
}

/// An import of records into the store.
public protocol FeedImport: AnyObject, Sendable {
  /// Writes all of the records durably, or none of them.
  ///
  /// - Throws: Errors of the store; then none of these records is stored.
  func write(_ records: [SeedRecord]) throws
  /// Publishes the new order of the feeds that were ranked again.
  ///
  /// - Returns: The result of the whole run.
  /// - Throws: Errors of the store.
  func finish() throws -> ImportSummary
}

/// The kinds of failures of a store that callers must distinguish.
public enum StoreFailureKind: Sendable {
  /// Other writers held the store for longer than the wait limit.
  case busy
  /// The number of waiting writes has reached its limit.
  case tooManyWrites
  /// The store is closed.
  case closed
  /// The disk or the database is full.
  case full
  /// The underlying file or database is not the one that was opened: nothing is written.
  case unavailable
  /// The store is read-only: by the program's rights, or by the medium.
  case readOnly
  /// The places that an import had set aside for its end were dropped: the client must send the import
  /// again.
  case importDropped
  /// Anything else: a fault of the store itself, or one that its operator must fix.
  case other
}

/// A store's own failure. Its description is for the operator.
public protocol StoreFailure: Error {
  /// The kind of the failure.
  var kind: StoreFailureKind { get }
}
