import Feed
import Prefetch

/// A store at one moment: its orders and its settings, which were true together. A request takes one and
/// works from it.
public protocol StoreSnapshot: Sendable {
  /// The moment: what changed later is in `isUnchanged(feed:posts:since:)`.
  var version: StoreVersion { get }
  /// The profiles and policies in force.
  var policyBook: PolicyBook { get }
  /// The store was read: what is not at hand has no room in memory, and is read when it is asked for.
  var isWhole: Bool { get }
  /// How many feeds there are.
  var feedCount: Int { get }
  /// The feeds known without reading: those whose orders were read, in any order.
  var knownFeeds: [FeedSummary] { get }
  /// What feeds take in memory.
  var orderMemory: OrderMemory { get }
  /// Whether there is a feed of this name.
  func hasFeed(named name: String) -> Bool
  /// The feed of this name if it is known without reading, otherwise `nil`.
  func knownFeed(named name: String) -> FeedSummary?
  /// A page of the list of feeds if it needs no read, otherwise `nil`.
  func knownFeeds(_ query: FeedListQuery) -> FeedListPage?
  /// Whether the page can be cut at once, without loading or comparing an order.
  func isAtHand(_ query: PageQuery) -> Bool
  /// The page, where it can be cut from what is in memory alone, as mostly; else nil, which says no more.
  ///
  /// - Throws: `FeedError` for what the snapshot does not have.
  func cutAtHand(_ query: PageQuery) throws -> PageCut?
  /// A page of a feed without its posts. Where an order has yet to be loaded, and the store has gone on
  /// meanwhile, its version is a later one than the snapshot's.
  ///
  /// - Throws: `FeedError` for what the store does not have, and what the store says of itself.
  func cut(_ query: PageQuery) throws -> PageCut
}

/// What a store's feeds take in memory.
public struct OrderMemory: Equatable, Sendable {
  /// Of how many feeds the current order is there.
  public let feeds: Int
  /// About what all feeds take, with their orders.
  public let bytes: Int

  /// Creates the memory use of this many orders, with this many bytes.
  public init(feeds: Int, bytes: Int) {
    self.feeds = feeds
    self.bytes = bytes
  }
}

/// Where network profiles and policies are kept, beside feeds.
public protocol PolicyStore: Sendable {
  /// The store as of its last refresh.
  ///
  /// - Throws: what the store throws where it has yet to be read.
  func snapshot() throws -> any StoreSnapshot
}

/// What is different in a store since a version.
public struct StoreDifference: Equatable, Sendable {
  /// The names of the feeds whose order, title, ranking or total changed, those that are gone and names that were
  /// given up among them; in no order.
  public let feeds: [String]
  /// The posts whose content changed or that went, each once. New posts are not among them.
  public let posts: [Int64]
  /// The networks or policies changed.
  public let areSettings: Bool

  /// Changes of these.
  public init(feeds: [String] = [], posts: [Int64] = [], areSettings: Bool = false) {
    self.feeds = feeds
    self.posts = posts
    self.areSettings = areSettings
  }
}

/// A point in a store's history: greater whenever anything that is read may have changed.
///
/// It counts within one process and means nothing to another, or after a restart.
public struct StoreVersion: Hashable, Comparable, Sendable {
  /// Rises, not always by one.
  public let number: UInt64

  /// The version of this number.
  public init(number: UInt64) {
    self.number = number
  }

  /// Before anything was read.
  public static let start = StoreVersion(number: 0)

  /// Whether the left one is older.
  public static func < (left: StoreVersion, right: StoreVersion) -> Bool {
    left.number < right.number
  }
}
