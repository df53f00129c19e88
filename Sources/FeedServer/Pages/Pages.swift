import Catalog
import Feed
import HTTP
import HTTPServer
import PostJSON
import Prefetch
import System

/// Answers requests for pages: with one that is kept, or else with one that is made.
final class Pages: Sendable {
  let kept: KeptPages
  let maker: PageMaker
  private let encoding: BodyEncoding
  /// Where pages are made that take long.
  private let workers: RequestWorkers
  private let caching: CachePolicy.Directive
  private let linking: MediaLinking
  private let requests: FeedRequests

  init(
    kept: KeptPages, maker: PageMaker, encoding: BodyEncoding, workers: RequestWorkers,
    caching: CachePolicy.Directive, linking: MediaLinking, requests: FeedRequests
  ) {
    self.kept = kept
    self.maker = maker
    self.encoding = encoding
    self.workers = workers
    self.caching = caching
    self.linking = linking
    self.requests = requests
  }

  /// A page is answered at once where the store has it at hand, and by a worker where it has to load
  /// or compare rankings first.
  ///
  /// - Throws: `ParameterError`, `CursorError`, and what the store throws.
  func answer(feed: String, _ parameters: Parameters, _ call: Call) throws {
    let snapshot = try maker.store.snapshot()
    let asked = try PageRequest(
      feed: feed, isCompact: call.route == .compactPage, parameters, call.request.fields,
      snapshot.policyBook.networks, linking.links)
    let coding = try encoding.coding(for: call.request)
    if let page = kept.find(asked.key(coding), for: call.text) {
      return call.respond(try page.answer(to: call.request))
    }
    if let page = try maker.makeAtOnce(asked, from: snapshot, call.timing) {
      return try answer(page, coding, call)
    }
    if snapshot.isAtHand(asked.query) { return make(asked, snapshot, coding, call) }
    guard workers.run(for: call, { [self] in make(asked, snapshot, coding, call) }) else {
      throw Problem(.overloaded, .serviceUnavailable, "Too many requests wait for the database.")
    }
  }

  private func make(
    _ asked: PageRequest, _ snapshot: any StoreSnapshot, _ coding: ContentCoding, _ call: Call
  ) {
    maker.make(asked, from: snapshot, call.timing) { [self] page in
      call.attempt { try answer(try page.get(), coding, call) }
    }
  }

  private func answer(_ page: PageMaker.Page, _ coding: ContentCoding, _ call: Call) throws {
    requests.note(page.feed)
    var representation = Representation(page.body, hash: page.hash, caching: caching)
    representation.varyingFields = page.asked.varyingFields
    representation.cacheKeys = .page(feed: page.feed)
    representation.links = .page(page.links)
    if let variant = encoding.plain(representation, in: coding, for: call.request) {
      keep(variant, of: page, coding, for: call)
      return call.respond(try variant.answer(to: call.request))
    }
    try encoding.compress(representation, in: coding, for: call) { [self] variant in
      keep(variant, of: page, coding, for: call)
    }
  }

  private func keep(
    _ variant: Variant, of page: PageMaker.Page, _ coding: ContentCoding, for call: Call
  ) {
    kept.keep(
      call.text, page.asked.key(coding), bodyBytes: variant.body.count,
      KeptPage(
        variant, route: call.route?.path ?? "", feed: page.feed, posts: page.posts,
        asOf: page.version, requests: requests))
  }
}
