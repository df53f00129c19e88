import Feed

/// Where posts and feeds are kept.
///
/// Memory holds the orders that pages are cut from, and the recent changes: a caller that caches pages
/// compares versions to know whether they are still valid. Besides the errors that a method names, each
/// throws the store's own failures.
public protocol FeedStore: Sendable {
  /// A page of the list of feeds. It costs what the page has, however many feeds there are; as long as
  /// the store is not read whole, it may wait for that.
  func feeds(_ query: FeedListQuery) throws -> FeedListPage
  /// The feed of this name; `nil` if it does not exist. It may wait in the same way.
  func feed(named name: String) throws -> FeedSummary?
  /// The store's version: cheap enough to read on every request.
  ///
  /// A caller that caches what it reads asks for the version before it reads. The version rises before a
  /// write of this process is answered, and before `refresh()` returns with another process's write.
  var version: StoreVersion { get }
  /// When posts come or go next: known as soon as the write that says so is seen.
  var dueMoments: DueMoments { get }
  /// A page of a feed without its posts: read from memory where `isAtHand(query)`.
  ///
  /// - Throws: `FeedError` for what the store does not have.
  func cut(_ query: PageQuery) throws -> PageCut
  /// Whether the page can be cut at once, without loading or comparing an order.
  func isAtHand(_ query: PageQuery) -> Bool
  /// The posts with these numbers, in this order, as they are now; those that are gone are left out. For
  /// threads that may wait.
  func posts(_ numbers: [Int64]) throws -> FlatPosts
  /// Hands out the same to `completion`, which is called once: before this returns, or later on any thread
  /// where the store has to wait for them. Event loops ask so.
  func posts(
    _ numbers: [Int64], completion: @escaping @Sendable (Result<FlatPosts, any Error>) -> Void)
  /// Whether the feed (its order, title, ranking and total), the settings (networks, policies) and
  /// these posts are what they were at `version`. Where that is no longer known, they are not.
  func isUnchanged(feed: String, posts: [Int64], since version: StoreVersion) -> Bool
  /// The posts whose content changed or that went since `version`, each once; `nil` where that is no
  /// longer known: then all may have. New posts are not among them.
  func changedPosts(since version: StoreVersion) -> [Int64]?
  /// All that is different since `version`; `nil` where that is no longer known: then anything may be. It costs
  /// what changed lately, and is for threads that may wait.
  func changes(since version: StoreVersion) -> StoreDifference?
  /// Takes in what was written since the last time, whichever program wrote it.
  ///
  /// - Returns: whether `version` is greater now.
  @discardableResult func refresh() throws -> Bool
  /// The item with this id; `nil` if it does not exist. For threads that may wait.
  func item(withID id: String) throws -> StoredItem?
  /// Hands out the same to `completion`, as `posts(_:completion:)` does.
  func item(
    withID id: String, completion: @escaping @Sendable (Result<StoredItem?, any Error>) -> Void)
  /// The numbers of posts that the filter admits, those that were made last first: at most `limit`, of at most
  /// `looks` that are looked at, so that it costs that much whatever there is. For threads that may wait.
  ///
  /// - Parameter number: all are below it; nil for the newest ones.
  /// - Throws: `TextIndexUnfinished` where texts are looked for that are not all indexed yet.
  func postNumbers(
    below number: Int64?, _ filter: ItemFilter, limit: Int, looks: Int
  ) throws -> PostNumbers
  /// The items with posts of these numbers, in this order, without what is known of their files; those that are
  /// gone are left out. For threads that may wait.
  func items(_ numbers: [Int64]) throws -> [StoredItem]
  /// The posts that are to come into their feeds or to leave them by now, the earliest first, at most this number, and
  /// when the next one is due; by the clock by which writes are made. For threads that may wait.
  func duePosts(limit: Int) throws -> DuePosts
  /// Begins a run of records.
  func beginImport() throws -> any FeedImport
  /// Changes one item, and returns at once.
  ///
  /// `completion` is called once, on any thread: when the write is durable and the next read sees it;
  /// or when it failed and nothing is changed, with what the write's condition threw, with
  /// `FeedError` where the item cannot become that, or with what the store says of itself. Writes of
  /// one caller are made in the order in which they were given.
  func write(
    _ write: ItemWrite,
    completion: @escaping @Sendable (Result<ItemOutcome, any Error>) -> Void)
  /// Changes one feed, as the other changes an item. A feed that is gone, or has another name, leaves no
  /// cursor that fits a later one of its name.
  func write(
    _ write: FeedWrite,
    completion: @escaping @Sendable (Result<FeedOutcome, any Error>) -> Void)
  /// Hands out everything as records, in canonical order: the feeds that have a title by name, then
  /// the posts by id.
  func exportRecords(_ body: (SeedRecord) throws -> Void) throws
}

