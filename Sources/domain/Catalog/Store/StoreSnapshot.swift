import Feed
import Prefetch

/// A store at one moment: its orders and its settings, which are consistent with each other. A request
/// takes one and works from it.
public protocol StoreSnapshot: Sendable {
  /// The version of the store: `isUnchanged(feed:posts:since:)` reports later changes.
  var version: StoreVersion { get }
  /// The profiles and policies in force.
  var policyBook: PolicyBook { get }
  /// Whether the store was read: then an order that is not in memory had no room, and is read on demand.
  var isWhole: Bool { get }
  /// The number of feeds.
  var feedCount: Int { get }
  /// The feeds known without reading: those whose orders were read, in unspecified order.
  var knownFeeds: [FeedSummary] { get }
  /// The memory use of the feeds.
  var orderMemory: OrderMemory { get }
  /// Whether a feed with this name exists.
  func hasFeed(named name: String) -> Bool
  /// Returns the feed with this name if it is known without reading, otherwise `nil`.
  func knownFeed(named name: String) -> FeedSummary?
  /// Returns a page of the list of feeds if it needs no read, otherwise `nil`.
  func knownFeeds(_ query: FeedListQuery) -> FeedListPage?
  /// Whether the page can be cut at once, without loading or comparing an order.
  func isAtHand(_ query: PageQuery) -> Bool
  /// Cuts the page if memory suffices, as is usual; otherwise returns `nil`, which has no further meaning.
  ///
  /// - Throws: `FeedError` for what the snapshot does not have.
  func cutAtHand(_ query: PageQuery) throws -> PageCut?
  /// Returns a page of a feed without its posts. If an order must be loaded first and the store has changed
  /// since, the page has a later version than the snapshot.
  ///
  /// - Throws: `FeedError` for what the store does not have, and errors of the store.
  func cut(_ query: PageQuery) throws -> PageCut
}

/// The memory use of a store's feeds.
public struct OrderMemory: Equatable, Sendable {
  /// The number of feeds whose current order is in memory.
  public let feeds: Int
  /// The approximate memory of all feeds with their orders, in bytes.
  public let bytes: Int

  /// Creates the memory use of a number of orders.
  public init(feeds: Int, bytes: Int) {
    self.feeds = feeds
    self.bytes = bytes
  }
}

/// A store of network profiles and policies, beside feeds.
public protocol PolicyStore: Sendable {
  /// Returns the store as of its last refresh.
  ///
  /// - Throws: Errors of the store if it has not been read yet.
  func snapshot() throws -> any StoreSnapshot
}

/// The differences of a store since a version.
public struct StoreDifference: Equatable, Sendable {
  /// The names of the feeds whose order, title, ranking or total changed, including deleted feeds and
  /// former names; in unspecified order.
  public let feeds: [String]
  /// The posts that changed or were deleted, each once, without new posts.
  public let posts: [Int64]
  /// Whether networks or policies changed.
  public let areSettings: Bool

  /// Creates a difference.
  public init(feeds: [String] = [], posts: [Int64] = [], areSettings: Bool = false) {
    self.feeds = feeds
    self.posts = posts
    self.areSettings = areSettings
  }
}

/// A point in a store's history: increased whenever anything that can be read may have changed.
///
/// It counts within one process and has no meaning in another one, or after a restart.
public struct StoreVersion: Hashable, Comparable, Sendable {
  /// An increasing number, not always by one.
  public let number: UInt64

  /// Creates the version with this number.
  public init(number: UInt64) {
    self.number = number
  }

  /// The version before anything was read.
  public static let start = StoreVersion(number: 0)

  /// Whether the left version is older.
  public static func < (left: StoreVersion, right: StoreVersion) -> Bool {
    left.number < right.number
  }
}
