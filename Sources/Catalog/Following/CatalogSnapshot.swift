import Feed
import Prefetch

/// What cuts pages out of a catalog, and reads what that does not hold.
protocol CatalogCutter: Sendable {
  func cut(_ query: PageQuery, from catalog: FeedCatalog) throws -> PageCut
}

extension CatalogFollower: CatalogCutter {}

/// The catalog that was published last, and who reads what it does not hold.
struct CatalogSnapshot: StoreSnapshot {
  let cutter: any CatalogCutter
  let catalog: FeedCatalog

  var version: StoreVersion { catalog.version }
  var policyBook: PolicyBook { catalog.policyBook }
  var isWhole: Bool { catalog.isWhole }
  func hasFeed(named name: String) -> Bool { catalog.feeds[name] != nil }
  func isAtHand(_ query: PageQuery) -> Bool { catalog.isAtHand(query) }
  func cut(_ query: PageQuery) throws -> PageCut { try cutter.cut(query, from: catalog) }
}
