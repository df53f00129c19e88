import Feed

// A feed's order is (sort key, id). `SortKey` is one number: the rank, or else a number that falls
// with the time, or else the largest. `feed_entry` has a row for an entry and the rankings
// `since…until` in which it is shown. A move closes the row at the next ranking and opens another,
// in the transaction that raises the feed's ranking: no client ever sees or shares an unfinished
// ranking. So an old ranking costs only the rows that moved, and a walk continues in the ranking
// in which it began. Closed rows are deleted when their last ranking is no longer kept
// (`RankingRetention`).
//
// A single write moves its own entries. A run (`seed`, an import) keeps the places that it gives to posts
// aside, in `pending_place` under its number (`RankingRun`), and applies them all when it ends, on top of
// what others wrote meanwhile. Those rows belong only to that run; the same input again starts over, by
// comparing with what is shown. A run holds a lock on a byte of the file `-runs` beside the database as
// long as it lives (`RunLock`), in any process: the next run that publishes a ranking drops the places of
// runs that have ended. From those runs it takes over the entries that are ordered by time and whose
// positions do not match their posts' times, because the posts were stored with the batches.
//
// In memory, `OrderIndex` holds an order as sorted chunks with the offset at which each begins:
// offset to entry, position to offset and total cost O(log n), and a change copies the chunk that
// it hits and the list of chunks. It is a value: readers keep theirs while the next is made. An
// entry has 32 bytes and the bytes of its id.
//
// A `FeedList` holds the feeds by name, by number and in the order of their names: trees and chunks that
// copies share, so that the cost of a change does not depend on the number of feeds. The change log records
// the feed of each row.
//
// When a server starts, the store reads the names of the feeds and, for as many feeds as a tenth
// of a second allows, the top and the entry count (`beginLoading`). These answer first pages while
// the store reads the orders, each from one index alone.
//
// A catalog (`FeedCatalog`: orders, policies) follows its store: `CatalogFollower` asks a `CatalogSource`
// for what was committed since the last mark, a value that is opaque to all but the store. If the store no
// longer knows that, the follower loads everything again. Each published catalog is a `StoreVersion`, and a
// journal (`ChangeJournal`) records which feeds, posts and settings changed at which version: a caller that
// caches what it reads asks for the version first, and later whether its copy is still valid. The journal
// has a version's changes before the version is visible, and the version is visible before a write is
// answered.
//
// A cursor (`Cursor.swift`) is the feed's hash, the ranking, a position and the top of what the walk has
// seen, with a CRC-32, in base64url. It holds a position and not an item, so its anchor may be deleted.

/// A feed at one moment: its names, and its order in the rankings that are in memory.
public struct FeedOrder: Sendable {
  /// The name in paths, in `feed=` and in cursors.
  public let name: String
  /// The display name; `nil` if no record gave one.
  public var title: String?
  /// The current ranking. A move of an existing entry starts the next one.
  public var ranking: Int { didSet { current = orders[ranking] ?? OrderIndex() } }
  /// The oldest ranking that is kept.
  public var oldestRanking: Int
  /// The order of each ranking that is in memory: always the current one, older ones on demand.
  public var orders: [Int: OrderIndex] {
    didSet { current = orders[ranking] ?? OrderIndex() }
  }
  /// The current order. Every page uses it, so it is looked up only once.
  public private(set) var current: OrderIndex
  /// The requested older rankings among `orders`, the most recent request last.
  private var asked: [Int] = []

  /// The number of the newest older rankings that stay in memory, and of the requested ones: each takes
  /// memory for what it does not share with the next.
  public static let olderAtHand = 16

  /// Creates a feed with these orders in memory.
  public init(
    name: String, title: String?, ranking: Int, oldestRanking: Int = 1, orders: [Int: OrderIndex]
  ) {
    self.name = name
    self.title = title
    self.ranking = ranking
    self.oldestRanking = oldestRanking
    self.orders = orders
    current = orders[ranking] ?? OrderIndex()
  }

