import Feed

/// Which posts and rankings a prune deletes.
///
/// A post is deleted when it is older than `publishedBefore` and, in every feed that it is in, beyond the
/// first `keptPosts`; a condition that is nil does not count. A post without a time is never older. With a
/// feed, posts are only removed from that feed; a post that is then in no feed is deleted. A post that has yet to come
/// into its feeds (`Post.visibleFrom`) stays.
package struct PruningRule: Sendable {
  /// Posts published before this.
  package var publishedBefore: Timestamp?
  /// The number of posts that stay at the top of each feed, however old they are.
  package var keptPosts: Int?
  /// Only posts of this feed, and only from there.
  package var feed: String?
  /// The number of rankings of each feed that stay; nil leaves rankings alone.
  package var keptRankings: Int?

  /// Creates a rule that deletes nothing.
  package init() {}
}

/// What went, or would.
package struct PruningSummary: Sendable, Equatable {
  /// Posts that are gone.
  package var posts = 0
  /// Posts that left the feed and are still in another.
  package var departures = 0
  /// Posts that were looked at and have no time.
  package var withoutTime = 0
  /// Rankings that are gone.
  package var rankings = 0
  /// Rows that are gone of rankings that are not kept, those included that a killed prune left.
  package var entries = 0
  /// Posts that were looked at.
  package var seen = 0

  /// Nothing.
  package init() {}
}
