// The caches of pages, from the whole to its parts:
// - whole pages, each coding, with their heads: `KeptPages`, three quarters of `--encoded-memory-bytes`;
//   least recently used pages are evicted.
// - compressed bodies, by content: `EncodedBodies`, the other quarter; evicted likewise.
// - encoded items: `ItemFile`, a file without a name beside the database, in the system's memory, with 8
//   bytes an item in ours; an item leaves when its post changes or the file is restarted.
// - the orders of feeds, of all if `--order-memory-bytes` has room: `FeedCatalog`, which `CatalogFollower`
//   keeps up to date with the store; least recently used orders are evicted when another needs the room.
//
// An absent order is read on demand (`CatalogFollower.held`): beside refreshes, and then updated to the
// catalog with the writes since; so no other request waits for it. Most pages of that feed do not wait
// either: until the order is loaded, a worker cuts them from a window that it reads by an index
// (`OrderWindow`), and they have the same bytes. A feed's summary for lists (`FeedExtent`) stays when its
// order is evicted, and follows the writes. Applying a write needs no order.
//
// The store counts versions: `FeedStore.version` grows as soon as anything changes, before a write is
// answered, and for other processes' writes with the next refresh. The store also lists what has changed
// since a version (`ChangeJournal`, bounded; the change log of the database, which triggers write, whichever
// program wrote the rows). So the store never invalidates anything itself: a page compares its version with
// the store's, and if they differ, it asks whether its feed, its items or the settings are among the changes;
// the item file does the same before each look-up. A change of one item costs the pages that show it; a
// change of a feed's order costs the pages of that feed, whose items stay.
//
// `ItemFiller` reads all feeds once after the server has started, so that items which pages show together are
// adjacent in the file and a page is one read.
//
// An item's record in that file has its JSON with the hint that the policy of its feed gives it, the hash of
// that JSON, what a plan needs of it (`ItemCosts`: numbers alone), the hash of the costs on which both are
// based (`PageCosts`), and its files, on which other hints depend. Most items have the costs of the policy; a
// video with leads has those on one bandwidth. On a network whose policy has other costs, hint and plan are
// computed, and the page has the same bytes as without the file (`PageMakerTests`).

import Catalog
import Feed
import HTTP
import HTTPServer
import JSON
import PostJSON
import Prefetch
import System

/// Answers with a page of a feed.
struct PageHandler: RouteHandler {
  let pages: Pages
  /// Whether its route is the compact one, which names the feed in the query.
  let isCompact: Bool

  func answer(_ call: Call) throws {
    guard let feed = isCompact ? call.parameters["feed"] : call.segment("feed") else {
      throw ParameterError(parameter: "feed", problem: "is missing: it names the feed to read")
    }
    try pages.answer(feed: feed, isCompact: isCompact, call)
  }
}

/// Answers requests for pages: from the cache, or else with a new page.
final class Pages: Sendable {
  let kept: KeptPages
  let maker: PageMaker
  private let encoding: BodyEncoding
  /// The threads that make slow pages.
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

  /// Answers at once if the store has the page in memory; a worker answers if the store must first load or
  /// compare rankings.
  ///
  /// - Throws: `ParameterError`, `CursorError`, and what the store throws.
  fileprivate func answer(feed: String, isCompact: Bool, _ call: Call) throws {
    let snapshot = try maker.store.snapshot()
    let asked = try PageRequest(
      feed: feed, isCompact: isCompact, call.parameters, call.request.fields,
      snapshot.policyBook.networks, linking.links)
    let coding = try encoding.coding(for: call.request)
    if let page = kept.find(
      asked.key(coding).kept(seconds: call.text.cacheSeconds), for: call.text)
    {
      return call.respond(try page.answer(to: call.request))
    }
    if let page = try maker.makeAtOnce(asked, from: snapshot, call.timing) {
      return try answer(page, coding, call)
    }
    if snapshot.isAtHand(asked.query) { return make(asked, snapshot, coding, call) }
    try workers.run(for: call) { [self] in make(asked, snapshot, coding, call) }
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
      call.text, page.asked.key(coding).kept(seconds: call.text.cacheSeconds),
      bodyBytes: variant.body.count,
      KeptPage(
        variant, route: call.route?.path ?? "", feed: page.feed, posts: page.posts,
        asOf: page.version, requests: requests))
  }
}

/// Makes pages from a feed's data in memory, and its items.
final class PageMaker: Sendable {
  let store: any FeedStore & PolicyStore
  let source: ItemSource

  /// A new page.
  final class Page: Sendable {
    let body: [UInt8]
    let hash: ContentHash
    let links: PageLinks
    /// The feed's name and the numbers of the posts: what the page shows.
    let feed: String
    let posts: [Int64]
    /// The version of the store at which all of it was current together.
    let version: StoreVersion
    /// The request, read with the networks of that version.
    let asked: PageRequest

