import Feed

/// A filter for the list of all items.
public struct ItemFilter: Hashable, Sendable {
  /// Only items of this type.
  public var type: PostType?
  /// Only items with this time or a later one.
  public var publishedFrom: Timestamp?
  /// Only items with an earlier time.
  public var publishedBefore: Timestamp?
  /// Only items whose texts match.
  public var text: TextQuery?
  /// Only items that their schedule keeps out of their feeds: `scheduled`, or `ended` if they were in a
  /// feed before.
  public var visibility: Visibility?
  /// Only items that are in the feed now, or with `visibility` will be or were. Valid only with
  /// `visibility` or `text`.
  @ByBytes public var feed: String?

  /// Creates a filter that admits all items.
  public init() {}

  /// Whether the filter admits the post, apart from its feeds and its schedule.
  public func admits(_ post: Post) -> Bool {
    if let type, post.type != type { return false }
    if let publishedFrom, post.publishedAt.map({ $0 < publishedFrom }) ?? true { return false }
    if let publishedBefore, post.publishedAt.map({ $0 >= publishedBefore }) ?? true { return false }
    return text?.matches(post) ?? true
  }
}

/// A part of the list of all posts, the latest created first.
public struct PostNumbers: Hashable, Sendable {
  /// The store's numbers of the posts that the filter admits.
  public let numbers: [Int64]
  /// The list continues below this number; `nil` at its end.
  public let end: Int64?

  /// Creates a part with these numbers.
  public init(numbers: [Int64], end: Int64?) {
    self.numbers = numbers
    self.end = end
  }

  /// Creates a part from the matches, at most one more than `limit`. With at most `limit` matches, the part
  /// ends where the search did.
  public init(found: [Int64], limit: Int, lookEnd: Int64?) {
    if found.count > limit {
      self.init(numbers: Array(found.prefix(limit)), end: found[limit - 1])
    } else {
      self.init(numbers: found, end: lookEnd)
    }
  }
}