  /// Keeps the order of an older ranking in memory, for clients that continue in it.
  public mutating func keep(_ index: OrderIndex, of ranking: Int) {
    orders[ranking] = index
    asked.removeAll { $0 == ranking }
    asked.append(ranking)
    letGo()
  }

  /// Evicts the orders beyond the number that may stay in memory.
  public mutating func letGo() {
    asked = asked.filter { orders[$0] != nil && $0 < ranking }.suffix(Self.olderAtHand)
    guard orders.count > Self.olderAtHand + 1 else { return }
    let newest = orders.keys.filter { $0 < ranking }.sorted().suffix(Self.olderAtHand)
    let kept = Set(newest).union(asked).union([ranking])
    orders = orders.filter { kept.contains($0.key) }
  }

  /// The approximate memory of all its orders, in bytes: what one shares with the next is counted once.
  var heldBytes: Int {
    guard let current = orders[ranking] else { return 0 }
    // A dictionary with a few elements takes about 160 bytes.
    var (bytes, next) = (current.heldBytes() + 160, current)
    guard orders.count > 1 else { return bytes }
    for (older, order) in orders.sorted(by: { $0.key > $1.key }) where older != ranking {
      bytes += order.heldBytes(beside: next)
      next = order
    }
    return bytes
  }
}

/// The entries of a page and the cursors around them.
public struct PageSlice: Sendable {
  /// The ranking of the page.
  public let ranking: Int
  /// The order from which the page is cut, and its range.
  private let order: OrderIndex
  private let range: Range<Int>
  /// The first entry's offset from the top; past the end, the requested offset; 0 if nothing has arrived.
  public let offset: Int
  /// The cursor directly below the last entry; `nil` if no entry follows.
  public let next: Cursor?
  /// The cursor directly above the first entry; `nil` if no entry precedes it.
  public let previous: Cursor?
  /// The cursor to read `before`, for entries that arrived since: pull-to-refresh.
  public let newer: Cursor

  fileprivate init(
    ranking: Int, _ range: Range<Int>, of order: OrderIndex, offset: Int, next: Cursor?,
    previous: Cursor?, newer: Cursor
  ) {
    self.ranking = ranking
    self.order = order
    self.range = range
    self.offset = offset
    self.next = next
    self.previous = previous
    self.newer = newer
  }

  /// The number of entries.
  public var count: Int { range.count }

  /// The entries from the top down; empty past the end.
  public var entries: [OrderEntry] { order.entries(in: range) }

  /// The numbers of the entries' posts.
  public var posts: [Int64] { order.posts(in: range) }
}

extension FeedOrder {
  /// Returns the page for the query.
  ///
  /// The query's rankings must be in memory. `position` is the position in the current ranking of the item
  /// that `around` names.
  ///
  /// - Throws: `FeedError` for cursors of other feeds, and of unknown or expired rankings.
  public func slice(_ query: PageQuery, position: Position? = nil) throws(FeedError) -> PageSlice {
    switch query.start {
    case .top:
      let index = current
      return slice(
        of: index, ranking: ranking, from: query.offset, limit: query.limit,
        within: 0..<index.count)
    case .after(let cursor):
      let ranking = try historyRanking(of: cursor, .after)
      let index = try order(of: ranking, .after)
      return slice(
        of: index, ranking: ranking,
        from: cursor.anchor.offsetAfter(in: index).saturatingAdd(query.offset),
        limit: query.limit, within: 0..<index.count, seen: cursor.seen)
    case .before(let cursor):
      return try slice(before: cursor, offset: query.offset, limit: query.limit)
    case .between(let after, let before):
      return try slice(after: after, before: before, offset: query.offset, limit: query.limit)
    case .around(let target, let leading, let trailing):
      let index = current
      let offset =
        switch target {
        case .offset(let offset): offset
        case .item: position.map(index.offset(of:)) ?? 0
        }
      let start = max(0, offset - trailing)
      return slice(
        of: index, ranking: ranking, from: start,
        limit: offset.saturatingAdd(leading + 1) - start, within: 0..<index.count)
    }
  }

