import Compression
import CoreMetrics
import HTTP
import HTTPServer
import Observability
import Synchronization
import System
import struct Catalog.ImportSummary

/// The figures of the application, counted through swift-metrics, and shown at `/metrics`.
final class ApplicationFigures: Sendable {
  let registry: PrometheusRegistry
  let reads: Timer
  let writes: Timer
  private let imported: [RecordOutcome: Counter]
  private let events: [ServerEvent: Counter]
  private let requests = Mutex(KnownRequests())

  /// The result for a record.
  private enum RecordOutcome: String, CaseIterable {
    case added, changed, unchanged, refused
  }

  private struct RequestKey: Hashable {
    let route: String
    let method: Method?
    let status: Int
  }

  private final class RequestFigures: Sendable {
    let count: Counter
    let sentBytes: Counter
    let duration: Timer

    init(count: Counter, sentBytes: Counter, duration: Timer) {
      self.count = count
      self.sentBytes = sentBytes
      self.duration = duration
    }

    func note(_ request: FinishedRequest) {
      count.increment()
      sentBytes.increment(by: request.bytes)
      duration.recordMicroseconds(request.microseconds)
    }
  }

  private struct KnownRequests {
    var figures: [RequestKey: RequestFigures] = [:]
    /// The figures of the last request: the next one is usually of the same kind, and needs no hash.
    var last: (key: RequestKey, figures: RequestFigures)?
  }

  private static let helps = [
    "lookahead_http_requests_total": "Answered requests.",
    "lookahead_http_sent_bytes_total": "Bytes of answers passed to the operating system.",
    "lookahead_http_request_duration_seconds":
      "Time from a request's head to the last byte of its answer.",
    "lookahead_plan_items_total": "Viewed items, according to states sent to /v1/plan.",
    "lookahead_plan_loaders_total": "Of these, items whose start was not loaded.",
    "lookahead_sqlite_read_seconds": "Time to read the posts of a page or an item.",
    "lookahead_sqlite_write_seconds": "Time from a single write to its durable commit.",
  ]

  init(registry: PrometheusRegistry) {
    self.registry = registry
    for (name, help) in Self.helps { registry.describe(name, help: help) }
    reads = Timer(label: "lookahead_sqlite_read_seconds", dimensions: [], factory: registry)
    writes = Timer(label: "lookahead_sqlite_write_seconds", dimensions: [], factory: registry)
    imported = registry.counters(
      "lookahead_imported_records_total", help: "Records of imports.", of: RecordOutcome.self)
    events = registry.counters(
      "lookahead_http_connection_events_total", help: "Connections by event.",
      of: ServerEvent.self, label: "event")
    ProcessFigures.register(in: registry)
  }

  func note(_ event: ServerEvent) { events[event]?.increment() }

  func note(_ request: FinishedRequest) {
    let key = RequestKey(
      route: request.route, method: request.method, status: request.status.code)
    let figures = requests.withLock { known in
      if let last = known.last, last.key == key { return last.figures }
      let figures = known.figures[key] ?? add(key, to: &known)
      known.last = (key, figures)
      return figures
    }
    figures.note(request)
  }

  private func add(_ key: RequestKey, to known: inout KnownRequests) -> RequestFigures {
    let route = ("route", key.route.isEmpty ? "none" : key.route)
    let figures = RequestFigures(
      count: Counter(
        label: "lookahead_http_requests_total",
        dimensions: [
          route, ("method", key.method?.rawValue ?? "none"), ("status", String(key.status)),
        ], factory: registry),
      sentBytes: Counter(
        label: "lookahead_http_sent_bytes_total", dimensions: [route], factory: registry),
      duration: Timer(
        label: "lookahead_http_request_duration_seconds", dimensions: [route], factory: registry))
    known.figures[key] = figures
    return figures
  }

