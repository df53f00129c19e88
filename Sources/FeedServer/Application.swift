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
    let requestID = responder.requestID
    do {
      switch try step(request) {
      case .answered(let response): responder.respond(response)
      case .short(let work): responder.respond(try work().response(to: request))
      case .long(let work):
        // The responder answers from wherever it is called.
        let isTaken = workers.run {
          do {
            responder.respond(try work().response(to: request))
          } catch {
            responder.respond(refusal(error, request, requestID))
          }
        }
        guard isTaken else {
          throw Problem(
            .overloaded, .serviceUnavailable, "Too many requests wait for the database.")
        }
      }
    } catch {
      responder.respond(refusal(error, request, requestID))
    }
  }

  /// What a request needs.
  private enum Step {
    case answered(Response)
    /// Work that an event loop may do itself.
    case short(() throws -> Representation)
    /// Work that would hold it up.
    case long(@Sendable () throws -> Representation)
  }

  private func step(_ request: Request) throws -> Step {
    if request.path == "*" { return .answered(Self.options(allowed: Route.router.methods)) }
    switch Route.router.match(request.method, path: request.path) {
    case .notFound:
      throw Problem(.unknownRoute, .notFound, "There is no route \(request.path).")
    case .malformedPath(let error): throw error
    case .methodNotAllowed(let allowed):
      if request.method == .options { return .answered(Self.options(allowed: allowed)) }
      var problem = Problem(
        .methodNotAllowed, .methodNotAllowed, "\(request.path) has no \(request.method.rawValue).")
      problem.allowed = allowed
      throw problem
    case .found(let route, let path):
      let parameters = try Parameters(request, known: route.parameters)
      guard route == .compactPage || route == .page else {
        return .short { try represent(route, path, parameters, request) }
      }
      let book = try store.policyBook()
      guard let feed = path["feed"] ?? parameters["feed"] else {
        throw ParameterError(parameter: "feed", problem: "is missing: it names the feed to read")
      }
      let asked = try PageRequest(feed: feed, parameters, request.fields, book.networks)
      return store.isAtHand(asked.query)
        ? .short { try page(asked, book, route) } : .long { try page(asked, book, route) }
    }
  }

  /// The answer to what could not be done; what is the server's own fault goes to the log.
  private func refusal(_ error: any Error, _ request: Request, _ requestID: String) -> Response {
    let problem = Problem(error)
    if problem.kind == .internalError {
      logger.error("\(error)", metadata: ["request": "\(requestID)", "path": "\(request.path)"])
    }
    return problem.response(requestID: requestID)
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
  private func represent(
    _ route: Route, _ path: [String: String], _ parameters: Parameters, _ request: Request
  ) throws -> Representation {
    switch route {
    case .item: return try item(path["id"] ?? "", parameters, request)
    case .networks: return try networks(feed: parameters["feed"])
    case .feeds: return try feeds()
    case .feed: return try feed(path["feed"] ?? "")
    case .openAPI: return Representation(OpenAPI.document, caching: caching.documents)
    case .readiness: return try readiness.representation()
    case .health: return Representation(Array(#"{"status":"ok"}"#.utf8), caching: .none)
    case .compactPage, .page: preconditionFailure("a page is a step of its own")
    }
  }

  private func page(_ asked: PageRequest, _ book: PolicyBook, _ route: Route) throws
    -> Representation
  {
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

  private func item(_ id: String, _ parameters: Parameters, _ request: Request) throws
    -> Representation
  {
    let book = try store.policyBook()
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

  private func networks(feed: String?) throws -> Representation {
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
