/// A feed in a list of feeds.
public struct FeedSummary: Hashable, Sendable {
  public let name: String
  public let title: String?
  /// How many entries its current ranking has.
  public let total: Int
  /// The current ranking.
  public let ranking: Int
  public let newestPublishedAt: Timestamp?

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
  public let feed: FeedSummary
  public let slice: PageSlice
  /// The posts of the slice's entries, in their order.
  public let posts: [Post]

  public init(feed: FeedSummary, slice: PageSlice, posts: [Post]) {
    self.feed = feed
    self.slice = slice
    self.posts = posts
  }
}

/// What a record did to the store.
public enum ImportOutcome: Hashable, Sendable {
  case added, changed, unchanged
}

/// What a whole import did to the store.
public struct ImportSummary: Hashable, Sendable {
  public var added = 0
  public var changed = 0
  public var unchanged = 0
  /// Feeds that were ranked anew, in the order of their names.
  public var rankedAnew: [String] = []

  public init() {}
}

/// A run of records into the store.
public protocol FeedImport: AnyObject, Sendable {
  /// Writes the records, all or none of them, durably.
  func write(_ records: [SeedRecord]) throws
  /// Makes the new order of feeds that were ranked anew the current one.
  func finish() throws -> ImportSummary
}

/// Where posts and feeds are kept. Every store passes the same suite of behaviour tests.
public protocol FeedStore: Sendable {
  /// The feeds, in the order of their names.
  func feeds() throws -> [FeedSummary]
  /// The feed of this name.
  func feed(named name: String) throws -> FeedSummary?
  /// A page of a feed.
  ///
  /// - Throws: `FeedError` for what the store does not have.
  func page(_ query: PageQuery) throws -> FeedPage
  /// The page can be read at once: no order has to be loaded or compared for it.
  func isAtHand(_ query: PageQuery) -> Bool
  /// The post with this id.
  func post(withID id: String) throws -> Post?
  /// Begins a run of records.
  func beginImport() throws -> any FeedImport
  /// Deletes a post from the store and from every feed; `false` where there was none.
  func deletePost(withID id: String) throws -> Bool
  /// Hands out everything as records, in canonical order: the feeds that have a title by name, then
  /// the posts by id.
  func exportRecords(_ body: (SeedRecord) throws -> Void) throws
}
