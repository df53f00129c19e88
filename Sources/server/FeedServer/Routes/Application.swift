import Catalog
import Compression
import Feed
import Glibc
import HTTP
import HTTPServer
import Logging
import MediaFiles
import MediaFormats
import PostJSON
import Prefetch
import Seeding
import System

// 1. `Sockets.EventLoop` waits in epoll on a thread of its own, with a short time slice
//    (`Scheduling.prompt`): it gets its core as soon as there is something to do, whatever else
//    works there; what takes long beside it, the refresh, `prune` and `media add`, has a long one
//    and is nice (`Scheduling.background`). Each loop has its own listening socket
//    (`SO_REUSEPORT`). Poll data carry a registration id, so a stale event cannot hit a reused
//    descriptor.
// 2. `HTTPServer.Connection` reads into the loop's one buffer, and asks its `ConnectionMachine`
//    what to do with the bytes. The machine decides, without a socket or a clock: it has
//    `HTTP.RequestParser` return events as values (need more bytes, a head, a piece of a body, an
//    end, a failure), and returns actions, one at a time: give the application this request, give
//    it these bytes of a body, write, wait for this until then, close. The connection does each,
//    and tells the machine what came of it.
// 3. `FeedServer.Application` looks whether such a request (`RequestText`) was answered with a
//    page before that was kept and is what the store would give now (`KeptPages.find`): then the
//    answer is sent as it lies there, head and all. That is the way of nearly every request.
// 4. Otherwise it matches the route (`Route`), counts the client's requests where a rate is set
//    (`RequestRate`), reads the parameters (`Parameters`, `PageRequest`, `NetworkChoice`), and
//    `Pages` looks for the page by what they mean (`PageKey`). What has to load or compare
//    rankings is handed to `RequestWorkers`, where those who wait take turns by kind and client
//    (`TurnQueue`); everything else is answered on the loop. Feeds for other readers
//    (`SyndicationRequest`) are kept like pages, by the host that `AllowedHosts` lets through,
//    too; they are made by a worker, and written by `FeedFormats`.
// 5. `PageMaker` makes the page from one `StoreSnapshot`, which the request took before anything
//    else: the catalog, one immutable value with orders and policies of the same moment. It cuts
//    the page out of the feed's `OrderIndex` (`FeedOrder.slice`: pure). `ItemSource` brings its
//    items as bytes (`EncodedItems`), hints among them: out of the item file in one read, and from
//    the store what is not there; then the page goes on where the store says that it has read
//    them, on whichever thread. Mostly all is at hand, and the page made at once (`makeAtOnce`).
//    What the page adds is the plan (`Prefetch.Policy`), cursors and links (`PageRequest.links`),
//    and the JSON around the items (`JSONWriter.beginPage`, `endPage`). Its hash is that of the
//    hashes of its parts, of which items bring theirs along. `Representation` adds validator and
//    caching fields, `BodyEncoding` the coding. Compressed bodies are kept by the hash of their
//    content (`EncodedBodies`); one that is not there is compressed by a worker.
// 6. `Responder` brings the answer back to the loop from whichever thread, and the connection to
//    its machine (`ExchangeQueue`, `OutputQueue`); answers leave in the order of the requests,
//    head and body in one `sendmsg`, files by `sendfile`. Answers of several connections that are
//    ready in one turn of the loop are written at its end (`ConnectionLoop.writeSoon`), after 400
//    µs at the latest: a client on the same machine, such as a proxy, is woken once. An answer
//    without an end (`ResponseStream`) is the last of its connection: the machine asks its
//    producer for more when all before was taken. Event streams are such: `FeedEvents` checks on a
//    thread of its own whether a feed with listeners has something newer, and wakes the
//    connections (`FeedWatch`).
// 7. When the last byte has been handed over, `ApplicationObserver` counts the request and writes
//    its line.

/// Answers requests from a store: the way from a route to bytes.
///
/// The event loop answers what is in memory or one look at the file away. Slower requests run on the worker
/// pool, writes on the store's writer, and imports on threads of their own.
struct Application: Handler {
  let store: any FeedStore & PolicyStore
  let readiness: Readiness
  let workers: RequestWorkers
  let imports: WorkerPool
  /// Reads figures: what is told of feeds grows with their number, and is asked for when all else is busy.
  let scrapes = WorkerPool(threads: 1, limit: 8)
  let caching: CachePolicy
  let hosts: AllowedHosts
  let encoding: BodyEncoding
  let pages: Pages
  let events: FeedEvents
  let media: MediaFolder?
  let linking: MediaLinking
  let access: WriteAccess
  let rate: RequestRate?
  let clients: ClientAddresses
  let figures: ApplicationFigures
  let feedRequests: FeedRequests
  let seeder: Seeder
  let bodyLimits: BodyLimits
  /// Whether browsers get a page to look at.
  let hasPage: Bool
  let labReport: LabReportFile?
  let logger: Logger

