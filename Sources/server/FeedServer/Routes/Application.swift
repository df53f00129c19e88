import Feed
import HTTP
import HTTPServer
import Logging
import MediaIndex

// 1. `Sockets.EventLoop` waits in epoll on a thread of its own, with a short time slice
//    (`Scheduling.prompt`): it gets its core as soon as there is work, whatever else runs there. Long-running
//    work beside it (the refresh, `prune` and `media add`) has a long time slice and low priority
//    (`Scheduling.background`). Each loop has its own listening socket (`SO_REUSEPORT`). Poll data carry a
//    registration id, so a stale event cannot hit a reused descriptor.
// 2. `HTTPServer.Connection` reads into the loop's one buffer, and asks its `ConnectionMachine` what to do
//    with the bytes. The machine decides, without a socket or a clock: `HTTP.RequestParser` returns events as
//    values to it (need more bytes, a head, a piece of a body, an end, a failure), and it returns actions,
//    one at a time: give the application this request, give it these bytes of a body, write, wait for this
//    until then, close. The connection does each, and tells the machine the result.
// 3. `FeedServer.Application` looks whether the server answered such a request (`RequestText`) before with a
//    page that is kept and is what the store would give now (`KeptPages.find`): then it sends that answer
//    unchanged, with its head. Nearly every request is answered in this way.
// 4. Otherwise it reads the head once (`RequestHead`: route, parameters, writer), counts the client's
//    requests if a rate is set (`RequestRate`), and calls the route's handler. `PageHandler` reads the
//    parameters (`PageRequest`, `NetworkChoice`), and `Pages` looks for the page by their meaning
//    (`PageKey`). Requests that have to load or compare rankings go to `RequestWorkers`, where they take
//    turns by kind and client (`TurnQueue`); the loop answers all others. Feeds for other readers
//    (`SyndicationRequest`) are kept like pages, also by the host that `AllowedHosts` accepts; a worker makes
//    them, and `FeedFormats` writes them.
// 5. `PageMaker` makes the page from one `StoreSnapshot`, which the request took before anything else: the
//    catalog, one immutable value with orders and policies of the same moment. It cuts the page out of the
//    feed's `OrderIndex` (`FeedOrder.slice`: pure). `ItemSource` reads its items as bytes (`EncodedItems`)
//    with their hints: from the item file in one read, and the absent ones from the store; the page is then
//    continued on the thread on which the store has read them. Usually everything is in memory, and the page
//    is made at once (`makeAtOnce`). The page adds the plan (`Prefetch.Policy`), cursors and links
//    (`PageRequest.links`), and the JSON around the items (`JSONWriter.beginPage`, `endPage`). Its hash is
//    that of the hashes of its parts, of which items have theirs already. `Representation` adds validator and
//    caching fields, `BodyEncoding` the coding. Compressed bodies are kept by the hash of their content
//    (`EncodedBodies`); a worker compresses an absent one.
// 6. `Responder` brings the answer back to the loop from any thread, and the connection to its machine
//    (`ExchangeQueue`, `OutputQueue`); answers leave in the order of the requests, head and body in one
//    `sendmsg`, files by `sendfile`. Answers of several connections that are ready in one turn of the loop
//    are written at its end (`ConnectionLoop.writeSoon`), after 400 µs at the latest: a client on the same
//    machine, such as a proxy, is woken once. An answer without an end (`ResponseStream`) is the last of its
//    connection: the machine asks its producer for more when the client has taken all before. Event streams
//    are such answers: `FeedEvents` checks on a thread of its own whether a feed with listeners has something
//    newer, and wakes the connections (`FeedWatch`).
// 7. When the last byte has been handed over, `ApplicationObserver` counts the request and logs it.

/// Dispatches requests: finds a kept page, or the handler of the route, and turns errors into answers.
///
/// The event loop answers what is in memory or one read of the file away. Slower requests run on the worker
/// pool, writes on the store's writer, and imports on threads of their own.
final class Application: Handler {
  private let router: Router<Endpoint>
  private let kept: KeptPages
  private let linking: MediaLinking
  private let caching: CachePolicy.Directive
  private let access: WriteAccess
  private let rate: RequestRate?
  private let clients: ClientAddresses
  private let bodyBytes: Int
  private let importBytes: Int
  private let reports: ReportSettings
  private let handouts: PageHandouts?
  private let resumable: ResumableUploads?
  private let logger: Logger

