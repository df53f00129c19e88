import Feed

/// Which feeds are asked for: a page of the list of all, in the order of their names' bytes.
public struct FeedListQuery: Hashable, Sendable {
  /// Only those below it: the first of these, or all up to `before`.
  public let after: FeedListCursor?
  /// Only those above it: without `after`, the last of these.
  public let before: FeedListCursor?
  /// The maximum number of feeds returned.
  public let limit: Int

  /// The first feeds, those below or above a cursor, or the gap between two.
  public init(after: FeedListCursor? = nil, before: FeedListCursor? = nil, limit: Int) {
    precondition(limit >= 0, "a page has less than no feeds")
    self.after = after
    self.before = before
    self.limit = limit
  }
}

/// A page of the list of feeds.
public struct FeedListPage: Sendable {
  /// In the order of their names' bytes.
  public let feeds: [FeedSummary]
  /// How many feeds there are in all.
  public let total: Int
  /// Directly below the last one; `nil` where none follows.
  public let next: FeedListCursor?
  /// Directly above the first one; `nil` where none stands there.
  public let previous: FeedListCursor?

  /// A page of these parts.
  public init(
    feeds: [FeedSummary], total: Int, next: FeedListCursor?, previous: FeedListCursor?
  ) {
    self.feeds = feeds
    self.total = total
    self.next = next
    self.previous = previous
  }
}

extension FeedStore {
  /// The number of feeds read at once.
  private static var portion: Int { 1_000 }

  /// Returns every feed in the order of names, and reads them a portion at a time.
  public func feeds() throws -> [FeedSummary] {
    var feeds: [FeedSummary] = []
    var next: FeedListCursor? = .start
    while let after = next {
      let page = try self.feeds(FeedListQuery(after: after, limit: Self.portion))
      feeds += page.feeds
      next = page.next
    }
    return feeds
  }
}
