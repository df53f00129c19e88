import Compression
import Catalog
import Feed
import HTTP
import HTTPServer
import Logging
import Prefetch
import Seeding
import System

/// Answers requests from a store: the way from a route to bytes.
///
/// What is in memory or one look at the file away is answered on the event loop that asks; what takes
/// longer goes to the worker pool, writes go to the store's writer, and imports to threads of their
/// own.
struct Application: Handler {
  let store: any FeedStore & PolicyStore
  let readiness: Readiness
  let workers: WorkerPool
  let imports: WorkerPool
  /// Reads figures: what is told of feeds grows with their number, and is asked for when all else is busy.
  let scrapes = WorkerPool(threads: 1, limit: 8)
  let caching: CachePolicy
  /// How clients reach the server; nil where each request says so.
  let publicURL: String?
  let encoding: BodyEncoding
  let pages: Pages
  let media: MediaFolder?
  let linking: MediaLinking
  let access: WriteAccess
  let rate: RequestRate?
  let clients: ClientAddresses
  let figures: ApplicationFigures
  let seeder: Seeder
  let bodyLimits: BodyLimits
  let logger: Logger

  /// How large a body may be.
  struct BodyLimits: Sendable {
    let bodyBytes: Int
    let importBytes: Int
  }

  /// Only whoever may write has a body read, but for a state that is asked about.
  func bodyPolicy(for request: Request) -> BodyPolicy {
    guard case .found(let route, _) = Route.router.match(request.method, path: request.path) else {
      return .discard
    }
    if route == .plan { return .collect(maximumBytes: bodyLimits.bodyBytes) }
    guard route.isWrite, (try? access.check(request.fields)) != nil
    else { return .discard }
    switch route {
    case .importRecords:
      let isReadable = (try? BodyType.records.check(request.fields)) != nil
      return isReadable ? .stream(maximumBytes: bodyLimits.importBytes) : .discard
    case .putItem, .countItem, .putFeed:
      return .collect(maximumBytes: bodyLimits.bodyBytes)
    default: return .discard
    }
  }

  func response(to error: ProtocolError, requestID: String) -> Response {
    Problem(error).response(requestID: requestID)
  }

  func handle(_ request: Request, _ responder: Responder) {
    let text = RequestText(request, expires: linking.links.expires)
    if answerKeptPage(request, text, responder) { return }
    let match = Route.router.match(request.method, path: request.path)
    var route: Route?
    if case .found(let found, _) = match { route = found }
    let call = Call(
      request: request, text: text, responder: responder, route: route,
      timing: .asked(by: request.fields),
      logger: logger)
    do {
      if route?.isForWatchers != true { try admit(request, responder) }
      switch match {
      case .found(let route, let path):
        try begin(route, path, try Parameters(request, known: route.parameters), call)
      case .notFound where request.path == "*":
        call.respond(Self.options(request, allowed: Route.router.methods))
      case .notFound:
        throw Problem(.unknownRoute, .notFound, "There is no route \(request.path).")
      case .malformedPath(let error):
        throw error
      case .methodNotAllowed(let allowed):
        guard request.method == .options else {
          throw Problem.methodNotAllowed(request.method, request.path, allowed: allowed)
        }
        call.respond(Self.options(request, allowed: allowed))
      }
    } catch {
      call.refuse(error)
    }
  }

  /// Counts the client's request, where there is a rate.
  ///
  /// - Throws: `Problem` 429.
  func admit(_ request: Request, _ responder: Responder) throws {
    guard let rate else { return }
    try rate.admit(clients.address(request.fields, peer: responder.peer))
  }

  private func begin(
    _ route: Route, _ path: [String: String], _ parameters: Parameters, _ call: Call
  ) throws {
    switch route {
    case .compactPage, .page:
      guard let feed = path["feed"] ?? parameters["feed"] else {
        throw ParameterError(parameter: "feed", problem: "is missing: it names the feed to read")
      }
      try pages.answer(feed: feed, parameters, call)
    case .item: try item(path["id"] ?? "", parameters, call)
    case .networks: encoding.answer(try networks(feed: parameters["feed"]), to: call)
    case .feeds: try feeds(parameters, call)
    case .feed: try feed(path["feed"] ?? "", call)
    case .jsonFeed, .rss: try syndicate(path["feed"] ?? "", route, parameters, call)
    case .openAPI:
      encoding.answer(Representation(OpenAPI.document, caching: caching.documents), to: call)
    case .readiness: encoding.answer(try readiness.representation(), to: call)
    case .health:
      encoding.answer(Representation(Array(#"{"status":"ok"}"#.utf8), caching: .none), to: call)
    case .metrics:
      guard scrapes.run({ call.answer { figures.response() } }) else {
        throw Problem(.overloaded, .serviceUnavailable, "The figures are being read.")
      }
    case .media: try mediaFile(path["path"] ?? "", parameters, call)
    case .putFeed: try putFeed(path["feed"] ?? "", call)
    case .deleteFeed: try deleteFeed(path["feed"] ?? "", call)
    case .putItem: try putItem(path["id"] ?? "", call)
    case .deleteItem: try deleteItem(path["id"] ?? "", call)
    case .countItem: try countItem(path["id"] ?? "", call)
    case .importRecords: try importRecords(call)
    case .plan: try plan(call)
    }
  }

  /// `OPTIONS`, RFC 9110 section 9.3.7, and a browser's preflight: answered without the store. Pages
  /// of other origins may read; `Allow` tells what else the route has.
  private static func options(_ request: Request, allowed: [Method]) -> Response {
    var fields: Fields = ["Allow": allowed.map(\.rawValue).joined(separator: ", ")]
    if request.fields.contains("Access-Control-Request-Method") {
      let isOpen = request.path == Route.plan.path
      let reading = allowed.filter { isOpen || [.get, .head, .options].contains($0) }
      fields.append(
        "Access-Control-Allow-Methods", reading.map(\.rawValue).joined(separator: ", "))
      fields.append(
        "Access-Control-Allow-Headers",
        (isOpen ? "Content-Type, " : "")
          + "Cache-Control, If-Match, If-Modified-Since, If-None-Match, If-Range, Prefer, Range, "
          + "X-Request-Id, ECT, Downlink, RTT, Save-Data")
      fields.append("Access-Control-Max-Age", "86400")
    }
    fields.appendCORS()
    return Response(.noContent, fields: fields)
  }
}
