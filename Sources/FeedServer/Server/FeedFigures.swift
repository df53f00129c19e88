import Catalog
import Feed
import Observability
import Synchronization

/// How many feeds there are, and how many items the largest of them have: as many as are told at the most,
/// however many there are. All of them are looked at again only when something has changed.
final class FeedFigures: Sendable {
  private struct Known {
    let version: StoreVersion
    let count: Int
    let largest: [FeedSummary]
  }

  private let store: any FeedStore
  private let limit: Int
  private let known = Mutex<Known?>(nil)

  init(of store: any FeedStore, limit: Int) {
    self.store = store
    self.limit = limit
  }

  func register(in registry: PrometheusRegistry) {
    registry.gauge("lookahead_feeds", help: "Feeds.") { self.look()?.count ?? 0 }
    registry.gauges("lookahead_feed_items", help: "Items of a feed: of the largest ones.") {
      (self.look()?.largest ?? []).map { ([("feed", $0.name)], $0.total) }
    }
  }

  /// What is so now; where the store cannot say, what was.
  private func look() -> Known? {
    // Asked for first: what changes meanwhile is looked at the next time.
    let version = store.version
    let last = known.withLock { $0 }
    if let last, last.version == version { return last }
    guard let feeds = try? store.feeds() else { return last }
    let bySize = feeds.sorted {
      ($1.total, ByteText($0.name)) < ($0.total, ByteText($1.name))
    }
    let found = Known(
      version: version, count: feeds.count, largest: Array(bySize.prefix(limit)))
    known.withLock { $0 = found }
    return found
  }
}
