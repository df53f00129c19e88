import HTTP
import HTTPServer
import Page

/// The routes of the server. Each has a row in the table of routes, which declares everything about it.
enum Route: Int, CaseIterable, Sendable {
  /// A page, compact: `/rp/?feed=…`
  case compactPage
  /// The same page under its feed.
  case page
  case feeds
  case feed
  case putFeed
  case deleteFeed
  case events
  /// A page of a feed as a JSON Feed.
  case jsonFeed
  /// The same page as RSS.
  case rss
  case item
  /// An item's record as its writer sent it, in the form that `putItem` takes.
  case record
  /// All items, or those of a feed, page by page.
  case items
  /// What changed since a cursor.
  case changes
  /// The progress of each webhook.
  case webhooks
  /// A new item, with an id from the server.
  case postItem
  case putItem
  case patchItem
  case deleteItem
  case countItem
  case importRecords
  case plan
  /// Receives reports of clients.
  case reports
  /// Recent reports of clients, summed up.
  case live
  case networks
  /// Experiments on policies.
  case experiments
  case postExperiment
  case beginExperiment
  case deleteExperiment
  case media
  case putMedia
  case deleteMedia
  /// The media files, page by page.
  case mediaFiles
  /// A media file with a name from its content.
  case postMedia
  /// The media files for which smaller versions were requested.
  case renditions
  case postRendition
  /// The state of a resumable upload.
  case upload
  case appendUpload
  case cancelUpload
  /// The page for browsers; for clients that do not ask for HTML, links to the resources.
  case root
  /// The page's own files.
  case pageFile
  /// The client library for browsers.
  case clientModule
  case openAPI
  case health
  case readiness
  case metrics

