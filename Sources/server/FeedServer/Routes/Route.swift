import HTTP
import HTTPServer

/// What the server answers.
enum Route: CaseIterable, Sendable {
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
  /// The same as RSS.
  case rss
  case item
  /// What an item's writer said of it: what `putItem` takes.
  case record
  case putItem
  case deleteItem
  case countItem
  case importRecords
  case plan
  case networks
  case media
  /// The page for browsers; for clients that ask for no HTML, links to the resources.
  case root
  /// The page's own files.
  case pageFile
  /// The client library for browsers.
  case clientModule
  case openAPI
  case health
  case readiness
  case metrics

  /// The method; a route for GET answers HEAD, too.
  var method: Method {
    switch self {
    case .putItem, .putFeed: .put
    case .deleteItem, .deleteFeed: .delete
    case .countItem, .importRecords, .plan: .post
    case .compactPage, .page, .feeds, .feed, .events, .jsonFeed, .rss, .item, .record, .networks,
      .media, .root, .pageFile, .clientModule, .openAPI, .health, .readiness, .metrics:
      .get
    }
  }

  /// The path, as OpenAPI writes it.
  var path: String {
    switch self {
    case .compactPage: "/rp/"
    case .page: "/v1/feeds/{feed}/items"
    case .feeds: "/v1/feeds"
    case .feed, .putFeed, .deleteFeed: "/v1/feeds/{feed}"
    case .events: "/v1/feeds/{feed}/events"
    case .jsonFeed: "/v1/feeds/{feed}/feed.json"
    case .rss: "/v1/feeds/{feed}/feed.xml"
    case .item, .putItem, .deleteItem: "/v1/items/{id}"
    case .record: "/v1/items/{id}/record"
    case .countItem: "/v1/items/{id}/counters"
    case .importRecords: "/v1/import"
    case .plan: "/v1/plan"
    case .networks: "/v1/networks"
    case .media: "/media/{path}"
    case .root: "/"
    case .pageFile: "/page/{file}"
    case .clientModule: "/lookahead.js"
    case .openAPI: "/openapi.json"
    case .health: "/healthz"
    case .readiness: "/readyz"
    case .metrics: "/metrics"
    }
  }

  /// The names of the query's parameters.
  var parameters: [String] {
    switch self {
    case .compactPage: Self.compactPageParameters
    case .page: PageRequest.parameters
    case .item: Self.itemParameters
    case .networks: ["feed"]
    case .events: ["before"]
    case .feeds: FeedListRequest.parameters
    case .jsonFeed, .rss: SyndicationRequest.parameters
    case .media: MediaQuery.parameters
    case .feed, .putFeed, .deleteFeed, .record, .putItem, .deleteItem, .countItem, .importRecords,
      .plan, .root, .pageFile, .clientModule, .openAPI, .health, .readiness, .metrics:
      []
    }
  }

  private static let itemParameters = ["feed"] + NetworkChoice.parameters
  private static let compactPageParameters = ["feed"] + PageRequest.parameters

  /// Whether it changes the database, and so needs the token.
  var isWrite: Bool { method != .get && self != .plan }

  /// Whether the route is for monitoring, which no rate limits.
  var isForWatchers: Bool {
    switch self {
    case .health, .readiness, .metrics: true
    default: false
    }
  }

  static let router: Router<Route> = {
    var router = Router<Route>()
    for route in allCases {
      let pattern = route == .media ? "/media/{path...}" : route.path
      router.add(route.method, pattern, route)
    }
    // A trailing slash is easily lost.
    router.add(.get, "/rp", .compactPage)
    return router
  }()
}
