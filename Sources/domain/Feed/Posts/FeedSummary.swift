/// A feed in a list of feeds.
public struct FeedSummary: Hashable, Sendable {
  /// What paths and `feed=` call it.
  @ByBytes public private(set) var name: String
  /// What people call it; `nil` where no record said.
  @ByBytes public private(set) var title: String?
  /// How many entries its current ranking has.
  public let total: Int
  /// The current ranking.
  public let ranking: Int
  /// The newest time of any entry; `nil` where none has a time.
  public let newestPublishedAt: Timestamp?

  /// The summary of a feed with these values.
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
