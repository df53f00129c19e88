import Compression
import CoreMetrics
import struct Catalog.ImportSummary
import struct Feed.FeedSummary
import HTTP
import HTTPServer
import Observability
import Synchronization

/// What the application counts, through swift-metrics, and shows at `/metrics`.
final class ApplicationFigures: Sendable {
  let registry: PrometheusRegistry
  let reads: Timer
  let writes: Timer
  private let imported: [String: Counter]
  private let events: [ServerEvent: Counter]
  private let requests = Mutex<[RequestKey: RequestFigures]>([:])

  private struct RequestKey: Hashable {
    let route: String
    let method: Method?
    let status: Int
  }

  private struct RequestFigures {
    let count: Counter
    let sentBytes: Counter
    let duration: Timer
  }

  private static let helps = [
    "lookahead_http_requests_total": "Requests that were answered.",
    "lookahead_http_sent_bytes_total": "Bytes of answers that were handed to the system.",
    "lookahead_http_request_duration_seconds":
      "From a request's head to the last byte of its answer.",
    "lookahead_http_connections": "Connections that are served now.",
    "lookahead_http_connection_events_total": "What happened to connections.",
    "lookahead_encoded_bodies_hits_total": "Compressed bodies that were at hand.",
    "lookahead_encoded_bodies_misses_total": "Compressed bodies that were not.",
    "lookahead_encoded_bodies_evictions_total": "Compressed bodies that had to make room.",
    "lookahead_encoded_bodies_bytes": "Memory that compressed bodies take.",
    "lookahead_pages_hits_total": "Pages that were at hand whole.",
    "lookahead_pages_misses_total": "Pages that had to be made.",
    "lookahead_pages_evictions_total": "Pages that had to make room.",
    "lookahead_pages_bytes": "Memory that whole pages take.",
    "lookahead_item_file_bytes": "Length of the file of encoded items.",
    "lookahead_item_file_items": "Items that it holds.",
    "lookahead_item_file_hits_total": "Items of pages that were in it.",
    "lookahead_item_file_misses_total": "Items of pages that were not.",
    "lookahead_item_file_renewals_total": "Times that it was begun anew.",
    "lookahead_item_file_failures_total": "Times that it could not be written or read.",
    "lookahead_sqlite_read_seconds": "Reading the posts of a page or an item.",
    "lookahead_sqlite_write_seconds": "From a single write to its durable end.",
    "lookahead_feed_items": "Items of a feed.",
    "lookahead_imported_records_total": "Records of imports.",
    "lookahead_workers": "Requests that workers have, running or waiting.",
    "lookahead_log_dropped_lines_total": "Lines of the log for which there was no room.",
  ]

  init(registry: PrometheusRegistry) {
    self.registry = registry
    for (name, help) in Self.helps { registry.describe(name, help: help) }
    reads = Timer(label: "lookahead_sqlite_read_seconds", dimensions: [], factory: registry)
    writes = Timer(label: "lookahead_sqlite_write_seconds", dimensions: [], factory: registry)
    let outcomes = ["added", "changed", "unchanged", "refused"]
    imported = Dictionary(
      uniqueKeysWithValues: outcomes.map { outcome in
        let name = "lookahead_imported_records_total"
        return (
          outcome, Counter(label: name, dimensions: [("outcome", outcome)], factory: registry)
        )
      })
    events = Dictionary(
      uniqueKeysWithValues: ServerEvent.allCases.map { event in
        let name = "lookahead_http_connection_events_total"
        return (
          event, Counter(label: name, dimensions: [("event", event.rawValue)], factory: registry)
        )
      })
    ProcessFigures.register(in: registry)
  }

  func note(_ event: ServerEvent) { events[event]?.increment() }

  func note(_ request: FinishedRequest) {
    let key = RequestKey(
      route: request.route, method: request.method, status: request.status.code)
    let figures = requests.withLock { requests in
      if let known = requests[key] { return known }
      let new = make(key)
      requests[key] = new
      return new
    }
    figures.count.increment()
    figures.sentBytes.increment(by: request.bytes)
    figures.duration.recordMicroseconds(request.microseconds)
  }

  private func make(_ key: RequestKey) -> RequestFigures {
    let route = ("route", key.route.isEmpty ? "none" : key.route)
    return RequestFigures(
      count: Counter(
        label: "lookahead_http_requests_total",
        dimensions: [
          route, ("method", key.method?.rawValue ?? "none"), ("status", String(key.status)),
        ], factory: registry),
      sentBytes: Counter(
        label: "lookahead_http_sent_bytes_total", dimensions: [route], factory: registry),
      duration: Timer(
        label: "lookahead_http_request_duration_seconds", dimensions: [route], factory: registry))
  }

  func note(_ summary: ImportSummary, refused: Int) {
    imported["added"]?.increment(by: summary.added)
    imported["changed"]?.increment(by: summary.changed)
    imported["unchanged"]?.increment(by: summary.unchanged)
    imported["refused"]?.increment(by: refused)
  }

  /// The sizes of the feeds, as many as there are when somebody asks.
  func feeds(_ feeds: @escaping @Sendable () -> [FeedSummary]) {
    registry.onScrape { [registry] in
      for feed in feeds() {
        Meter(
          label: "lookahead_feed_items", dimensions: [("feed", feed.name)], factory: registry
        ).set(feed.total)
      }
    }
  }

  func response() -> Response {
    Response(
      .ok,
      fields: [
        "Content-Type": PrometheusRegistry.contentType, "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
      ], bytes: registry.text())
  }
}
