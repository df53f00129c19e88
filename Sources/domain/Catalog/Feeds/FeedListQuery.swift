import Feed

/// A query for a page of the list of all feeds, in the order of their names' bytes.
public struct FeedListQuery: Hashable, Sendable {
  /// Only feeds below this cursor: the first of them, or all up to `before`.
  public let after: FeedListCursor?
  /// Only feeds above this cursor: the last of them if there is no `after`.
  public let before: FeedListCursor?
  /// The maximum number of feeds of the page.
  public let limit: Int

  /// Creates a query for the first feeds, those below or above a cursor, or those between two cursors.
  public init(after: FeedListCursor? = nil, before: FeedListCursor? = nil, limit: Int) {
    precondition(limit >= 0, "a page has less than no feeds")
    self.after = after
    self.before = before
    self.limit = limit
  }
}

/// A page of the list of feeds.
public struct FeedListPage: Sendable {
  /// The feeds, in the order of their names' bytes.
  public let feeds: [FeedSummary]
  /// The total number of feeds.
  public let total: Int
  /// The cursor directly below the last feed; `nil` if none follows.
  public let next: FeedListCursor?
  /// The cursor directly above the first feed; `nil` if none precedes it.
  public let previous: FeedListCursor?

  /// Creates a page.
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

  /// Returns every feed in the order of names, read in portions.
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
