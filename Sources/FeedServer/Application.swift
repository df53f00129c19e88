import Feed
import HTTP
import HTTPServer
import JSON
import Logging
import Prefetch
import SQLiteStore

/// Answers requests from a store: the way from a route to bytes.
///
/// What is in memory or one look at the file away is answered on the event loop that asks; what takes
/// longer goes to the worker pool.
struct Application: Handler {
  let store: any FeedStore & PolicyStore
  let readiness: Readiness
  let workers: WorkerPool
  let caching: CachePolicy
  let logger: Logger

  /// Routes that read have no use for a body.
  func bodyPolicy(for request: Request) -> BodyPolicy { .discard }

  func response(to error: ProtocolError, requestID: String) -> Response {
    Problem(error).response(requestID: requestID)
  }

  func handle(_ request: Request, _ responder: Responder) {
    answer(request, responder.requestID) { work in
      // Too long for the event loop; the responder answers from wherever it is called.
      let isTaken = workers.run { responder.respond(finish(request, responder.requestID, work)) }
      if !isTaken {
        let problem = Problem(
          .overloaded, .serviceUnavailable, "Too many requests wait for the database.")
        responder.respond(problem.response(requestID: responder.requestID))
      }
    } now: {
      responder.respond($0)
    }
  }

  /// The answer of a request, at once or by work that is handed over.
  private func answer(
    _ request: Request, _ requestID: String,
    later: (@escaping @Sendable () throws -> Representation) -> Void,
    now: (Response) -> Void
  ) {
    if request.path == "*" {
      now(Self.options(allowed: Route.router.methods))
      return
    }
    switch Route.router.match(request.method, path: request.path) {
    case .notFound:
      let problem = Problem(.unknownRoute, .notFound, "There is no route \(request.path).")
      now(problem.response(requestID: requestID))
    case .malformedPath(let error):
      now(Problem(error).response(requestID: requestID))
    case .methodNotAllowed(let allowed):
      if request.method == .options {
        now(Self.options(allowed: allowed))
        return
      }
      var problem = Problem(
        .methodNotAllowed, .methodNotAllowed, "\(request.path) has no \(request.method.rawValue).")
      problem.allowed = allowed
      now(problem.response(requestID: requestID))
    case .found(let route, let parameters):
      let work = { @Sendable in try represent(route, parameters, request) }
      if isLong(route, parameters, request) {
        later(work)
      } else {
        now(finish(request, requestID, work))
      }
    }
  }

  /// Runs the work and makes its outcome the answer: the representation, 304, or a problem.
  private func finish(
    _ request: Request, _ requestID: String, _ work: () throws -> Representation
  ) -> Response {
    do {
      return try work().response(to: request)
    } catch {
      let problem = Problem(error)
      if problem.kind == .internalError {
        logger.error("\(error)", metadata: ["request": "\(requestID)", "path": "\(request.path)"])
      }
      return problem.response(requestID: requestID)
    }
  }

  /// `OPTIONS`, RFC 9110 section 9.3.7, and a browser's preflight: answered without the store.
  private static func options(allowed: [Method]) -> Response {
    let methods = allowed.map(\.rawValue).joined(separator: ", ")
    var fields: Fields = [
      "Allow": methods, "Access-Control-Allow-Methods": methods,
      "Access-Control-Allow-Headers":
        "Cache-Control, If-Match, If-None-Match, X-Request-Id, ECT, Downlink, RTT, Save-Data",
      "Access-Control-Max-Age": "86400",
    ]
    fields.appendCORS()
    return Response(.noContent, fields: fields)
  }
}

// MARK: Routes

extension Application {
  private func isLong(_ route: Route, _ path: [String: String], _ request: Request) -> Bool {
    guard route == .compactPage || route == .page, let book = try? store.policyBook(),
      let page = try? pageRequest(route, path, request, book)
    else { return false }
    return !store.isAtHand(page.query)
  }

