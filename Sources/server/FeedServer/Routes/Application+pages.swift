import Catalog
import Feed
import HTTP
import HTTPServer
import JSON
import Page
import PostJSON
import Prefetch

// MARK: What is read

extension Application {
  /// Answers a repeated page request without parsing it, if the page has not changed since; false if it has
  /// changed, or is not kept.
  func answerKeptPage(_ request: Request, _ text: RequestText, _ responder: Responder) -> Bool {
    guard request.method == .get || request.method == .head, !request.fields.contains("Prefer"),
      let page = pages.kept.find(text)
    else { return false }
    do {
      try admit(request, responder)
      responder.respond(try page.answer(to: request))
    } catch {
      let route = Route.allCases.first { $0.path == page.route }
      Call(
        request: request, text: text, responder: responder, route: route, writer: nil,
        timing: nil,
        logger: logger
      ).refuse(error)
    }
    return true
  }

  func item(_ id: String, _ parameters: Parameters, _ call: Call) throws {
    let snapshot = try store.snapshot()
    let book = snapshot.policyBook
    let network = try NetworkChoice(parameters, call.request.fields, book.networks)
    let feed = parameters["feed"]
    if let feed, !snapshot.hasFeed(named: feed) { throw FeedError.unknownFeed(feed) }
    let policy = book.policy(feed: feed, network: network.profile)
    let start = call.timing.begin()
    store.item(withID: id) { [encoding, caching, links = linking.links] item in
      call.timing.end(.read, start)
      call.attempt {
        guard let item = try item.get() else { throw FeedError.unknownItem(id) }
        let flat = FlatPosts(item.post, truths: item.truths)
        var writer = JSONWriter(capacity: 1024)
        writer.item(
          flat, at: 0, in: item.placements, naming: links.names,
          hint: policy.hint(for: ItemLoad(flat, at: 0), on: network.profile))
        var representation = Representation(writer.bytes, caching: caching.pages)
        representation.version = ItemVersion(item).text
        representation.varyingFields = network.varyingFields
        representation.cacheKeys = .these(CacheKey.ofItem(item))
        encoding.answer(representation, to: call)
      }
    }
  }

  /// The item's record, as its writer left it: without what was found out about its files.
  func record(_ id: String, _ call: Call) {
    store.item(withID: id) { [encoding, caching] item in
      call.attempt {
        guard let item = try item.get() else { throw FeedError.unknownItem(id) }
        let record = SeedRecord.post(item.post, placements: item.placements)
        var representation = Representation(record.json, caching: caching.files)
        representation.version = ItemVersion(item).text
        encoding.answer(representation, to: call)
      }
    }
  }

  func feeds(_ parameters: Parameters, _ call: Call) throws {
    let asked = try FeedListRequest(parameters)
    try answer(call, known: store.snapshot().knownFeeds(asked.query)) { [store] in
      try store.feeds(asked.query)
    } as: { page in
      let links = FeedListLinks(page, asked)
      var writer = JSONWriter(capacity: 1024)
      writer.feeds(page, links)
      var representation = Representation(writer.bytes, caching: caching.pages)
      representation.links = links.field
      representation.cacheKeys = .these([CacheKey.all, CacheKey.feeds])
      return representation
    }
  }

  func feed(_ name: String, _ call: Call) throws {
    let snapshot = try store.snapshot()
    guard snapshot.hasFeed(named: name) else { throw FeedError.unknownFeed(name) }
    try answer(call, known: snapshot.knownFeed(named: name)) { [store] in
      guard let feed = try store.feed(named: name) else { throw FeedError.unknownFeed(name) }
      return feed
    } as: { feed in
      var writer = JSONWriter()
      writer.feed(feed)
      var representation = Representation(writer.bytes, caching: caching.pages)
      representation.cacheKeys = .page(feed: feed.name)
      representation.version = FeedVersion(StoredFeed(name: feed.name, title: feed.title)).text
      return representation
    }
  }

  /// Answers with known facts about feeds at once; a worker reads the others.
  private func answer<Known: Sendable>(
    _ call: Call, known: Known?, read: @escaping @Sendable () throws -> Known,
    as representation: @escaping @Sendable (Known) throws -> Representation
  ) throws {
    if let known { return encoding.answer(try representation(known), to: call) }
    let isTaken = workers.run(for: call) {
      call.attempt { encoding.answer(try representation(try read()), to: call) }
    }
    guard isTaken else {
      throw Problem(.overloaded, .serviceUnavailable, "Too many requests wait for the database.")
    }
  }

