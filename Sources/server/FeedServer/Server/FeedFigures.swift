import Catalog
import Feed
import Observability
import Synchronization

/// The number of feeds, and the numbers of items of the largest feeds whose orders were read, up to a limit.
/// Looks at all feeds again only when something has changed.
final class FeedFigures: Sendable {
  private struct Known {
    let version: StoreVersion
    let count: Int
    let largest: [FeedSummary]
  }

  private let store: any PolicyStore
  private let limit: Int
  private let known = Mutex<Known?>(nil)

  init(of store: any PolicyStore, limit: Int) {
    self.store = store
    self.limit = limit
  }

  func register(in registry: PrometheusRegistry) {
    registry.gauge("lookahead_feeds", help: "Feeds.") { self.look()?.count ?? 0 }
    registry.gauge(
      "lookahead_orders_in_memory", help: "Feeds whose order is in memory."
    ) { (try? self.store.snapshot().orderMemory.feeds) ?? 0 }
    registry.gauge(
      "lookahead_order_memory_bytes", help: "Approximate memory of all feeds and their orders."
    ) { (try? self.store.snapshot().orderMemory.bytes) ?? 0 }
    registry.gauges("lookahead_feed_items", help: "Items of a feed; the largest feeds only.") {
      (self.look()?.largest ?? []).map { ([("feed", $0.name)], $0.total) }
    }
  }

  /// The current figures; the previous ones if the store fails.
  private func look() -> Known? {
    let last = known.withLock { $0 }
    guard let snapshot = try? store.snapshot() else { return last }
    let version = snapshot.version
    if let last, last.version == version { return last }
    let bySize = snapshot.knownFeeds.sorted {
      ($1.total, ByteText($0.name)) < ($0.total, ByteText($1.name))
    }
    let found = Known(
      version: version, count: snapshot.feedCount, largest: Array(bySize.prefix(limit)))
    known.withLock { $0 = found }
    return found
  }
}