  /// The table of routes.
  private var row: Row {
    switch self {
    case .compactPage:
      // Clients easily lose a trailing slash.
      Row(
        .get, "/rp/", alias: "/rp", parameters: ["feed"] + PageRequest.parameters, turn: .page
      ) { PageHandler(pages: $0.pages, isCompact: true) }
    case .page:
      Row(.get, "/v1/feeds/{feed}/items", parameters: PageRequest.parameters, turn: .page) {
        PageHandler(pages: $0.pages, isCompact: false)
      }
    case .feeds:
      Row(.get, "/v1/feeds", parameters: FeedListRequest.parameters) {
        FeedsHandler(store: $0.store, encoding: $0.encoding, caching: $0.caching.pages)
      }
    case .feed:
      Row(.get, "/v1/feeds/{feed}") {
        FeedHandler(store: $0.store, encoding: $0.encoding, caching: $0.caching.pages)
      }
    case .putFeed:
      Row(.put, "/v1/feeds/{feed}", for: .writers, body: .collected) {
        PutFeedHandler(writes: $0.writes)
      }
    case .deleteFeed:
      Row(.delete, "/v1/feeds/{feed}", for: .writers) { DeleteFeedHandler(writes: $0.writes) }
    case .events:
      Row(.get, "/v1/feeds/{feed}/events", parameters: ["before"]) {
        EventsHandler(events: $0.events, requests: $0.feedRequests)
      }
    case .jsonFeed:
      Row(
        .get, "/v1/feeds/{feed}/feed.json", parameters: SyndicationRequest.parameters,
        turn: .document
      ) { SyndicationHandler($0, .jsonFeed) }
    case .rss:
      Row(
        .get, "/v1/feeds/{feed}/feed.xml", parameters: SyndicationRequest.parameters,
        turn: .document
      ) { SyndicationHandler($0, .rss) }
    case .item:
      Row(.get, "/v1/items/{id}", parameters: ["feed"] + NetworkChoice.parameters) {
        ItemHandler(
          store: $0.store, encoding: $0.encoding, caching: $0.caching.pages, linking: $0.linking)
      }
    case .record:
      Row(.get, "/v1/items/{id}/record") {
        RecordHandler(store: $0.store, encoding: $0.encoding, caching: $0.caching.files)
      }
    case .items:
      Row(.get, "/v1/items", parameters: ItemListHandler.parameters, for: .writers) {
        ItemListHandler(store: $0.store, workers: $0.workers, encoding: $0.encoding)
      }
    case .changes:
      Row(.get, "/v1/changes", parameters: ChangesHandler.parameters, for: .writers) {
        ChangesHandler(store: $0.store, workers: $0.workers, encoding: $0.encoding)
      }
    case .webhooks:
      Row(.get, "/v1/webhooks", for: .writers) {
        WebhooksHandler(
          targets: $0.configuration.webhooks.targets, store: $0.store, workers: $0.workers)
      }
    case .postItem:
      Row(.post, "/v1/items", for: .writers, body: .collected) {
        PostItemHandler(writes: $0.writes)
      }
    case .putItem:
      Row(.put, "/v1/items/{id}", for: .writers, body: .collected) {
        PutItemHandler(writes: $0.writes)
      }
    case .patchItem:
      Row(.patch, "/v1/items/{id}", for: .writers, body: .collected) {
        PatchItemHandler(writes: $0.writes)
      }
    case .deleteItem:
      Row(.delete, "/v1/items/{id}", for: .writers) { DeleteItemHandler(writes: $0.writes) }
    case .countItem:
      Row(.post, "/v1/items/{id}/counters", for: .writers, body: .collected) {
        CountItemHandler(writes: $0.writes)
      }
    case .importRecords:
      Row(.post, "/v1/import", for: .writers, body: .streamed) {
        ImportHandler(
          store: $0.store, seeder: $0.configuration.seeder, imports: $0.imports,
          figures: $0.figures, logger: $0.logger)
      }
    case .plan:
      Row(.post, "/v1/plan", body: .collected, turn: .plan) {
        PlanHandler(
          store: $0.store, workers: $0.workers, figures: $0.figures, learner: $0.reports.learner,
          encoding: $0.encoding)
      }
    case .reports:
      Row(.post, "/v1/reports", parameters: ReportsHandler.parameters, body: .report) {
        ReportsHandler(
          store: $0.store, collector: $0.reports, tokens: $0.reportTokens, clients: $0.clients,
          rate: $0.configuration.reportRate, hour: $0.configuration.reportClock)
      }
    case .live:
      Row(.get, "/v1/live", parameters: LiveHandler.parameters) {
        LiveHandler(
          store: $0.store, settings: $0.configuration.reports, outcomes: $0.outcomes,
          workers: $0.workers, encoding: $0.encoding, hour: $0.configuration.reportClock)
      }
    case .networks:
      Row(.get, "/v1/networks", parameters: ["feed"]) {
        NetworksHandler(
          store: $0.store, outcomes: $0.outcomes, workers: $0.workers, encoding: $0.encoding,
          caching: $0.caching.pages)
      }
    case .experiments:
      Row(.get, "/v1/experiments") {
        ExperimentsHandler(
          store: $0.store, workers: $0.workers, encoding: $0.encoding,
          hour: $0.configuration.reportClock)
      }
    case .postExperiment:
      Row(.post, "/v1/experiments", for: .writers, body: .collected) {
        PostExperimentHandler(store: $0.store, workers: $0.workers, logger: $0.logger)
      }
    case .beginExperiment:
      Row(.post, "/v1/experiments/{experiment}", for: .writers) {
        BeginExperimentHandler(store: $0.store, workers: $0.workers, logger: $0.logger)
      }
    case .deleteExperiment:
      Row(.delete, "/v1/experiments/{experiment}", for: .writers) {
        DeleteExperimentHandler(store: $0.store, workers: $0.workers, logger: $0.logger)
      }
    case .media:
      Row(.get, "/media/{path...}", parameters: MediaQuery.parameters) {
        MediaHandler(media: $0.media, logger: $0.logger)
      }
    case .putMedia:
      Row(
        .put, "/media/{path...}", parameters: ["faststart"], for: .writers, body: .upload
      ) { WriteMediaHandler($0) }
    case .deleteMedia:
      Row(.delete, "/media/{path...}", parameters: ["force"], for: .writers) {
        DeleteMediaHandler(uploads: $0.uploads, logger: $0.logger)
      }
    case .mediaFiles:
      Row(.get, "/v1/media", parameters: MediaListHandler.parameters, for: .writers) {
        MediaListHandler(
          media: $0.media, store: $0.store, linking: $0.linking, workers: $0.workers,
          encoding: $0.encoding)
      }
    case .postMedia:
      Row(.post, "/v1/media", parameters: ["faststart"], for: .writers, body: .upload) {
        WriteMediaHandler($0)
      }
    case .renditions:
      Row(.get, "/v1/renditions", for: .writers) {
        RenditionsHandler(renditions: $0.renditions, workers: $0.workers)
      }
    case .postRendition:
      Row(
        .post, "/v1/renditions", parameters: PostRenditionHandler.parameters, for: .writers
      ) {
        PostRenditionHandler(renditions: $0.renditions, media: $0.media, workers: $0.workers)
      }
    case .upload:
      Row(.get, "/v1/uploads/{upload}", for: .writers) { UploadStateHandler(uploads: $0.resumable) }
    case .appendUpload:
      Row(.patch, "/v1/uploads/{upload}", for: .writers, body: .upload) {
        AppendUploadHandler(uploads: $0.resumable, writing: WriteMediaHandler($0))
      }
    case .cancelUpload:
      Row(.delete, "/v1/uploads/{upload}", for: .writers) {
        CancelUploadHandler(uploads: $0.resumable)
      }
    case .root:
      Row(.get, "/") {
        RootHandler(
          hasPage: $0.configuration.hasPage, hasLabReport: $0.configuration.labReport != nil,
          encoding: $0.encoding, caching: $0.caching.files)
      }
    case .pageFile:
      Row(.get, "/page/{file}") {
        PageFileHandler(
          hasPage: $0.configuration.hasPage,
          labReport: $0.configuration.labReport.map(LabReportFile.init), workers: $0.workers,
          encoding: $0.encoding, caching: $0.caching.files)
      }
    case .clientModule:
      Row(.get, "/lookahead.js") { parts in
        DocumentHandler(parts.encoding) { Representation(.module, caching: parts.caching.files) }
      }
    case .openAPI:
      Row(.get, "/openapi.json") { parts in
        DocumentHandler(parts.encoding) {
          Representation(OpenAPI.document, caching: parts.caching.documents)
        }
      }
    case .health:
      Row(.get, "/healthz", for: .watchers) {
        DocumentHandler($0.encoding) {
          Representation(Array(#"{"status":"ok"}"#.utf8), caching: .none)
        }
      }
    case .readiness:
      Row(.get, "/readyz", for: .watchers) {
        DocumentHandler($0.encoding, $0.readiness.representation)
      }
    case .metrics:
      Row(.get, "/metrics", for: .watchers) {
        MetricsHandler(figures: $0.figures, scrapes: $0.scrapes)
      }
    }
  }
}

// MARK: Rows

extension Route {
  /// The clients for which a route is meant.
  enum Audience: Sendable {
    case readers
    /// Clients with a token, which change the database or read what no page shows.
    case writers
    /// Monitoring, which has no rate limit.
    case watchers
  }

  /// What a route does with the body of a request.
  enum Body: Sendable {
    case none
    /// The server collects it, and then calls the handler.
    case collected
    /// The server collects a report: smaller, and not read if the server accepts no reports.
    case report
    /// The handler reads records while they arrive.
    case streamed
    /// The handler, an `UploadHandler`, reads a file while it arrives.
    case upload
  }

  private struct Row: Sendable {
    let method: Method
    /// The path with the names of its parameters, as `Router` reads it.
    let pattern: String
    let path: String
    let alias: String?
    let parameters: [String]
    let audience: Audience
    let body: Body
    let turn: RequestWorkers.Kind
    let handler: @Sendable (HandlerParts) -> any RouteHandler

    /// - Parameters:
    ///   - alias: another path of the same route.
    ///   - parameters: the names of the query's parameters.
    ///   - turn: the kind of requests with which the route's requests take turns while they wait for a
    ///     worker.
    ///   - handler: makes the route's handler.
    init(
      _ method: Method, _ pattern: String, alias: String? = nil, parameters: [String] = [],
      for audience: Audience = .readers, body: Body = .none, turn: RequestWorkers.Kind = .other,
      handler: @escaping @Sendable (HandlerParts) -> any RouteHandler
    ) {
      self.method = method
      self.pattern = pattern
      path = pattern.replacing("...}", with: "}")
      self.alias = alias
      self.parameters = parameters
      self.audience = audience
      self.body = body
      self.turn = turn
      self.handler = handler
    }
  }

  private static let table = allCases.map(\.row)

  /// The method; a route for GET answers HEAD, too.
  var method: Method { Self.table[rawValue].method }
  /// The path, in OpenAPI's form.
  var path: String { Self.table[rawValue].path }
  /// The names of the query's parameters.
  var parameters: [String] { Self.table[rawValue].parameters }
  var body: Body { Self.table[rawValue].body }
  /// The kind of requests with which its own take turns.
  var turn: RequestWorkers.Kind { Self.table[rawValue].turn }
  /// Whether it needs a token.
  var isWrite: Bool { Self.table[rawValue].audience == .writers }
  /// Whether the route is for monitoring, which has no rate limit.
  var isForWatchers: Bool { Self.table[rawValue].audience == .watchers }

  /// Creates the router to the endpoints, with handlers made from these parts.
  static func router(_ parts: HandlerParts) -> Router<Endpoint> {
    var router = Router<Endpoint>()
    for (route, row) in zip(allCases, table) {
      let endpoint = Endpoint(route, row.handler(parts))
      router.add(row.method, row.pattern, endpoint)
      if let alias = row.alias { router.add(row.method, alias, endpoint) }
    }
    return router
  }
}

/// A route with the handler that answers it.
///
/// An object: each request takes a reference to it.
final class Endpoint: Sendable {
  let route: Route
  let handler: any RouteHandler

  init(_ route: Route, _ handler: any RouteHandler) {
    self.route = route
    self.handler = handler
  }
}

/// Answers the requests of a route; a value with everything that it needs.
protocol RouteHandler: Sendable {
  /// Answers the call once, now or later.
  ///
  /// - Throws: the reason why it cannot answer; the application answers with the error's `Problem`.
  func answer(_ call: Call) throws
}