  func networks(feed: String?) throws -> Representation {
    let snapshot = try store.snapshot()
    if let feed, !snapshot.hasFeed(named: feed) { throw FeedError.unknownFeed(feed) }
    let book = snapshot.policyBook
    var writer = JSONWriter(capacity: 4096)
    writer.object { writer in
      writer.member("feed", feed)
      writer.key("networks")
      writer.array { writer in
        for network in book.networks {
          writer.network(
            network, book.policy(feed: feed, network: network),
            book.evidence(feed: feed, network: network))
        }
      }
      writer.key("feedsWithPolicies")
      writer.array { writer in
        for feed in book.feeds { writer.string(feed) }
      }
      if let problem = book.problem {
        writer.key("problem")
        writer.policyError(problem)
      }
    }
    var representation = Representation(writer.bytes, caching: caching.pages)
    representation.cacheKeys = .these([CacheKey.all])
    return representation
  }
}

// MARK: The page to look at

extension Application {
  /// The page, for browsers; links to the resources for clients that ask for no HTML, or if there is no page.
  func root(_ call: Call) {
    let accepted = AcceptedTypes(call.request.fields.combined("Accept"))
    let wantsPage = hasPage && accepted.prefers("text/html", to: "application/json")
    var representation =
      wantsPage ? Representation(.page, caching: caching.files) : links(caching.files)
    representation.varyingFields = .types
    representation.links = .these([
      LinkField.Link(relation: "service-desc", target: Route.openAPI.path)
    ])
    encoding.answer(representation, to: call)
  }

  /// A file of the page.
  ///
  /// - Throws: `Problem` 404.
  func pageFile(_ name: String, _ call: Call) throws {
    if hasPage, name == LabReportFile.name, let labReport { return try answer(labReport, call) }
    guard hasPage, let file = PageFile.parts[name] else {
      throw Problem(.unknownRoute, .notFound, "There is no route \(call.request.path).")
    }
    encoding.answer(Representation(file, caching: caching.files), to: call)
  }

  /// The current report: the file may be replaced at any time.
  private func answer(_ report: LabReportFile, _ call: Call) throws {
    let isTaken = workers.run(for: call) {
      call.attempt {
        let page = Representation(try report.read(), .report, caching: caching.files)
        encoding.answer(page, to: call)
      }
    }
    guard isTaken else {
      throw Problem(.overloaded, .serviceUnavailable, "Too many requests wait for workers.")
    }
  }

  private func links(_ caching: CachePolicy.Directive) -> Representation {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("links")
      writer.object { writer in
        writer.member("feeds", Route.feeds.path)
        writer.member("networks", Route.networks.path)
        writer.member("description", Route.openAPI.path)
        writer.member("module", Route.clientModule.path)
        writer.member("health", Route.health.path)
        writer.member("readiness", Route.readiness.path)
        writer.member("metrics", Route.metrics.path)
        if hasPage, labReport != nil { writer.member("labReport", LabReportFile.path) }
      }
    }
    return Representation(writer.bytes, caching: caching)
  }
}

extension Representation {
  /// A file that the program carries.
  init(_ file: PageFile, caching: CachePolicy.Directive) {
    self.init(file.bytes, ContentType.of(file.kind), caching: caching)
  }
}

extension ContentType {
  fileprivate static func of(_ kind: PageFile.Kind) -> ContentType {
    switch kind {
    case .document: page
    case .script: script
    case .style: style
    case .picture: picture
    }
  }

  /// What the page may do: run its own scripts, show what it has loaded, ask its own server, and nothing else.
  /// With trusted types, no text becomes HTML.
  private static let page = ContentType(
    "text/html; charset=utf-8",
    policy: [
      "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' blob:",
      "media-src 'self' blob:", "connect-src 'self'", "frame-src 'self'",
      "base-uri 'none'", "form-action 'none'",
      "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
    ].joined(separator: "; "))
  /// A report is somebody's file: it may look as it likes, and do nothing.
  fileprivate static let report = ContentType(
    "text/html; charset=utf-8",
    policy: [
      "default-src 'none'", "style-src 'unsafe-inline'", "img-src data:", "base-uri 'none'",
      "form-action 'none'", "frame-ancestors 'self'", "sandbox",
    ].joined(separator: "; "))
  private static let script = ContentType("text/javascript; charset=utf-8")
  private static let style = ContentType("text/css; charset=utf-8")
  private static let picture = ContentType("image/svg+xml")
}
