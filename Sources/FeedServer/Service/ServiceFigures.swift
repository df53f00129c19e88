import Compression
import CoreMetrics
import struct Feed.FeedSummary
import struct Feed.ImportSummary
import HTTP
import HTTPServer
import Observability
import Synchronization

/// What the service counts, through swift-metrics, and shows at `/metrics`.
final class ServiceFigures: Sendable {
  let registry: PrometheusRegistry
  let reads: Timer
  let writes: Timer
  let refreshes: Counter
  let failedRefreshes: Counter
  private let checkpoints: [LogKeeper.Outcome: Counter]
  private let backups: [BackupKeeper.Outcome: Counter]
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
    "lookahead_sqlite_refreshes_total": "Looks at what other processes wrote.",
    "lookahead_sqlite_failed_refreshes_total": "Those that failed.",
    "lookahead_sqlite_file_bytes": "Size of the database's files.",
    "lookahead_sqlite_checkpoints_total":
      "Write-ahead logs that were brought in and cut, or could not be.",
    "lookahead_backups_total": "Scheduled backups.",
    "lookahead_backup_timestamp_seconds": "When the newest backup was made; 0: there is none.",
    "lookahead_backup_bytes": "Size of the newest backup.",
    "lookahead_backup_duration_seconds": "How long it took to make it.",
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
    refreshes = Counter(label: "lookahead_sqlite_refreshes_total", factory: registry)
    failedRefreshes = Counter(label: "lookahead_sqlite_failed_refreshes_total", factory: registry)
    checkpoints = Self.counters("lookahead_sqlite_checkpoints_total", registry)
    backups = Self.counters("lookahead_backups_total", registry)
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

  /// A counter for each outcome that there may be.
  private static func counters<Outcome: CaseIterable & RawRepresentable & Hashable>(
    _ name: String, _ registry: PrometheusRegistry
  ) -> [Outcome: Counter] where Outcome.RawValue == String {
    Dictionary(
      uniqueKeysWithValues: Outcome.allCases.map { outcome in
        (
          outcome,
          Counter(label: name, dimensions: [("outcome", outcome.rawValue)], factory: registry)
        )
      })
  }

  @Sendable func note(_ outcome: LogKeeper.Outcome) { checkpoints[outcome]?.increment() }

  @Sendable func note(_ outcome: BackupKeeper.Outcome) { backups[outcome]?.increment() }

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

  /// A gauge that is read when somebody asks.
  func gauge(
    _ name: String, _ dimensions: [(String, String)] = [], _ value: @escaping @Sendable () -> Int
  ) {
    let meter = Meter(label: name, dimensions: dimensions, factory: registry)
    registry.onScrape { meter.set(value()) }
  }

  /// A total that something else counts.
  func total(_ name: String, _ value: @escaping @Sendable () -> Int) {
    let counter = registry.counter(name)
    registry.onScrape { counter.set(Double(value())) }
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
