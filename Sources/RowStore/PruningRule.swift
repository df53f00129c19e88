import Feed

/// Which posts and rankings a prune lets go.
///
/// A post goes when it is older than `publishedBefore` and, in every feed that it is in, beyond the
/// first `keptPosts`; of these two, what is not given does not matter. A post without a time is never
/// older. With a feed, posts only leave that feed; who then is in none goes.
public struct PruningRule: Sendable {
  /// Posts published before this.
  public var publishedBefore: Timestamp?
  /// So many posts stay at the top of each feed, however old they are.
  public var keptPosts: Int?
  /// Only posts of this feed, and only from there.
  public var feed: String?
  /// So many rankings of each feed stay; nil leaves them alone.
  public var keptRankings: Int?

  /// A rule by which nothing goes.
  public init() {}
}

/// What went, or would.
public struct PruningSummary: Sendable, Equatable {
  /// Posts that are gone.
  public var posts = 0
  /// Posts that left the feed and are still in another.
  public var departures = 0
  /// Posts that were looked at and have no time.
  public var withoutTime = 0
  /// Rankings that are gone.
  public var rankings = 0
  /// Rows that are gone of rankings that are not kept, those included that a killed prune left.
  public var entries = 0
  /// Posts that were looked at.
  public var seen = 0

  /// Nothing.
  public init() {}
}
