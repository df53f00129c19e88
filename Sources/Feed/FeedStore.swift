/// A feed in a list of feeds.
public struct FeedSummary: Hashable, Sendable {
  /// What paths and `feed=` call it.
  public let name: String
  /// What people call it; `nil` where no record said.
  public let title: String?
  /// How many entries its current ranking has.
  public let total: Int
  /// The current ranking.
  public let ranking: Int
  /// The newest time of any entry; `nil` where none has a time.
  public let newestPublishedAt: Timestamp?

  /// The summary of a feed with these values.
  public init(
    name: String, title: String?, total: Int, ranking: Int, newestPublishedAt: Timestamp?
  ) {
    self.name = name
    self.title = title
    self.total = total
    self.ranking = ranking
    self.newestPublishedAt = newestPublishedAt
  }
}

/// A page of a feed.
public struct FeedPage: Sendable {
  /// The feed as it was when the page was cut.
  public let feed: FeedSummary
  /// Which entries the page has, and the cursors around them.
  public let slice: PageSlice
  /// The posts of the slice's entries, in their order.
  public let posts: [Post]

  /// A page of these parts.
  public init(feed: FeedSummary, slice: PageSlice, posts: [Post]) {
    self.feed = feed
    self.slice = slice
    self.posts = posts
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
  /// Feeds that were ranked anew, in the order of their names.
  public var rankedAnew: [String] = []

  /// A summary of a run that has done nothing yet.
  public init() {}
}

/// A run of records into the store.
public protocol FeedImport: AnyObject, Sendable {
  /// Writes the records, all or none of them, durably.
  ///
  /// - Throws: what the store throws; then nothing of these records is in it.
  func write(_ records: [SeedRecord]) throws
  /// Makes the new order of feeds that were ranked anew the current one.
  ///
  /// - Returns: what the whole run did.
  /// - Throws: what the store throws.
  func finish() throws -> ImportSummary
}

/// Where posts and feeds are kept.
///
/// Beside the errors that a method names, each throws what its store says of its own failure.
public protocol FeedStore: Sendable {
  /// The feeds, in the order of their names.
  func feeds() throws -> [FeedSummary]
  /// The feed of this name; `nil` where there is none.
  func feed(named name: String) throws -> FeedSummary?
  /// A page of a feed.
  ///
  /// - Throws: `FeedError` for what the store does not have.
  func page(_ query: PageQuery) throws -> FeedPage
  /// The page can be read at once: no order has to be loaded or compared for it.
  func isAtHand(_ query: PageQuery) -> Bool
  /// The item with this id; `nil` where there is none.
  func item(withID id: String) throws -> StoredItem?
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
  /// Hands out everything as records, in canonical order: the feeds that have a title by name, then
  /// the posts by id.
  func exportRecords(_ body: (SeedRecord) throws -> Void) throws
}
