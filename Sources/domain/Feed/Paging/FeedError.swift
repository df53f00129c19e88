/// A request that a feed cannot answer, or a change that an item does not allow. The server maps these to
/// statuses in one place.
public enum FeedError: Error, Hashable, Sendable {
  case unknownFeed(String)
  case unknownItem(String)
  /// The name belongs to another feed.
  case feedExists(String)
  /// `around` names an item that is not in the feed.
  case itemNotInFeed(item: String, feed: String)
  /// An item cannot be placed beside the other one, because that is not in the feed or is the item itself.
  case noPlaceBeside(item: String, feed: String)
  /// An item cannot be placed beside the other one, because that has no rank in the feed: its time places
  /// it.
  case neighborWithoutRank(item: String, feed: String)
  /// The cursor was made for another feed.
  case foreignCursor(CursorRole, feed: String)
  /// The cursor names a ranking that this store never had.
  case unknownRanking(CursorRole, Int, feed: String)
  /// The cursor names a ranking that is no longer kept.
  case expiredRanking(CursorRole, Int, feed: String)
  /// The two ends of a gap lie in different rankings.
  case differentRankings(after: Int, before: Int)
  /// The counter would exceed ±`RecordLimits.number`.
  case counterOutOfRange(item: String, counter: String)
  /// The item would have more counters than the limit.
  case tooManyCounters(item: String, limit: Int)
  /// The key was used before, for a different request.
  case idempotencyKeyReused(String)
}

/// The end of a page for which a cursor was given.
public enum CursorRole: String, Sendable {
  case after, before
}
