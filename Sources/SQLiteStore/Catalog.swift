import Feed
import Prefetch

/// What readers hold in memory of the database as it was at one moment: the order of every feed, the
/// network profiles and the policies.
struct Catalog: Sendable {
  /// A feed as its row says.
  struct FeedRow: Equatable {
    let id: Int64
    @ByBytes var name: String
    @ByBytes var title: String?
    let ranking: Int
    let oldestRanking: Int
  }

  /// A feed and its row's number.
  struct Entry: Sendable {
    let feedID: Int64
    var order: FeedOrder
    let summary: FeedSummary

    init(feedID: Int64, order: FeedOrder) {
      self.feedID = feedID
      self.order = order
      summary = FeedSummary(
        name: order.name, title: order.title, total: order.current.count, ranking: order.ranking,
        newestPublishedAt: order.current.newestPublishedAt)
    }

    var row: FeedRow {
      FeedRow(
        id: feedID, name: order.name, title: order.title, ranking: order.ranking,
        oldestRanking: order.oldestRanking)
    }
  }

  /// Every order is there; else the top of each.
  let isWhole: Bool
  /// As of when it is.
  var version = StoreVersion.start
  /// The newest `feed_entry` that is in it.
  var entrySequence: Int64 = 0
  /// The newest `change_log` row that is in it.
  var changeSequence: Int64 = 0
  var feeds: [ByteText: Entry] = [:]
  var policyBook = PolicyBook(networks: [], policies: [:])

  init(isWhole: Bool) {
    self.isWhole = isWhole
  }

  /// The tops of the feeds are enough for the page.
  func hasInTops(_ query: PageQuery) -> Bool {
    guard let feed = feeds[query.feed] else { return true }
    guard query.start == .top else { return false }
    let order = feed.order.current
    // Past the end nothing is read.
    guard query.offset < order.count else { return true }
    return query.offset <= order.heldCount
      && min(query.limit, order.count - query.offset) <= order.heldCount - query.offset
  }
}

/// The rankings in which an entry is shown: from `since`, up to but without `until`.
struct RankingInterval: Hashable {
  let since: Int
  let until: Int?

  func contains(_ ranking: Int) -> Bool {
    since <= ranking && until.map { ranking < $0 } ?? true
  }

  /// What of it is seen as long as this ranking is the current one; `nil` where nothing is.
  func seen(upTo ranking: Int) -> RankingInterval? {
    guard since <= ranking else { return nil }
    return RankingInterval(since: since, until: until.flatMap { $0 > ranking ? nil : $0 })
  }
}

/// A change of a feed's order, as the database tells it.
struct EntryChange {
  let feedID: Int64
  let entry: OrderEntry
  /// `nil` where the entry is new.
  let old: RankingInterval?
  /// `nil` where the entry is gone.
  let new: RankingInterval?

  /// Whoever reads the current ranking or an older one sees a difference. The same rankings twice are a
  /// new time.
  func isSeen(upTo ranking: Int) -> Bool {
    old == new || old?.seen(upTo: ranking) != new?.seen(upTo: ranking)
  }
}

extension FeedOrder {
  /// Goes on to what the database has: the feed's rankings, and changes in the order in which they
  /// happened.
  ///
  /// Each position's last change decides, so that an entry which came and went leaves no trace.
  mutating func apply(_ changes: [EntryChange], ranking: Int, oldestRanking: Int) {
    // A ranking starts as a copy of the one before it, from which it differs only by changes that
    // touch it: those are among `changes`, or were when the copy was made.
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
    // New entries alone, which is what a seed brings, take the place of nothing.
    guard changes.contains(where: { $0.old != nil }) else {
      let added = changes.filter { $0.new?.contains(ranking) ?? false }.map(\.entry)
      if !added.isEmpty { apply(removals: [], insertions: added) }
      return
    }
    var last: [Position: OrderEntry?] = [:]
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
