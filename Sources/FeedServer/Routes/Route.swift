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
  /// A page of a feed as a JSON Feed.
  case jsonFeed
  /// The same as RSS.
  case rss
  case events
  case item
  case putItem
  case deleteItem
  case countItem
  case importRecords
  case plan
  case networks
  case media
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
    case .compactPage, .page, .feeds, .feed, .jsonFeed, .rss, .events, .item, .networks, .media,
      .openAPI, .health,
      .readiness, .metrics:
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
    case .jsonFeed: "/v1/feeds/{feed}/feed.json"
    case .rss: "/v1/feeds/{feed}/feed.xml"
    case .events: "/v1/feeds/{feed}/events"
    case .item, .putItem, .deleteItem: "/v1/items/{id}"
    case .countItem: "/v1/items/{id}/counters"
    case .importRecords: "/v1/import"
    case .plan: "/v1/plan"
    case .networks: "/v1/networks"
    case .media: "/media/{path}"
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
    case .feed, .putFeed, .deleteFeed, .putItem, .deleteItem, .countItem, .importRecords,
      .plan, .openAPI, .health, .readiness, .metrics:
      []
    }
  }

  private static let itemParameters = ["feed"] + NetworkChoice.parameters
  private static let compactPageParameters = ["feed"] + PageRequest.parameters

  /// Whether it changes the database, and so needs the token.
  var isWrite: Bool { method != .get && self != .plan }

  /// Whether whoever watches over the server asks it, who is never held up by a rate.
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