    init(
      body: [UInt8], hash: ContentHash, links: PageLinks, feed: String, posts: [Int64],
      version: StoreVersion, asked: PageRequest
    ) {
      self.body = body
      self.hash = hash
      self.links = links
      self.feed = feed
      self.posts = posts
      self.version = version
      self.asked = asked
    }
  }

  init(store: any FeedStore & PolicyStore, source: ItemSource) {
    self.store = store
    self.source = source
  }

  private static let attempts = 3

  /// Makes the requested page at once if all that it needs is in memory and in the item file, the usual case;
  /// else returns `nil`, and reports nothing.
  ///
  /// - Throws: `FeedError` for what the store does not have; the store's own failures.
  func makeAtOnce(
    _ asked: PageRequest, from snapshot: any StoreSnapshot, _ timing: Timing?
  ) throws -> Page? {
    let cut: PageCut?
    do {
      cut = try timing.measure(.cut) { try snapshot.cutAtHand(asked.query) }
    } catch FeedError.unknownRanking {
      // Another server may have issued the cursor since the last look.
      return nil
    }
    guard let cut else { return nil }
    let posts = cut.posts
    let start = timing.begin()
    guard let items = source.encoded(posts, links: asked.links) else { return nil }
    timing.end(.read, start)
    let book = snapshot.policyBook
    return timing.measure(.encode) {
      encode(cut, posts, items, asked, book, asOf: cut.version)
    }
  }

  /// Makes the requested page from one snapshot and its items. `completion` is called once, on this thread or
  /// on the one on which the store has read items.
  ///
  /// If a post was deleted, memory is behind the store: the store is refreshed, and the page is made again
  /// from a later snapshot; likewise if a loaded order is from a later version. Fails with `FeedError` for
  /// what the store does not have, and with the store's own failures.
  func make(
    _ asked: PageRequest, from snapshot: any StoreSnapshot, _ timing: Timing?, attempt: Int = 1,
    completion: @escaping @Sendable (Result<Page, any Error>) -> Void
  ) {
    @Sendable func again(afterRefresh isToRefresh: Bool) throws {
      if isToRefresh { try store.refresh() }
      let snapshot = try store.snapshot()
      make(
        try asked.read(with: snapshot.policyBook.networks), from: snapshot, timing,
        attempt: attempt + 1, completion: completion)
    }
    func begin() throws {
      let cut: PageCut
      do {
        cut = try timing.measure(.cut) { try snapshot.cut(asked.query) }
      } catch FeedError.unknownRanking where attempt == 1 {
        // Another server may have issued the cursor since the last look.
        return try again(afterRefresh: true)
      }
      let posts = cut.posts
      let book = snapshot.policyBook
      let policy = book.policy(
        feed: cut.feed.name, network: asked.network.profile, arm: asked.arm)
      let version = snapshot.version
      let start = timing.begin()
      source.items(
        posts, hintsBy: policy, on: asked.network.profile, widthPixels: asked.bounds.widthPixels,
        links: asked.links
      ) { [self] items in
        timing.end(.read, start)
        completing(completion) {
          let items = try items.get()
          // If posts are deleted faster than this reader reads, the page is short, but its posts are right.
          let isWhole = items.count == posts.count
          if isWhole && cut.version == version || attempt == Self.attempts {
            let page = timing.measure(.encode) {
              encode(cut, posts, items, asked, book, asOf: min(cut.version, version))
            }
            return completion(.success(page))
          }
          try again(afterRefresh: !isWhole)
        }
      }
    }
    completing(completion, begin)
  }

  /// Runs `work`, which calls `completion`; if it throws, calls `completion` with the error.
  private func completing(
    _ completion: (Result<Page, any Error>) -> Void, _ work: () throws -> Void
  ) {
    do { try work() } catch { completion(.failure(error)) }
  }

