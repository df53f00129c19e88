import MediaFiles
import ObjectStorage
import Observability

extension MediaBucket {
  /// Registers the figures of requests to the object store.
  func register(in registry: PrometheusRegistry) {
    let stores = [reading, writing]
    registry.totals(
      "lookahead_media_store_requests_total",
      help: "Requests to the object store of the media files, retries included."
    ) {
      ObjectCounts.Kind.allCases.flatMap { kind in
        ObjectCounts.Outcome.allCases.map { outcome in
          (
            [("kind", kind.rawValue), ("outcome", outcome.rawValue)],
            stores.reduce(0) { $0 + $1.counts.count(of: kind, outcome) }
          )
        }
      }
    }
    registry.total(
      "lookahead_media_store_received_bytes_total", help: "Bytes received from the object store."
    ) { stores.reduce(0) { $0 + $1.counts.receivedBytes } }
    registry.total(
      "lookahead_media_store_sent_bytes_total", help: "Bytes sent to the object store."
    ) { stores.reduce(0) { $0 + $1.counts.sentBytes } }
    registry.gauge(
      "lookahead_media_store_connections", help: "Requests to the object store in flight."
    ) { stores.reduce(0) { $0 + $1.busyCount } }
  }
}