/// Of a store that has what it reads at hand, in memory or one look at a file away.
extension FeedStore {
  /// Reads them at once.
  public func posts(
    _ numbers: [Int64], completion: @escaping @Sendable (Result<FlatPosts, any Error>) -> Void
  ) {
    completion(Result { try posts(numbers) })
  }

  /// Reads it at once.
  public func item(
    withID id: String, completion: @escaping @Sendable (Result<StoredItem?, any Error>) -> Void
  ) {
    completion(Result { try item(withID: id) })
  }
}

extension FeedStore {
  /// A page of a feed, and its posts with the known facts about their files.
  ///
  /// Where a post is gone, what is in memory was behind the store: it is brought up to it and the page cut again.
  ///
  /// - Throws: `FeedError` for what the store does not have, and what the store says of itself.
  public func pagePosts(_ query: PageQuery) throws -> (cut: PageCut, posts: FlatPosts) {
    for attempt in 1... {
      let cut = try cut(query)
      let posts = try posts(cut.posts)
      // If posts are deleted faster than this reader reads, the page is short, but the posts in it are
      // right.
      if posts.count == cut.slice.count || attempt == 3 {
        return (cut, posts)
      }
      try refresh()
    }
    preconditionFailure("the third attempt returns")
  }
}

/// What a whole import did to the store.
public struct ImportSummary: Hashable, Sendable {
  /// Records whose post or feed was not there before.
  public var added = 0
  /// Records that changed what was there.
  public var changed = 0
  /// Records that say what was there already.
  public var unchanged = 0
  /// The feeds that were ranked again, in the order of their names.
  @ByBytes public var rankedAnew: [String] = []

  /// A summary of a run that has done nothing yet.
  public init() {}
}

/// A run of records into the store.
public protocol FeedImport: AnyObject, Sendable {
  /// Writes all of the records durably, or none of them.
  ///
  /// - Throws: what the store throws; then nothing of these records is in it.
  func write(_ records: [SeedRecord]) throws
  /// Publishes the new order of the feeds that were ranked again.
  ///
  /// - Returns: what the whole run did.
  /// - Throws: what the store throws.
  func finish() throws -> ImportSummary
}

/// Why a store cannot do what was asked, as far as the caller must distinguish the cases.
public enum StoreFailureKind: Sendable {
  /// Others write, for longer than was waited.
  case busy
  /// As many writes wait as may.
  case tooManyWrites
  /// It was closed.
  case closed
  /// There is no room for more.
  case full
  /// What it stands on is not what was opened: nothing is written.
  case unavailable
  /// The program may not write to it: its rights do not allow that, or what it lies on.
  case readOnly
  /// The places that an import kept aside for its end were dropped: the client must send the import again.
  case importDropped
  /// Anything else: a fault of the store itself, or one that its operator must fix.
  case other
}

/// A store's own failure. Its description is for the operator.
public protocol StoreFailure: Error {
  /// Why it cannot do now what it was asked.
  var kind: StoreFailureKind { get }
}
