import Feed
import Prefetch
import Synchronization

/// A feed as its store has it, without its entries.
public struct FeedState: Equatable, Sendable {
  /// The store's number of the feed, which is never reused.
  public let id: Int64
  /// The name in paths and in `feed=`.
  @ByBytes public private(set) var name: String
  /// The display name; `nil` if no record gave one.
  @ByBytes public private(set) var title: String?
  /// The number of the current ranking.
  public let ranking: Int
  /// The oldest ranking that is kept.
  public let oldestRanking: Int

  /// Creates a feed.
  public init(id: Int64, name: String, title: String?, ranking: Int, oldestRanking: Int) {
    self.id = id
    self.name = name
    self.title = title
    self.ranking = ranking
    self.oldestRanking = oldestRanking
  }
}

/// The facts about a feed's entries that lists show, without the entries.
struct FeedExtent: Equatable, Sendable {
  /// The number of entries.
  let total: Int
  /// The newest time of any entry; `nil` if no entry has a time.
  let newestPublishedAt: Timestamp?

  /// Returns the extent after the changes; `nil` if they contain more than new entries, so that it cannot
  /// be computed.
  func after(_ changes: [EntryChange], ranking: Int) -> FeedExtent? {
    guard changes.allSatisfy({ $0.old == nil }) else { return nil }
    let added = changes.lazy.filter { $0.new?.contains(ranking) ?? false }.map(\.entry)
    return FeedExtent(
      total: total + added.count,
      newestPublishedAt: (added.compactMap(\.publishedAt) + [newestPublishedAt].compactMap { $0 })
        .max())
  }
}

/// The part of a store that readers hold in memory, as of one moment: every feed, the orders of those for
/// which there is room, the network profiles and the policies.
public struct FeedCatalog: Sendable {
  /// A feed, its number in the store, and its summary for lists. A class, so that a lookup copies nothing.
  public final class Entry: Sendable {
    /// The store's number of the feed.
    public let feedID: Int64
    /// The order of the feed.
    public let order: FeedOrder
    /// The extent of the current order, or of the order when it was evicted; `nil` until it is first read.
    let extent: FeedExtent?
    /// The approximate memory of the feed with all its orders, in bytes.
    let heldBytes: Int
    /// The catalog's turn in which a page of it was last requested.
    private let lastAsked: Atomic<UInt64>
    /// Whether its whole current order is in memory.
    let isHeld: Bool
    /// Whether its current order or its top is in memory.
    let isRead: Bool

    /// The memory of a feed without any order, in bytes: the entry, its names, and the tree nodes that lead
    /// to it.
    static let ownBytes = 450

    init(feedID: Int64, order: FeedOrder, extent: FeedExtent? = nil, lastAsked: UInt64 = 0) {
      self.feedID = feedID
      self.order = order
      self.extent =
        order.orders[order.ranking].map {
          FeedExtent(total: $0.count, newestPublishedAt: $0.newestPublishedAt)
        } ?? extent
      isRead = order.orders[order.ranking] != nil
      isHeld = isRead && order.current.isWhole
      heldBytes = Self.ownBytes + order.heldBytes
      self.lastAsked = Atomic(lastAsked)
    }

    /// The summary for lists; `nil` until the order is first read.
    public var summary: FeedSummary? {
      extent.map {
        FeedSummary(
          name: order.name, title: order.title, total: $0.total, ranking: order.ranking,
          newestPublishedAt: $0.newestPublishedAt)
      }
    }

    /// Returns the feed without its orders; the facts for lists stay.
    func lettingGo() -> Entry {
      Entry(
        feedID: feedID, order: FeedOrder(state, nil), extent: isHeld ? extent : nil,
        lastAsked: askedTurn)
    }

    /// The turn in which a page of it was last requested.
    var askedTurn: UInt64 { lastAsked.load(ordering: .relaxed) }

    /// Records that a page of it was requested. Writes shared memory only if this turn is not yet recorded.
    func noteAsked(in turn: UInt64) {
      if askedTurn != turn { lastAsked.store(turn, ordering: .relaxed) }
    }

    var state: FeedState {
      FeedState(
        id: feedID, name: order.name, title: order.title, ranking: order.ranking,
        oldestRanking: order.oldestRanking)
    }
  }

  /// Whether the store was read: then an order that is not in memory had no room, and is read on demand.
  /// Otherwise the catalog has only the tops of some feeds.
  public let isWhole: Bool
  /// The version of the store.
  public internal(set) var version = StoreVersion.start
  /// The number of catalogs published so far, including this one.
  var turn: UInt64 = 0
  /// The feeds.
  public internal(set) var feeds = FeedList()
  /// The profiles and policies in force.
  public internal(set) var policyBook = PolicyBook(networks: [], policies: [:])
  /// The approximate memory limit for feeds, in bytes.
  let limitBytes: Int

  init(isWhole: Bool, limitBytes: Int) {
    self.isWhole = isWhole
    self.limitBytes = limitBytes
  }

  /// Whether another order may be read into memory.
  var hasRoom: Bool { feeds.heldBytes < limitBytes }

  /// Evicts the least recently used orders if all take more than the limit. It evicts down to seven eighths
  /// of the limit, so that not every order that is read evicts one. The most recently used order stays,
  /// however large it is.
  mutating func letGo() {
    guard feeds.heldBytes > limitBytes else { return }
    feeds.letGo(downTo: limitBytes / 8 * 7)
  }
}

extension FeedOrder {
  /// Creates a feed with the order of its current ranking, if that is read.
  init(_ feed: FeedState, _ index: OrderIndex?) {
    self.init(
      name: feed.name, title: feed.title, ranking: feed.ranking,
      oldestRanking: feed.oldestRanking, orders: index.map { [feed.ranking: $0] } ?? [:])
  }
}

