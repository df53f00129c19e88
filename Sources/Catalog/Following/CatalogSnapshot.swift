import Feed
import Prefetch

/// What cuts pages out of a catalog, and reads what that does not hold.
protocol CatalogCutter: AnyObject, Sendable {
  func cut(_ query: PageQuery, from catalog: FeedCatalog) throws -> PageCut
}

extension CatalogFollower: CatalogCutter {}

/// A catalog as it was published: one object for all who read it.
final class PublishedCatalog: Sendable {
  let catalog: FeedCatalog
  init(_ catalog: FeedCatalog) { self.catalog = catalog }
}

/// The catalog that was published last, and who reads what it does not hold. Two references, so that a
/// request which takes one allocates nothing for it.
struct CatalogSnapshot: StoreSnapshot {
  let cutter: any CatalogCutter
  let published: PublishedCatalog

  var version: StoreVersion { published.catalog.version }
  var policyBook: PolicyBook { published.catalog.policyBook }
  var isWhole: Bool { published.catalog.isWhole }
  var feedCount: Int { published.catalog.feeds.count }
  var knownFeeds: [FeedSummary] { published.catalog.feeds.entries.compactMap(\.summary) }
  var orderMemory: OrderMemory {
    OrderMemory(
      feeds: published.catalog.feeds.heldCount, bytes: published.catalog.feeds.heldBytes)
  }
  func hasFeed(named name: String) -> Bool { published.catalog.feeds[name] != nil }
  func knownFeed(named name: String) -> FeedSummary? { published.catalog.feeds[name]?.summary }
  func knownFeeds(_ query: FeedListQuery) -> FeedListPage? { published.catalog.feeds.page(query) }
  func isAtHand(_ query: PageQuery) -> Bool { published.catalog.isAtHand(query) }
  func cutAtHand(_ query: PageQuery) throws -> PageCut? {
    try published.catalog.cutAtHand(query)
  }
  func cut(_ query: PageQuery) throws -> PageCut {
    try cutter.cut(query, from: published.catalog)
  }
}