  /// How large a body may be.
  struct BodyLimits: Sendable {
    let bodyBytes: Int
    let importBytes: Int
  }

  /// The server reads only the bodies of clients that may write, and of requests for a plan.
  func bodyPolicy(for request: Request) -> BodyPolicy {
    guard case .found(let route, _) = Route.router.match(request.method, path: request.path) else {
      return .discard
    }
    if route == .plan { return .collect(maximumBytes: bodyLimits.bodyBytes) }
    guard route.isWrite, case .success(let writer) = access.writer(request.fields) else {
      return .discard
    }
    switch route {
    case .importRecords:
      let isReadable = (try? BodyType.records.check(request.fields)) != nil
      return isReadable && writer.rights.everything
        ? .stream(maximumBytes: bodyLimits.importBytes) : .discard
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
      writer: route?.isWrite == true ? access.writer(request.fields) : nil,
      timing: .asked(by: request.fields), logger: logger)
    do {
      if route?.isForWatchers != true { try admit(request, responder) }
      switch match {
      case .found(let route, let path):
        try begin(route, path, try Parameters(request, known: route.parameters), call)
      case .notFound where request.path == "*":
        call.respond(Self.options(request, allowed: Route.router.methods))
      case .notFound:
        throw Problem.unknownRoute(request.path)
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
    case .record: record(path["id"] ?? "", call)
    case .networks: encoding.answer(try networks(feed: parameters["feed"]), to: call)
    case .feeds: try feeds(parameters, call)
    case .feed: try feed(path["feed"] ?? "", call)
    case .root: root(call)
    case .pageFile: try pageFile(path["file"] ?? "", call)
    case .clientModule: encoding.answer(Representation(.module, caching: caching.files), to: call)
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
    case .events: try listen(to: path["feed"] ?? "", parameters, call)
    case .putFeed: try putFeed(path["feed"] ?? "", call)
    case .deleteFeed: try deleteFeed(path["feed"] ?? "", call)
    case .putItem: try putItem(path["id"] ?? "", call)
    case .deleteItem: try deleteItem(path["id"] ?? "", call)
    case .countItem: try countItem(path["id"] ?? "", call)
    case .importRecords: try importRecords(call)
    case .plan: try plan(call)
    }
  }

  /// The fields that readers use, for a client that does not say which it sends.
  private static let readFields =
    "Cache-Control, Content-Type, If-Match, If-Modified-Since, If-None-Match, If-Range, Last-Event-ID, "
    + "Prefer, Range, X-Request-Id, ECT, Downlink, RTT, Save-Data"

  /// A list of field names as received: a field that an app sends with all its requests (`traceparent`,
  /// `Authorization`) does no harm to a reading one. Nil if it is not such a list.
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

  /// `OPTIONS`, RFC 9110 section 9.3.7, and a browser's preflight: answered without the store. Pages
  /// of other origins may read; `Allow` tells what else the route has.
  private static func options(_ request: Request, allowed: [Method]) -> Response {
    var fields: Fields = ["Allow": allowed.map(\.rawValue).joined(separator: ", ")]
    if request.fields.contains("Access-Control-Request-Method") {
      let isOpen = request.path == Route.plan.path
      let reading = allowed.filter { isOpen || [.get, .head, .options].contains($0) }
      fields.append(
        "Access-Control-Allow-Methods", reading.map(\.rawValue).joined(separator: ", "))
      // Not where nothing can be read: POST needs no permission of its own, and the token must not be sent along.
      let isForReaders = isOpen || reading.contains(.get)
      let asked = isForReaders ? request.fields.combined("Access-Control-Request-Headers") : nil
      fields.append("Access-Control-Allow-Headers", asked.flatMap(fieldNames) ?? readFields)
      fields.append("Access-Control-Max-Age", "86400")
      fields.append("Vary", "Access-Control-Request-Headers")
    }
    fields.appendCORS()
    return Response(.noContent, fields: fields)
  }
}

// MARK: Events

extension Application {
  /// Tells the client when a feed has something newer, for as long as the client listens.
  ///
  /// - Throws: `CursorError` if `before` does not hold a cursor. A browser's `Last-Event-ID` on reconnecting is
  ///   never refused, as the browser would then give up: an invalid cursor is treated as behind.
  func listen(to feed: String, _ parameters: Parameters, _ call: Call) throws {
    var position = FeedEvents.Position.now
    if let seen = try PageRequest.cursor("before", parameters) { position = .seen(seen) }
    if let last = call.request.fields.combined("Last-Event-ID") {
      position = .returning(try? Cursor(text: last))
    }
    events.listen(to: feed, from: position) { stream in
      call.answer {
        let stream = try stream.get()
        feedRequests.note(feed)
        var fields: Fields = [
          "Content-Type": "text/event-stream", "Cache-Control": "no-store",
          // nginx hands on what comes as it comes.
          "X-Accel-Buffering": "no",
        ]
        fields.appendCORS()
        return Response(.ok, fields: fields, body: [.stream(stream)])
      }
    }
  }
}

// MARK: Writes of feeds

extension Application {
  /// `PUT` of a feed's record: 201 where it makes the feed, 204 where it gives it a title. With another
  /// name than the path's the feed gets that name.
  func putFeed(_ name: String, _ call: Call) throws {
    let writer = try call.writer()
    try BodyType.record.check(call.request.fields)
    // The path's name has the same limits as one in a record.
    guard case .feed(let newName, let title) = try RecordDecoder().decode(call.request.body) else {
      throw RecordError(field: "feed", problem: "is missing: the record is not a feed's")
    }
    guard (1...RecordLimits.feedNameBytes).contains(name.utf8.count) else {
      throw FeedError.unknownFeed(name)
    }
    try writer.check(feed: name)
    try writer.check(feed: newName)
    let isSame = newName.utf8.elementsEqual(name.utf8)
    let path = "/v1/feeds/\(PercentEncoding.encode(newName, for: .pathSegment))"
    write(name, isSame ? .put(title: title) : .rename(to: newName, title: title), call) { outcome in
      switch outcome {
      case .created: Response(.created, fields: ["Location": path])
      case .renamed: Response(.noContent, fields: ["Content-Location": path])
      case .replaced, .deleted: Response(.noContent)
      }
    }
  }