  init(_ parts: HandlerParts, _ access: WriteAccess) {
    let configuration = parts.configuration
    router = Route.router(parts)
    (kept, linking, caching) = (parts.pages.kept, parts.linking, parts.caching.pages)
    self.access = access
    rate =
      configuration.requestsPerSecond == 0
      ? nil
      : RequestRate(
        perMinute: configuration.requestsPerSecond * 60, burst: configuration.requestBurst,
        maximumClients: configuration.rateLimitClients)
    clients = parts.clients
    bodyBytes = configuration.server.limits.bodyBytes
    importBytes = configuration.importBytes
    reports = configuration.reports
    handouts = parts.handouts
    resumable = parts.resumable
    logger = parts.logger
  }

  func handle(_ request: Request, _ responder: Responder) {
    let text = RequestText(
      request, expires: linking.expires, cacheSeconds: caching.secondsLeft)
    if answerKeptPage(request, text, responder) { return }
    answer(request, text, responder, look(at: request))
  }

  /// Decides what to do with the body: the server reads only those of authorized writers, and of requests for
  /// a plan.
  func decide(_ request: Request) -> BodyDecision {
    let head = look(at: request)
    return BodyDecision(bodyPolicy(for: request, head)) { [self] request, responder in
      let text = RequestText(
        request, expires: linking.expires, cacheSeconds: caching.secondsLeft)
      answer(request, text, responder, head)
    }
  }

  func response(to error: ProtocolError, requestID: String) -> Response {
    Problem(error).response(requestID: requestID)
  }

  /// Answers a repeated page request without parsing it, if the page has not changed since. Returns `false`
  /// if it has changed, or is not kept.
  private func answerKeptPage(
    _ request: Request, _ text: RequestText, _ responder: Responder
  ) -> Bool {
    guard request.method == .get || request.method == .head, !request.fields.contains("Prefer"),
      let page = kept.find(text)
    else { return false }
    do {
      try admit(request, responder)
      if let handouts {
        responder.respond(handouts.handing(try page.answer(to: request), feed: page.feed))
      } else {
        responder.respond(try page.answer(to: request))
      }
    } catch {
      let head = RequestHead(
        .refusal(error), route: Route.allCases.first { $0.path == page.route })
      Call(request, text, responder, head, nil, nil, logger).refuse(error)
    }
    return true
  }

  /// Matches the route, parses the query's parameters, and verifies the token of a write.
  private func look(at request: Request) -> RequestHead {
    switch router.match(request.method, path: request.path) {
    case .found(let endpoint, let path):
      let route = endpoint.route
      // Writers may read records that are not visible yet.
      let mayWrite = route.isWrite || route == .record
      let writer = mayWrite ? access.writer(request.fields) : nil
      do {
        let parameters = try Parameters(request, known: route.parameters)
        return RequestHead(
          .endpoint(endpoint), route: route, path: path, parameters: parameters, writer: writer)
      } catch {
        return RequestHead(.refusal(error), route: route, writer: writer)
      }
    case .notFound where request.path == "*":
      return RequestHead(.options(allowed: router.methods))
    case .notFound:
      return RequestHead(.refusal(Problem.unknownRoute(request.path)))
    case .malformedPath(let error):
      return RequestHead(.refusal(error))
    case .methodNotAllowed(let allowed) where request.method == .options:
      return RequestHead(.options(allowed: allowed))
    case .methodNotAllowed(let allowed):
      let problem = Problem.methodNotAllowed(request.method, request.path, allowed: allowed)
      return RequestHead(.refusal(problem))
    }
  }