  /// Writes the page around its items. Its hash is the hash of the hashes of the bytes before the items, of
  /// each item, and of the bytes behind them.
  private func encode(
    _ cut: PageCut, _ posts: [Int64], _ items: EncodedItems, _ asked: PageRequest,
    _ book: PolicyBook, asOf version: StoreVersion
  ) -> Page {
    let network = asked.network.profile
    let policy = book.policy(feed: cut.feed.name, network: network, arm: asked.arm)
    let experiment = book.experiment(feed: cut.feed.name, network: network)
    let links = asked.links(of: cut.slice)
    var hashes: [ContentHash] = []
    hashes.reserveCapacity(items.count + 2)
    var writer = JSONWriter(
      capacity: items.bytes.count + Self.tailCapacity
        + Self.itemCapacity * (items.count + 3 * policy.plannedItems))
    writer.beginPage(
      feed: cut.feed.name, title: cut.feed.title, total: cut.feed.total,
      ranking: cut.feed.ranking)
    hashes.append(ContentHash(writer.bytes.span))
    let costs = PageCosts(
      policy, on: asked.network.profile, widthPixels: asked.bounds.widthPixels)
    let first = write(items, policy, costs, to: &writer, &hashes)
    let itemsEnd = writer.bytes.count
    let plan = policy.plan(
      for: first.costs, of: items.count, on: asked.network.profile, bounds: asked.bounds,
      hasNextPage: links.next != nil)
    writer.endPage(
      offset: cut.slice.offset, ranking: cut.slice.ranking, links: links, plan: plan, by: policy,
      trying: experiment.map { ($0.draw, asked.arm) }, on: network, within: asked.bounds,
      openIDs: first.openIDs, of: items.bytes)
    let body = writer.bytes
    hashes.append(ContentHash(body.span.extracting(itemsEnd..<body.count)))
    return Page(
      body: body, hash: ContentHash(ofParts: hashes), links: links, feed: cut.feed.name,
      posts: posts, version: version, asked: asked)
  }

  /// The capacity for everything but items: a feed's title, cursors, links. It grows if that is too little.
  private static let tailCapacity = 4096
  /// The maximum bytes of a hint and of a part of the plan, beyond an item's own bytes.
  private static let itemCapacity = 160

  /// The data of the first items that the plan needs, as many as it covers.
  private struct FirstItems {
    var costs: ItemCosts
    /// The ranges of their ids, without quotes.
    var openIDs: [Range<Int>] = []
  }

  /// Writes the items, each with the hint that the policy gives it.
  private func write(
    _ items: EncodedItems, _ policy: Policy, _ costs: PageCosts,
    to writer: inout JSONWriter, _ hashes: inout [ContentHash]
  ) -> FirstItems {
    let planned = min(items.count, policy.plannedItems)
    var first = FirstItems(costs: ItemCosts(reserving: planned))
    first.openIDs.reserveCapacity(planned)
    writer.literal(capacity: items.bytes.count + Self.itemCapacity * items.count) { text in
      let bytes = items.bytes.span
      var position = 0
      for index in 0..<items.count {
        let item = items.item(at: position)
        position = item.end
        if index < planned { first.openIDs.append(item.openID) }
        if index > 0 { text.append(",") }
        let hash = costs.hash(
          dependsOnDownlink: item.dependsOnDownlink, hasVariants: item.hasVariants)
        if item.costs == hash {
          text.append(bytes.extracting(item.json))
          hashes.append(item.hash)
          if index < planned { items.append(costsOf: item, to: &first.costs) }
        } else {
          let start = text.count
          let load = items.load(of: item)
          text.append(bytes.extracting(item.json.lowerBound..<item.hintStart))
          text.append(hint: costs.costs.hint(for: load))
          text.append("}")
          hashes.append(ContentHash(text.span.extracting(start..<text.count)))
          if index < planned { first.costs.append(load, by: costs.costs) }
        }
      }
    }
    return first
  }
}

/// The costs on which a page's hints are based, and the hashes that name them in records of items.
///
/// Most items cost the same on every network: their records are based on the policy's costs alone, so that
/// pages for all networks can use them unchanged.
struct PageCosts {
  /// The costs of items that depend on the bandwidth and the width; valid for all other items, too.
  let costs: HintCosts
  private let hash: ContentHash
  private let downlinkHash: ContentHash
  private let widthHash: ContentHash

  /// - Parameter widthPixels: the width at which the client shows files; `nil` if it does not give one.
  init(_ policy: Policy, on network: NetworkProfile, widthPixels: Int?) {
    costs = policy.costs(downlinkKbps: network.downlinkKbps, widthPixels: widthPixels ?? 0)
    hash = Self.hash(of: policy.costs(downlinkKbps: 0))
    downlinkHash = Self.hash(of: policy.costs(downlinkKbps: network.downlinkKbps))
    widthHash = widthPixels == nil ? downlinkHash : Self.hash(of: costs)
  }

  private static func hash(of costs: HintCosts) -> ContentHash {
    Swift.withUnsafeBytes(of: costs) { ContentHash($0) }
  }

  /// The hash in a record of the costs on which its hint is based.
  func hash(dependsOnDownlink: Bool, hasVariants: Bool) -> ContentHash {
    if hasVariants, costs.choosesVariants { return widthHash }
    return dependsOnDownlink ? downlinkHash : hash
  }
}
