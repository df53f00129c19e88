import Catalog
import Feed
import Observability

/// How many feeds there are, and how many items the largest of them have: as many as are told at the most,
/// however many there are.
struct FeedFigures: Sendable {
  private let store: any FeedStore
  private let limit: Int

  init(of store: any FeedStore, limit: Int) {
    self.store = store
    self.limit = limit
  }

  func register(in registry: PrometheusRegistry) {
    let (store, limit) = (store, limit)
    registry.gauge("lookahead_feeds", help: "Feeds.") { (try? store.feeds().count) ?? 0 }
    registry.gauges("lookahead_feed_items", help: "Items of a feed: of the largest ones.") {
      guard limit > 0, let feeds = try? store.feeds() else { return [] }
      return Self.largest(limit, of: feeds).map { ([("feed", $0.name)], $0.total) }
    }
  }

  /// The largest so many feeds; of those that are as large, the first by name.
  static func largest(_ count: Int, of feeds: [FeedSummary]) -> [FeedSummary] {
    let byName = feeds.sorted {
      ($1.total, ByteText($0.name)) < ($0.total, ByteText($1.name))
    }
    return Array(byName.prefix(count))
  }
}
