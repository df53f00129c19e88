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
  case item
  case networks
  case openAPI
  case health
  case readiness

  /// The path, as OpenAPI writes it.
  var path: String {
    switch self {
    case .compactPage: "/rp/"
    case .page: "/v1/feeds/{feed}/items"
    case .feeds: "/v1/feeds"
    case .feed: "/v1/feeds/{feed}"
    case .item: "/v1/items/{id}"
    case .networks: "/v1/networks"
    case .openAPI: "/openapi.json"
    case .health: "/healthz"
    case .readiness: "/readyz"
    }
  }

  /// The names of the query's parameters.
  var parameters: [String] {
    switch self {
    case .compactPage: ["feed"] + PageRequest.parameters
    case .page: PageRequest.parameters
    case .item: NetworkChoice.parameters
    case .networks: ["feed"]
    case .feeds, .feed, .openAPI, .health, .readiness: []
    }
  }

  /// Every route; all of them are read.
  static let router: Router<Route> = {
    var router = Router<Route>()
    for route in allCases { router.add(.get, route.path, route) }
    // A trailing slash is easily lost.
    router.add(.get, "/rp", .compactPage)
    return router
  }()
}
