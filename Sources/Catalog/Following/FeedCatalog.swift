import Feed
import Prefetch

/// A feed as its store has it, but for its entries.
public struct FeedState: Equatable, Sendable {
  /// The store's own number of the feed, which no other gets.
  public let id: Int64
  /// What paths and `feed=` call it.
  @ByBytes public private(set) var name: String
  /// What people call it; `nil` where no record said.
  @ByBytes public private(set) var title: String?
  /// The current ranking.
  public let ranking: Int
  /// The first ranking that is still kept.
  public let oldestRanking: Int

  /// A feed with these values.
  public init(id: Int64, name: String, title: String?, ranking: Int, oldestRanking: Int) {
    self.id = id
    self.name = name
    self.title = title
    self.ranking = ranking
    self.oldestRanking = oldestRanking
  }
}

/// What readers hold in memory of a store as it was at one moment: the order of every feed, the network
/// profiles and the policies.
public struct FeedCatalog: Sendable {
  /// A feed, its store's number of it, and what lists say of it. An object, so that whoever looks a feed up
  /// copies nothing.
  public final class Entry: Sendable {
    /// The store's number of the feed.
    public let feedID: Int64
    /// The feed's order.
    public let order: FeedOrder
    /// What lists say of it; `nil` as long as nothing of its order is read.
    public let summary: FeedSummary?

    init(feedID: Int64, order: FeedOrder) {
      self.feedID = feedID
      self.order = order
      summary = order.orders[order.ranking].map {
        FeedSummary(
          name: order.name, title: order.title, total: $0.count, ranking: order.ranking,
          newestPublishedAt: $0.newestPublishedAt)
      }
    }

    /// All of its current order is there.
    var isWhole: Bool { order.orders[order.ranking]?.isWhole ?? false }

    var state: FeedState {
      FeedState(
        id: feedID, name: order.name, title: order.title, ranking: order.ranking,
        oldestRanking: order.oldestRanking)
    }
  }

  /// Every order is there; else the tops of some.
  public let isWhole: Bool
  /// As of when it is.
  public internal(set) var version = StoreVersion.start
  /// The feeds.
  public internal(set) var feeds = FeedList()
  /// The profiles and policies in force.
  public internal(set) var policyBook = PolicyBook(networks: [], policies: [:])

  init(isWhole: Bool) {
    self.isWhole = isWhole
  }
}