  private func slice(after: Cursor, before: Cursor, offset: Int, limit: Int) throws(FeedError)
    -> PageSlice
  {
    let ranking = try historyRanking(of: after, .after)
    let other = try historyRanking(of: before, .before)
    guard ranking == other else { throw .differentRankings(after: ranking, before: other) }
    let index = try order(of: ranking, .after)
    let start = after.anchor.offsetAfter(in: index)
    let end = max(start, before.anchor.offset(in: index))
    return slice(
      of: index, ranking: ranking, from: start.saturatingAdd(offset), limit: limit,
      within: start..<end, seen: after.seen.upper(before.seen), below: before.anchor)
  }

  private func slice(before cursor: Cursor, offset: Int, limit: Int) throws(FeedError) -> PageSlice
  {
    try check(cursor, .before)
    switch cursor.view {
    case .ranking(let ranking):
      return try slice(before: cursor, in: ranking, offset: offset, limit: limit)
    case .newer(let old):
      let index = try order(of: old, .before)
      if old == ranking || cursor.anchor.offset(in: index) > 0 {
        return try slice(before: cursor, in: old, offset: offset, limit: limit)
      }
      return try arrivals(from: old, to: ranking, above: .end, offset: offset, limit: limit)
    case .arrivals(let old, let to):
      return try arrivals(from: old, to: to, above: cursor.anchor, offset: offset, limit: limit)
    }
  }

  private func slice(before cursor: Cursor, in ranking: Int, offset: Int, limit: Int)
    throws(FeedError) -> PageSlice
  {
    let index = try order(of: ranking, .before)
    let end = max(0, cursor.anchor.offset(in: index) - offset)
    let start = max(0, end - limit)
    return slice(
      of: index, ranking: ranking, from: start, limit: end - start, within: 0..<index.count,
      seen: cursor.seen)
  }

  /// Returns the page that begins at the offset `start`, within a part of a ranking's order.
  private func slice(
    of index: OrderIndex, ranking: Int, from start: Int, limit: Int, within window: Range<Int>,
    seen: Cursor.Anchor? = nil, below: Cursor.Anchor = .end
  ) -> PageSlice {
    let lower = min(start, window.upperBound)
    let upper = min(lower.saturatingAdd(limit), window.upperBound)
    let ends = lower < upper ? index.ends(of: lower..<upper) : nil
    let top = ends.map { Cursor.Anchor.position($0.first) }
    let newest = index.count > 0 ? Cursor.Anchor.position(index.position(at: 0)) : .end
    let walkTop = top.map { $0.upper(seen ?? newest) } ?? seen ?? newest
    let newer = Cursor(
      feed: name, view: .newer(than: ranking), anchor: walkTop, seen: walkTop)
    func cursor(_ anchor: Cursor.Anchor) -> Cursor {
      newer.moved(to: anchor, in: .ranking(ranking))
    }
    let bottom = ends.map { Cursor.Anchor.position($0.last) } ?? .start
    return PageSlice(
      ranking: ranking, lower..<upper, of: index, offset: start,
      next: upper < window.upperBound ? cursor(bottom) : nil,
      previous: lower > window.lowerBound ? cursor(top ?? below) : nil,
      newer: newer)
  }
}

// MARK: Rankings

extension FeedOrder {
  private func check(_ cursor: Cursor, _ role: CursorRole) throws(FeedError) {
    guard cursor.belongs(to: name) else { throw .foreignCursor(role, feed: name) }
  }

  private func order(of ranking: Int, _ role: CursorRole) throws(FeedError) -> OrderIndex {
    if ranking <= self.ranking, let order = orders[ranking] { return order }
    throw ranking > self.ranking || ranking < 1
      ? .unknownRanking(role, ranking, feed: name) : .expiredRanking(role, ranking, feed: name)
  }

