/// What a feed cannot answer or an item cannot become, and why. One place in the server maps these to statuses.
public enum FeedError: Error, Hashable, Sendable {
  case unknownFeed(String)
  case unknownItem(String)
  /// A feed cannot have the name of another.
  case feedExists(String)
  /// `around` names an item that is not in the feed.
  case itemNotInFeed(item: String, feed: String)
  /// An item cannot be placed beside the other one, which is not in the feed, or is itself.
  case noPlaceBeside(item: String, feed: String)
  /// An item cannot be placed beside the other one, which has no rank in the feed: its time places it.
  case neighborWithoutRank(item: String, feed: String)
  /// The cursor was made for another feed.
  case foreignCursor(CursorRole, feed: String)
  /// The cursor names a ranking that this store never had.
  case unknownRanking(CursorRole, Int, feed: String)
  /// The cursor names a ranking that is no longer kept.
  case expiredRanking(CursorRole, Int, feed: String)
  /// The two ends of a gap lie in different rankings.
  case differentRankings(after: Int, before: Int)
  /// The counter would leave ±`RecordLimits.number`.
  case counterOutOfRange(item: String, counter: String)
  /// The item would have more counters than the limit.
  case tooManyCounters(item: String, limit: Int)
  /// The key was given before, to a request that asked for something else.
  case idempotencyKeyReused(String)
}

/// Which end of a page a cursor was given for.
public enum CursorRole: String, Sendable {
  case after, before
}
