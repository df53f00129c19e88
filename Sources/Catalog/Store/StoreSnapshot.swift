import Feed
import Prefetch

/// A store at one moment: its orders and its settings, which were true together. A request takes one and
/// works from it.
public protocol StoreSnapshot: Sendable {
  /// The moment: what changed later is in `isUnchanged(feed:posts:since:)`.
  var version: StoreVersion { get }
  /// The profiles and policies in force.
  var policyBook: PolicyBook { get }
  /// Everything that is said of feeds is in memory; else some of it has yet to be read.
  var isWhole: Bool { get }
  /// Whether there is a feed of this name.
  func hasFeed(named name: String) -> Bool
  /// The page can be cut at once: no order has to be loaded or compared for it.
  func isAtHand(_ query: PageQuery) -> Bool
  /// A page of a feed without its posts. Where an order has yet to be loaded, and the store has gone on
  /// meanwhile, its version is a later one than the snapshot's.
  ///
  /// - Throws: `FeedError` for what the store does not have, and what the store says of itself.
  func cut(_ query: PageQuery) throws -> PageCut
}

/// Where network profiles and policies are kept, beside feeds.
public protocol PolicyStore: Sendable {
  /// The store as of its last refresh.
  ///
  /// - Throws: what the store throws where it has yet to be read.
  func snapshot() throws -> any StoreSnapshot
}