extension FeedCatalog {
  /// Cuts the page if that needs no read, as is usual; otherwise returns `nil`.
  ///
  /// - Throws: `FeedError` for what the catalog does not have.
  func cutAtHand(_ query: PageQuery) throws -> PageCut? {
    guard let feed = feeds[query.feed] else { throw FeedError.unknownFeed(query.feed) }
    guard feed.isHeld || feed.hasInTop(query), query.isOfOrder(feed.order.ranking) else {
      return nil
    }
    feed.noteAsked(in: turn)
    return try feed.cut(query, asOf: version)
  }

  /// Whether the page can be cut or refused at once: its rankings are in memory, and no two of them must be
  /// compared.
  public func isAtHand(_ query: PageQuery) -> Bool {
    guard let feed = feeds[query.feed] else { return true }
    feed.noteAsked(in: turn)
    guard feed.isHeld else { return feed.hasInTop(query) }
    let order = feed.order
    return query.rankings(beside: order.ranking).allSatisfy {
      $0 < order.oldestRanking
        || (order.orders[$0] != nil && !query.readsArrivals)
    }
  }
}

extension FeedCatalog.Entry {
  /// Whether the top of the current order is in memory and suffices for the page.
  func hasInTop(_ query: PageQuery) -> Bool {
    guard query.start == .top, let order = order.orders[order.ranking] else { return false }
    // A page past the end needs no entries.
    guard query.offset < order.count else { return true }
    return query.offset <= order.heldCount
      && min(query.limit, order.count - query.offset) <= order.heldCount - query.offset
  }

  /// The parts of the store that a page needs in addition to this entry; `nil` if there are none.
  func needs(of query: PageQuery) -> PageNeeds? {
    var item: String?
    if case .around(.item(let id), _, _) = query.start { item = id }
    let rankings = query.rankings(beside: order.ranking).filter {
      order.orders[$0] == nil && (order.oldestRanking..<order.ranking).contains($0)
    }
    guard item != nil || !rankings.isEmpty else { return nil }
    return PageNeeds(
      feedID: feedID, feed: order.name, ranking: order.ranking, item: item, rankings: rankings)
  }

  /// The part that is needed of the feed's order, which is not in memory.
  func needs(_ current: PageNeeds.Current) -> PageNeeds {
    PageNeeds(
      feedID: feedID, feed: order.name, ranking: order.ranking, item: nil, rankings: [],
      current: current)
  }

  /// Cuts the page, with the parts that were read for it.
  func cut(
    _ query: PageQuery, position: Position? = nil, orders: [Int: OrderIndex] = [:],
    asOf version: StoreVersion
  ) throws -> PageCut {
    guard let summary, isRead else {
      preconditionFailure("a page is cut out of an order that was read")
    }
    return PageCut(
      feed: summary, slice: try slice(query, position, orders), version: version)
  }

  private func slice(
    _ query: PageQuery, _ position: Position?, _ orders: [Int: OrderIndex]
  ) throws(FeedError) -> PageSlice {
    guard !orders.isEmpty else { return try order.slice(query, position: position) }
    var order = order
    for (ranking, index) in orders { order.orders[ranking] = index }
    return try order.slice(query, position: position)
  }
}

extension PageQuery {
  /// Whether the page needs only the order of this ranking, which is the current one.
  fileprivate func isOfOrder(_ current: Int) -> Bool {
    if case .around(.item, _, _) = start { return false }
    return rankings(beside: current).isEmpty
  }

  /// Whether the page compares two rankings, which takes time proportional to the feed's size.
  fileprivate var readsArrivals: Bool {
    switch start {
    case .top, .around, .after, .between: false
    case .before(let cursor):
      switch cursor.view {
      case .ranking: false
      case .newer, .arrivals: true
      }
    }
  }
}

/// A type that cuts pages from a catalog, and reads what the catalog does not hold.
protocol CatalogCutter: AnyObject, Sendable {
  func cut(_ query: PageQuery, from catalog: FeedCatalog) throws -> PageCut
}

extension CatalogFollower: CatalogCutter {}

/// A published catalog: one object shared by all readers.
final class PublishedCatalog: Sendable {
  let catalog: FeedCatalog
  init(_ catalog: FeedCatalog) { self.catalog = catalog }
}

/// The last published catalog, and the reader for what it does not hold. Two references, so that a
/// request which takes one allocates nothing for it.
struct CatalogSnapshot: StoreSnapshot {
  let cutter: any CatalogCutter
  let published: PublishedCatalog

  var version: StoreVersion { published.catalog.version }
  var policyBook: PolicyBook { published.catalog.policyBook }
  var isWhole: Bool { published.catalog.isWhole }
  var feedCount: Int { published.catalog.feeds.count }
  var knownFeeds: [FeedSummary] { published.catalog.feeds.entries.compactMap(\.summary) }
  var orderMemory: OrderMemory {
    OrderMemory(
      feeds: published.catalog.feeds.heldCount, bytes: published.catalog.feeds.heldBytes)
  }
  func hasFeed(named name: String) -> Bool { published.catalog.feeds[name] != nil }
  func knownFeed(named name: String) -> FeedSummary? { published.catalog.feeds[name]?.summary }
  func knownFeeds(_ query: FeedListQuery) -> FeedListPage? { published.catalog.feeds.page(query) }
  func isAtHand(_ query: PageQuery) -> Bool { published.catalog.isAtHand(query) }
  func cutAtHand(_ query: PageQuery) throws -> PageCut? {
    try published.catalog.cutAtHand(query)
  }
  func cut(_ query: PageQuery) throws -> PageCut {
    try cutter.cut(query, from: published.catalog)
  }
}