  /// `DELETE` of a feed; its items stay.
  func deleteFeed(_ name: String, _ call: Call) throws {
    try call.writer().check(feed: name)
    write(name, .delete, call) { _ in Response(.noContent) }
  }

  private func write(
    _ name: String, _ change: FeedWrite.Change, _ call: Call,
    _ response: @escaping @Sendable (FeedOutcome) -> Response
  ) {
    let write = FeedWrite(
      name: name, change: change,
      condition: WritePreconditions(call.request).feedCondition)
    let start = MonotonicClock.nanoseconds
    store.write(write) { result in
      figures.writes.recordNanoseconds(Int64(MonotonicClock.nanoseconds - start))
      call.answer {
        var response = response(try result.get())
        response.fields.append("Cache-Control", "no-store")
        return response
      }
    }
  }
}

extension Application {
  /// A file, or ranges of it (RFC 9110 section 14); where the URL names its content, that or nothing.
  func mediaFile(_ path: String, _ parameters: Parameters, _ call: Call) throws {
    guard let media else { throw MediaError.notFound(.noSuchFile) }
    let segments = try PathSegments.split("/" + path)
    guard PathSegments.isPlainlySpelt(path) else { throw MediaError.notFound(.noSuchFile) }
    let query = try MediaQuery(parameters)
    let now = WallClock.now
    let secondsLeft = try media.signer?.secondsLeft(of: query, segments)
    let file = try open(segments, in: media)
    @Sendable func answer(isImmutable: Bool) throws -> Response {
      let head = try file.read(at: 0, count: MediaType.headBytes)
      let type = MediaType(head: head, name: segments.last ?? "")
      let caching = media.caching(isImmutable: isImmutable, secondsLeft: secondsLeft)
      return try MediaAnswer(file: file, type: type, caching: caching, now: now)
        .response(to: call.request)
    }
    guard let version = query.version else { return call.respond(try answer(isImmutable: false)) }
    try media.versions.whenKnown(file, segments) { found in
      call.answer {
        guard let found = try found.get(), found.content == version else {
          throw Problem(
            .unknownMediaVersion, .notFound,
            "The file has another content than this URL names: take the one that the item has now.")
        }
        return try answer(isImmutable: found.isCompared)
      }
    }
  }

  private func open(_ segments: [String], in media: MediaFolder) throws -> OpenFile {
    guard OpenFile.openCount < media.maximumOpenFiles else {
      throw MediaError.exhausted(
        SystemError(call: "openat", purpose: "open one media file more", code: EMFILE))
    }
    do {
      let file = try media.root.open(segments)
      try MediaFolder.check(file)
      return file
    } catch MediaError.notFound(.tooLarge) {
      logger.warning("media file too large", metadata: ["path": "\(segments)"])
      throw MediaError.notFound(.tooLarge)
    } catch MediaError.denied(let cause) {
      // To the client it is not there; the operator has to hear why.
      logger.warning("media file not readable: \(cause)")
      throw MediaError.denied(cause)
    }
  }
}
