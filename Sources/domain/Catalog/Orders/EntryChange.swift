import Feed

/// The rankings in which an entry is shown: from `since`, up to but without `until`.
public struct RankingInterval: Hashable, Sendable {
  /// The first one.
  public let since: Int
  /// The first ranking without the entry; `nil` if the entry is still shown.
  public let until: Int?

  /// The rankings from `since` up to but without `until`.
  public init(since: Int, until: Int?) {
    self.since = since
    self.until = until
  }

  /// Whether the ranking is among them.
  public func contains(_ ranking: Int) -> Bool {
    since <= ranking && until.map { ranking < $0 } ?? true
  }

  /// What of it is seen as long as this ranking is the current one; `nil` where nothing is.
  func seen(upTo ranking: Int) -> RankingInterval? {
    guard since <= ranking else { return nil }
    return RankingInterval(since: since, until: until.flatMap { $0 > ranking ? nil : $0 })
  }
}

/// A change of a feed's order, as the store tells it.
public struct EntryChange: Sendable {
  /// The store's number of the feed.
  public let feedID: Int64
  /// The entry as it is now, or was.
  public let entry: OrderEntry
  /// In which rankings it was; `nil` where the entry is new.
  public let old: RankingInterval?
  /// In which rankings it is; `nil` where the entry is gone.
  public let new: RankingInterval?

  /// A change of the feed's entry.
  public init(feedID: Int64, entry: OrderEntry, old: RankingInterval?, new: RankingInterval?) {
    self.feedID = feedID
    self.entry = entry
    self.old = old
    self.new = new
  }

  /// Whether readers of the current ranking or an older one see a difference. The same rankings twice are a
  /// new time.
  func isSeen(upTo ranking: Int) -> Bool {
    old == new || old?.seen(upTo: ranking) != new?.seen(upTo: ranking)
  }
}
