import Feed
import Prefetch

/// The catalog that was published last, and the store that reads what it does not hold.
struct CatalogSnapshot: StoreSnapshot {
  let store: SQLiteStore
  let catalog: Catalog

  var version: StoreVersion { catalog.version }
  var policyBook: PolicyBook { catalog.policyBook }
  func feed(named name: String) -> FeedSummary? { catalog.feeds[name]?.summary }
  func isAtHand(_ query: PageQuery) -> Bool { catalog.isAtHand(query) }
  func cut(_ query: PageQuery) throws -> PageCut { try store.cut(query, from: catalog) }
}

extension SQLiteStore {
  /// The store as of the last refresh: taking it costs a lock for the time of a copy.
  ///
  /// - Throws: `StoreError` where the catalog has yet to be read.
  public func snapshot() throws -> any StoreSnapshot {
    CatalogSnapshot(store: self, catalog: try tops())
  }
}