  /// Counts an item that a user has come to; there are only a few strategies.
  func notePlan(strategy: String, imageLoader: Bool, videoLoader: Bool) {
    func count(_ name: String, _ labels: [(String, String)], _ number: Int) {
      Counter(label: name, dimensions: [("strategy", strategy)] + labels, factory: registry)
        .increment(by: number)
    }
    count("lookahead_plan_items_total", [], 1)
    count("lookahead_plan_loaders_total", [("kind", "image")], imageLoader ? 1 : 0)
    count("lookahead_plan_loaders_total", [("kind", "video")], videoLoader ? 1 : 0)
  }

  func note(_ summary: ImportSummary, refused: Int) {
    imported[.added]?.increment(by: summary.added)
    imported[.changed]?.increment(by: summary.changed)
    imported[.unchanged]?.increment(by: summary.unchanged)
    imported[.refused]?.increment(by: refused)
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

/// Counts what the server does, and logs each request.
///
/// An object: each answer takes a reference to it.
final class ApplicationObserver: ServerObserver {
  private let figures: ApplicationFigures
  /// `nil` for no log.
  private let log: LogSink?
  private let clients: ClientAddresses

  /// - Parameter log: the target of the request log; `nil` for no log.
  init(figures: ApplicationFigures, log: LogSink?, clients: ClientAddresses) {
    self.figures = figures
    self.log = log
    self.clients = clients
  }

  func noted(_ event: ServerEvent) { figures.note(event) }

  func finished(_ request: FinishedRequest) {
    figures.note(request)
    guard let log else { return }
    let client = clients.address(forwardedFor: request.forwardedFor, peer: request.peer)
    log.append(
      RequestLine(
        method: request.method?.rawValue ?? "-", path: request.path, route: request.route,
        status: request.status.code, bytes: request.bytes, microseconds: request.microseconds,
        requestID: request.requestID, client: client?.description ?? "-", user: request.user),
      nanosecondsSince1970: WallClock.exactNow.nanosecondsSince1970)
  }
}

extension EncodedBodies {
  func register(in registry: PrometheusRegistry) {
    registry.gauge(
      "lookahead_encoded_bodies_bytes", help: "Memory of the cache of compressed bodies."
    ) { self.figures.bytes }
    registry.total(
      "lookahead_encoded_bodies_hits_total", help: "Hits of the cache of compressed bodies."
    ) { self.figures.hits }
    registry.total(
      "lookahead_encoded_bodies_misses_total", help: "Misses of the cache of compressed bodies."
    ) { self.figures.misses }
    registry.total(
      "lookahead_encoded_bodies_evictions_total",
      help: "Evictions from the cache of compressed bodies."
    ) { self.figures.evictions }
  }
}

extension KeptPages {
  func register(in registry: PrometheusRegistry) {
    registry.gauge("lookahead_pages_bytes", help: "Memory of the cache of whole pages.") {
      self.figures.bytes
    }
    registry.total("lookahead_pages_hits_total", help: "Hits of the cache of whole pages.") {
      self.figures.hits
    }
    registry.total("lookahead_pages_misses_total", help: "Misses of the cache of whole pages.") {
      self.figures.misses
    }
    registry.total(
      "lookahead_pages_evictions_total", help: "Evictions from the cache of whole pages."
    ) {
      self.figures.evictions
    }
  }
}

extension ItemFile {
  func register(in registry: PrometheusRegistry) {
    registry.gauge("lookahead_item_file_bytes", help: "Length of the file of encoded items.") {
      self.figures.bytes
    }
    registry.gauge("lookahead_item_file_items", help: "Items in the file of encoded items.") {
      self.figures.items
    }
    registry.total(
      "lookahead_item_file_hits_total", help: "Items of pages found in the file of encoded items."
    ) {
      self.figures.hits
    }
    registry.total(
      "lookahead_item_file_misses_total",
      help: "Items of pages not found in the file of encoded items."
    ) {
      self.figures.misses
    }
    registry.total(
      "lookahead_item_file_renewals_total",
      help: "Times that the file of encoded items was restarted."
    ) {
      self.figures.renewals
    }
    registry.total(
      "lookahead_item_file_failures_total",
      help: "Failed writes and reads of the file of encoded items."
    ) { self.figures.failures }
  }
}
