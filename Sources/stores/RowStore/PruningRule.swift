import Feed

/// The posts and rankings that a prune deletes.
///
/// A post is deleted if it is older than `publishedBefore` and, in every feed that it is in, beyond the
/// first `keptPosts`; a condition that is nil is ignored. A post without a time is never older. With a
/// feed, posts are only removed from that feed; a post that is then in no feed is deleted. A post that is
/// not yet visible in its feeds (`Post.visibleFrom`) stays.
package struct PruningRule: Sendable {
  /// The time before which posts are old.
  package var publishedBefore: Timestamp?
  /// The number of posts that stay at the top of each feed, however old they are.
  package var keptPosts: Int?
  /// The feed to which the rule is limited: posts are removed only from it.
  package var feed: String?
  /// The number of rankings of each feed that stay; nil keeps all rankings.
  package var keptRankings: Int?

  /// Creates a rule that deletes nothing.
  package init() {}
}

/// What a prune deleted, or would delete.
package struct PruningSummary: Sendable, Equatable {
  /// The number of deleted posts.
  package var posts = 0
  /// The number of posts that were removed from the feed and are still in another.
  package var departures = 0
  /// The number of posts that were looked at and have no time.
  package var withoutTime = 0
  /// The number of deleted rankings.
  package var rankings = 0
  /// The number of deleted rows of rankings that are not kept, with those that a killed prune left.
  package var entries = 0
  /// The number of posts that were looked at.
  package var seen = 0

  /// Creates an empty summary.
  package init() {}
}