  private func bodyPolicy(for request: Request, _ head: RequestHead) -> BodyPolicy {
    guard let route = head.route else { return .discard }
    if case .failure? = head.writer { return .discard }
    switch route.body {
    case .none: return .discard
    case .collected: return .collect(maximumBytes: bodyBytes)
    case .report: return reports.taken != .off ? .collect(maximumBytes: reports.bytes) : .discard
    case .streamed:
      // An import with an unsupported type or without the right is refused without reading it.
      let isReadable = (try? BodyType.records.check(request.fields)) != nil
      let mayWrite = (try? head.writer?.get())?.rights.everything == true
      return isReadable && mayWrite ? .stream(maximumBytes: importBytes) : .discard
    case .upload:
      guard case .endpoint(let endpoint) = head.outcome,
        let handler = endpoint.handler as? any UploadHandler,
        (try? handler.check(request, head)) != nil
      else { return .discard }
      return .stream(maximumBytes: handler.maximumBytes)
    }
  }

  private func answer(
    _ request: Request, _ text: consuming RequestText, _ responder: Responder,
    _ head: consuming RequestHead
  ) {
    let call = Call(request, text, responder, head, .asked(by: request.fields), handouts, logger)
    call.attempt {
      if call.route?.isForWatchers != true { try admit(request, responder) }
      switch call.head.outcome {
      case .endpoint(let endpoint): try endpoint.handler.answer(call)
      case .options(let allowed): call.respond(options(request, allowed: allowed))
      case .refusal(let error): throw error
      }
    }
  }

  /// Counts the client's request if there is a rate.
  ///
  /// - Throws: `Problem` 429.
  private func admit(_ request: Request, _ responder: Responder) throws {
    guard let rate else { return }
    try rate.admit(clients.address(request.fields, peer: responder.peer))
  }
}

// MARK: OPTIONS

extension Application {
  /// The fields that readers use, for a client that does not list those that it sends.
  private static let readFields =
    "Cache-Control, Content-Type, If-Match, If-Modified-Since, If-None-Match, If-Range, Last-Event-ID, "
    + "Prefer, Range, X-Request-Id, ECT, Downlink, RTT, Save-Data"

  /// A list of field names as received; `nil` if it is not such a list. A field that an app sends with all
  /// its requests (`traceparent`, `Authorization`) does no harm to a reading one.
  private static func fieldNames(_ list: String) -> String? {
    let names = list.split(separator: ",", omittingEmptySubsequences: false)
      .map { $0.drop { $0 == " " } }
    let areNames = names.allSatisfy { name in
      !name.isEmpty
        && name.utf8.allSatisfy {
          (0x30...0x39).contains($0) || (0x61...0x7a).contains($0 | 0x20)
            || "!#$%&'*+-.^_`|~".utf8.contains($0)
        }
    }
    return areNames ? names.joined(separator: ", ") : nil
  }

  /// Whether resumable uploads begin or continue at this path.
  private static func isOfUploads(_ path: String) -> Bool {
    path == Route.postMedia.path
      || [MediaAddresses.servedPrefix, "/v1/uploads/"].contains { path.hasPrefix($0) }
  }

  /// Answers `OPTIONS` (RFC 9110 section 9.3.7), and a browser's preflight, without the store. Pages of other
  /// origins may read; `Allow` lists the other methods of the route.
  private func options(_ request: Request, allowed: [Method]) -> Response {
    var fields: Fields = ["Allow": allowed.map(\.rawValue).joined(separator: ", ")]
    if let resumable, Self.isOfUploads(request.path) {
      fields.append("Accept-Patch", ResumableUploads.partialType)
      fields.append("Upload-Limit", resumable.limits())
    }
    if request.fields.contains("Access-Control-Request-Method") {
      let isOpen = request.path == Route.plan.path || request.path == Route.reports.path
      let reading = allowed.filter { isOpen || [.get, .head, .options].contains($0) }
      fields.append(
        "Access-Control-Allow-Methods", reading.map(\.rawValue).joined(separator: ", "))
      // Not if nothing can be read: POST needs no permission of its own, and browsers must not send the token
      // along.
      let isForReaders = isOpen || reading.contains(.get)
      let asked = isForReaders ? request.fields.combined("Access-Control-Request-Headers") : nil
      fields.append(
        "Access-Control-Allow-Headers", asked.flatMap(Self.fieldNames) ?? Self.readFields)
      fields.append("Access-Control-Max-Age", "86400")
      fields.append("Vary", "Access-Control-Request-Headers")
    }
    fields.appendCORS()
    return Response(.noContent, fields: fields)
  }
}
