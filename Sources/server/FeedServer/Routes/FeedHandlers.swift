import Catalog
import Feed
import HTTP
import HTTPServer
import JSON
import PostJSON
import Prefetch
import Reports

/// Answers with a page of the list of feeds.
struct FeedsHandler: RouteHandler {
  let store: any FeedStore & PolicyStore
  let encoding: BodyEncoding
  let caching: CachePolicy.Directive

  func answer(_ call: Call) throws {
    let asked = try FeedListRequest(call.parameters)
    try encoding.answer(call, known: store.snapshot().knownFeeds(asked.query)) {
      try store.feeds(asked.query)
    } as: { page in
      let links = FeedListLinks(page, asked)
      var writer = JSONWriter(capacity: 1024)
      writer.feeds(page, links)
      var representation = Representation(writer.bytes, caching: caching)
      representation.links = links.field
      representation.cacheKeys = .these([CacheKey.all, CacheKey.feeds])
      return representation
    }
  }
}

/// Answers with a feed's summary.
struct FeedHandler: RouteHandler {
  let store: any FeedStore & PolicyStore
  let encoding: BodyEncoding
  let caching: CachePolicy.Directive

  func answer(_ call: Call) throws {
    let name = call.segment("feed")
    let snapshot = try store.snapshot()
    guard snapshot.hasFeed(named: name) else { throw FeedError.unknownFeed(name) }
    try encoding.answer(call, known: snapshot.knownFeed(named: name)) {
      guard let feed = try store.feed(named: name) else { throw FeedError.unknownFeed(name) }
      return feed
    } as: { feed in
      var writer = JSONWriter()
      writer.feed(feed)
      var representation = Representation(writer.bytes, caching: caching)
      representation.cacheKeys = .page(feed: feed.name)
      representation.version = FeedVersion(StoredFeed(name: feed.name, title: feed.title)).text
      return representation
    }
  }
}

extension BodyEncoding {
  /// Answers with known facts about feeds at once; a worker reads the others.
  fileprivate func answer<Known: Sendable>(
    _ call: Call, known: Known?, read: @escaping @Sendable () throws -> Known,
    as representation: @escaping @Sendable (Known) throws -> Representation
  ) throws {
    if let known { return answer(try representation(known), to: call) }
    try workers.run(for: call) {
      call.attempt { self.answer(try representation(try read()), to: call) }
    }
  }
}

/// Answers with the networks, and the policy in force on each, for a feed or for all feeds without policies
/// of their own.
struct NetworksHandler: RouteHandler {
  let store: any PolicyStore
  let outcomes: PolicyOutcomes
  let workers: RequestWorkers
  let encoding: BodyEncoding
  let caching: CachePolicy.Directive

  func answer(_ call: Call) throws {
    let feed = call.parameters["feed"]
    let snapshot = try store.snapshot()
    if let feed, !snapshot.hasFeed(named: feed) { throw FeedError.unknownFeed(feed) }
    let book = snapshot.policyBook
    let predicted = PolicyOutcome.predictions(of: book)
    if predicted.isEmpty { return answer(call, feed, book, []) }
    try workers.run(for: call) {
      call.attempt { answer(call, feed, book, try outcomes.met(predicted)) }
    }
  }

  private func answer(
    _ call: Call, _ feed: String?, _ book: PolicyBook, _ outcomes: [PolicyOutcome]
  ) {
    var writer = JSONWriter(capacity: 4096)
    writer.object { writer in
      writer.member("feed", feed)
      writer.array("networks") { writer in
        for network in book.networks {
          let evidence = book.evidence(feed: feed, network: network)
          // The outcome of the policy in force: the feed's own, or that of all feeds.
          let outcome = outcomes.last { outcome in
            outcome.network.isSame(as: network.name) && outcome.appliedAt == evidence?.appliedAt
              && (outcome.feed.map { feed?.isSame(as: $0) == true } ?? true)
          }
          writer.network(
            network, book.policy(feed: feed, network: network), evidence, outcome,
            book.experiment(feed: feed, network: network).map {
              ($0.draw, book.policy(feed: feed, network: network, arm: .b))
            })
        }
      }
      writer.array("feedsWithPolicies") { writer in
        for feed in book.feeds { writer.string(feed) }
      }
      if let problem = book.problem {
        writer.key("problem")
        writer.policyError(problem)
      }
    }
    var representation = Representation(writer.bytes, caching: caching)
    representation.cacheKeys = .these([CacheKey.all])
    encoding.answer(representation, to: call)
  }
}

/// Tells the client when a feed has something newer, for as long as the client listens.
struct EventsHandler: RouteHandler {
  let events: FeedEvents
  let requests: FeedRequests

  /// - Throws: `CursorError` if `before` does not hold a cursor. A browser's `Last-Event-ID` on reconnecting is
  ///   never refused, as the browser would then give up: an invalid cursor is treated as behind.
  func answer(_ call: Call) throws {
    let feed = call.segment("feed")
    var position = FeedEvents.Position.now
    if let seen = try PageRequest.cursor("before", call.parameters) { position = .seen(seen) }
    if let last = call.request.fields.combined("Last-Event-ID") {
      position = .returning(try? Cursor(text: last))
    }
    events.listen(to: feed, from: position) { stream in
      call.answer {
        let stream = try stream.get()
        requests.note(feed)
        var fields: Fields = [
          "Content-Type": "text/event-stream", "Cache-Control": "no-store",
          // Tells nginx to pass bytes on as they come.
          "X-Accel-Buffering": "no",
        ]
        fields.appendCORS()
        return Response(.ok, fields: fields, body: [.stream(stream)])
      }
    }
  }
}
