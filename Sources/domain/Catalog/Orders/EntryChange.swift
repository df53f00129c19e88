import Feed

/// The rankings that show an entry: from `since` up to, but not including, `until`.
public struct RankingInterval: Hashable, Sendable {
  /// The first ranking.
  public let since: Int
  /// The first ranking without the entry; `nil` if the entry is still shown.
  public let until: Int?

  /// Creates the interval from `since` up to, but not including, `until`.
  public init(since: Int, until: Int?) {
    self.since = since
    self.until = until
  }

  /// Whether the interval contains the ranking.
  public func contains(_ ranking: Int) -> Bool {
    since <= ranking && until.map { ranking < $0 } ?? true
  }

  /// Returns the part that is visible while this ranking is the current one; `nil` if there is none.
  func seen(upTo ranking: Int) -> RankingInterval? {
    guard since <= ranking else { return nil }
    return RankingInterval(since: since, until: until.flatMap { $0 > ranking ? nil : $0 })
  }
}

/// A change of a feed's order, as the store reports it.
public struct EntryChange: Sendable {
  /// The store's number of the feed.
  public let feedID: Int64
  /// The entry after the change, or the removed one.
  public let entry: OrderEntry
  /// The rankings that showed it before; `nil` if the entry is new.
  public let old: RankingInterval?
  /// The rankings that show it now; `nil` if the entry was removed.
  public let new: RankingInterval?

  /// Creates a change of the feed's entry.
  public init(feedID: Int64, entry: OrderEntry, old: RankingInterval?, new: RankingInterval?) {
    self.feedID = feedID
    self.entry = entry
    self.old = old
    self.new = new
  }

  /// Whether readers of the current ranking or an older one see a difference. If `old` and `new` are equal,
  /// the entry has a new time.
  func isSeen(upTo ranking: Int) -> Bool {
    old == new || old?.seen(upTo: ranking) != new?.seen(upTo: ranking)
  }
}