  /// Returns the ranking in which history continues from the cursor.
  private func historyRanking(of cursor: Cursor, _ role: CursorRole) throws(FeedError) -> Int {
    try check(cursor, role)
    return switch cursor.view {
    case .ranking(let ranking), .newer(let ranking): ranking
    case .arrivals(_, let to): to
    }
  }

  /// Returns a page of the entries that ranking `to` has and ranking `from` lacks: the lowest ones above
  /// the anchor.
  ///
  /// Pull-to-refresh shows this for a feed that was ranked again: positions of two rankings cannot be
  /// compared, but an entry that was absent before is new.
  private func arrivals(
    from: Int, to: Int, above anchor: Cursor.Anchor, offset: Int, limit: Int
  ) throws(FeedError) -> PageSlice {
    let index = try order(of: to, .before)
    let before = Set(try order(of: from, .before).allPosts)
    let arrived = OrderIndex(index.allEntries.filter { !before.contains($0.post) })
    let end = max(0, anchor.offset(in: arrived) - offset)
    let start = max(0, end - limit)
    let entries = arrived.entries(in: start..<end)

    let newest = index.count > 0 ? Cursor.Anchor.position(index.position(at: 0)) : .end
    let first = entries.first.map { index.offset(of: $0.position) } ?? 0
    let last = entries.last.map { index.offset(after: $0.position) } ?? 0
    let top = entries.first.map { Cursor.Anchor.position($0.position) } ?? .start
    // While arrivals remain above this page, the client has not seen what is above it.
    let seen = start > 0 ? top : newest
    func cursor(_ view: Cursor.View, _ anchor: Cursor.Anchor) -> Cursor {
      Cursor(feed: name, view: view, anchor: anchor, seen: seen)
    }
    let bottom = entries.last.map { Cursor.Anchor.position($0.position) } ?? .start
    return PageSlice(
      ranking: to, start..<end, of: arrived, offset: first,
      next: last < index.count ? cursor(.ranking(to), bottom) : nil,
      previous: first > 0 ? cursor(.ranking(to), top) : nil,
      newer: start > 0
        ? cursor(.arrivals(from: from, to: to), top) : cursor(.newer(than: to), newest))
  }
}

extension Int {
  fileprivate func saturatingAdd(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}

extension FeedOrder {
  /// Applies the changes of the store: the feed's rankings, and the entries' changes in the order in which
  /// they happened.
  ///
  /// The last change of each position decides, so an entry that was added and removed has no effect.
  mutating func apply(_ changes: [EntryChange], ranking: Int, oldestRanking: Int) {
    // A ranking starts as a copy of the previous one and differs from it only by changes that touch it.
    // Those are among `changes`, or were applied when the copy was made.
    if orders[ranking] == nil {
      let latest = orders.keys.filter { $0 < ranking }.max()
      orders[ranking] = latest.flatMap { orders[$0] } ?? OrderIndex()
    }
    for shown in Array(orders.keys) {
      if shown < oldestRanking || shown > ranking {
        orders[shown] = nil
      } else {
        orders[shown]?.apply(changes, ranking: shown)
      }
    }
    self.ranking = ranking
    self.oldestRanking = oldestRanking
    letGo()
  }
}

extension OrderIndex {
  fileprivate mutating func apply(_ changes: [EntryChange], ranking: Int) {
    // If there are only new entries, as from a seed, none replaces another.
    guard changes.contains(where: { $0.old != nil }) else {
      let added = changes.filter { $0.new?.contains(ranking) ?? false }.map(\.entry)
      if !added.isEmpty { apply(removals: [], insertions: added) }
      return
    }
    var last: [Position: OrderEntry?] = [:]
    last.reserveCapacity(changes.count)
    for change in changes {
      if change.new?.contains(ranking) ?? false {
        last[change.entry.position] = .some(change.entry)
      } else if change.old?.contains(ranking) ?? false {
        last[change.entry.position] = .some(nil)
      }
    }
    guard !last.isEmpty else { return }
    apply(removals: Array(last.keys), insertions: last.values.compactMap { $0 })
  }
}