  private func represent(_ route: Route, _ path: [String: String], _ request: Request) throws
    -> Representation
  {
    switch route {
    case .compactPage, .page: return try page(route, path, request)
    case .item: return try item(path["id"] ?? "", route, request)
    case .networks: return try networks(route, request)
    case .feeds, .feed, .openAPI, .health, .readiness:
      _ = try Parameters(request, known: route.parameters)
    }
    switch route {
    case .feeds: return try feeds()
    case .feed: return try feed(path["feed"] ?? "")
    case .openAPI: return Representation(OpenAPI.document, caching: caching.documents)
    case .readiness: return try readiness.representation()
    default: return Representation(Array(#"{"status":"ok"}"#.utf8), caching: .none)
    }
  }

  private func pageRequest(
    _ route: Route, _ path: [String: String], _ request: Request, _ book: PolicyBook
  ) throws -> PageRequest {
    let parameters = try Parameters(request, known: route.parameters)
    guard let feed = path["feed"] ?? parameters["feed"] else {
      throw ParameterError(parameter: "feed", problem: "is missing: it names the feed to read")
    }
    return try PageRequest(feed: feed, parameters, request.fields, book.networks)
  }

  private func page(_ route: Route, _ path: [String: String], _ request: Request) throws
    -> Representation
  {
    let book = try store.policyBook()
    let asked = try pageRequest(route, path, request, book)
    let page = try store.page(asked.query)
    func link(_ query: String) -> String {
      route == .compactPage
        ? "/rp/?feed=\(PercentEncoding.encode(asked.query.feed, for: .queryValue))&\(query)"
        : "/v1/feeds/\(PercentEncoding.encode(asked.query.feed, for: .pathSegment))/items?\(query)"
    }
    let links = (
      next: page.slice.next.map { link(asked.nextQuery(after: $0.text)) },
      previous: page.slice.previous.map { link(asked.previousQuery(before: $0.text)) }
    )
    let document = PageDocument(
      page: page,
      policy: book.policy(feed: asked.query.feed, network: asked.network.profile),
      network: asked.network.profile, bounds: asked.bounds, links: links)
    var representation = Representation(document.json, caching: caching.pages)
    representation.varyingFields = asked.varyingFields
    representation.links = [("next", links.next), ("prev", links.previous)].compactMap {
      name, link in
      link.map { (relation: name, target: $0) }
    }
    return representation
  }

  private func item(_ id: String, _ route: Route, _ request: Request) throws -> Representation {
    let book = try store.policyBook()
    let parameters = try Parameters(request, known: route.parameters)
    let network = try NetworkChoice(parameters, request.fields, book.networks)
    guard let post = try store.post(withID: id) else { throw FeedError.unknownItem(id) }
    var writer = JSONWriter(capacity: 1024)
    writer.item(post, book.policy(feed: nil, network: network.profile).hint(for: post))
    var representation = Representation(writer.bytes, caching: caching.pages)
    representation.varyingFields = network.varyingFields
    return representation
  }

  private func feeds() throws -> Representation {
    let feeds = try store.feeds()
    var writer = JSONWriter(capacity: 1024)
    writer.object { writer in
      writer.key("feeds")
      writer.array { writer in
        for feed in feeds { writer.feed(feed) }
      }
    }
    return Representation(writer.bytes, caching: caching.pages)
  }

  private func feed(_ name: String) throws -> Representation {
    guard let feed = try store.feed(named: name) else { throw FeedError.unknownFeed(name) }
    var writer = JSONWriter()
    writer.feed(feed)
    return Representation(writer.bytes, caching: caching.pages)
  }

  private func networks(_ route: Route, _ request: Request) throws -> Representation {
    let feed = try Parameters(request, known: route.parameters)["feed"]
    if let feed, try store.feed(named: feed) == nil { throw FeedError.unknownFeed(feed) }
    let book = try store.policyBook()
    var writer = JSONWriter(capacity: 4096)
    writer.object { writer in
      writer.member("feed", feed)
      writer.key("networks")
      writer.array { writer in
        for network in book.networks {
          writer.network(network, book.policy(feed: feed, network: network))
        }
      }
      writer.key("feedsWithPolicies")
      writer.array { writer in
        for feed in book.feeds { writer.string(feed) }
      }
    }
    return Representation(writer.bytes, caching: caching.pages)
  }
}
