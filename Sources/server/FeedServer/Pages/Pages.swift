// - whole pages, each coding, with their heads: `KeptPages`, three quarters of `--encoded-memory-
//   bytes`; the least recently used is evicted.
// - compressed bodies, by content: `EncodedBodies`, the other quarter; the same.
// - encoded items: `ItemFile`, a file without a name beside the database, in the system's memory;
//   8 bytes an item in ours; its post changes, or the file is restarted.
// - the orders of feeds, of all where `--order-memory-bytes` has room: `FeedCatalog`, which
//   `CatalogFollower` brings up to the store; the least recently used one is
//   evicted when another one needs the room.
//
// An absent order is read on demand (`CatalogFollower.held`): beside refreshes, and brought up to
// the catalog by what was written meanwhile; so no other request waits for it. Most pages of that
// feed do not wait either: until the order is loaded, a worker cuts them from a window that it
// reads by an index (`OrderWindow`), and they have the same bytes. A feed's summary for lists
// (`FeedExtent`) stays when its order is evicted, and follows the writes. Applying a write needs no
// order.
//
// The store counts versions: `FeedStore.version` is greater as soon as anything is different,
// before a write is answered, and for other processes' writes with the next refresh. It also says
// what has changed since a version (`ChangeJournal`, bounded; the change log of the database,
// which triggers write, whichever program wrote the rows). So the store never invalidates anything
// itself: a page compares its version with the store's, and if they differ, it asks whether its
// feed, its items or the settings are among what changed; the item file does the same before each
// look-up. A change of one item costs the pages that show it; a change of a feed's order costs the
// pages of that feed, whose items stay.
//
// `ItemFiller` goes through all feeds once the server has started, so that items which are shown
// together lie together in the file and a page is one read of it.
//
// An item's record in that file has its JSON with the hint that the policy of its feed gives it,
// the hash of that JSON, what a plan needs of it (`ItemCosts`: numbers alone), the hash of the
// costs that both are by (`PageCosts`), and its files, on which other hints rest. The costs are
// those of the policy for most items, and for a video with leads those on one bandwidth. On a
// network whose policy has other costs hint and plan are worked out, and the page has the same
// bytes as without the file (`PageMakerTests`).

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
