/// A feed in a list of feeds.
public struct FeedSummary: Hashable, Sendable {
  /// The name in paths and in `feed=`.
  @ByBytes public private(set) var name: String
  /// The display name; `nil` if no record gave one.
  @ByBytes public private(set) var title: String?
  /// The number of entries of the current ranking.
  public let total: Int
  /// The number of the current ranking.
  public let ranking: Int
  /// The newest time of any entry; `nil` if no entry has a time.
  public let newestPublishedAt: Timestamp?

  /// Creates the summary of a feed.
  public init(
    name: String, title: String?, total: Int, ranking: Int, newestPublishedAt: Timestamp?
  ) {
    self.name = name
    self.title = title
    self.total = total
    self.ranking = ranking
    self.newestPublishedAt = newestPublishedAt
  }
}
