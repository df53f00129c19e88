import Feed

/// Which items a list of all has.
public struct ItemFilter: Hashable, Sendable {
  /// Only those of the type.
  public var type: PostType?
  /// Only those that have a time, which is this one or later.
  public var publishedFrom: Timestamp?
  /// Only those that have a time, which is before this one.
  public var publishedBefore: Timestamp?
  /// Only those in whose texts this is found.
  public var text: TextQuery?
  /// Only those that their schedules keep out of their feeds: `scheduled`, or `ended` and in some feed before.
  public var visibility: Visibility?
  /// Only those that are in the feed now, or, with `visibility`, are to be or were; with that or `text` alone.
  @ByBytes public var feed: String?

  /// All that there are.
  public init() {}

  /// Whether the post is such, whatever feeds it is in, and whatever its schedule says.
  public func admits(_ post: Post) -> Bool {
    if let type, post.type != type { return false }
    if let publishedFrom, post.publishedAt.map({ $0 < publishedFrom }) ?? true { return false }
    if let publishedBefore, post.publishedAt.map({ $0 >= publishedBefore }) ?? true { return false }
    return text?.matches(post) ?? true
  }
}

/// A part of the list of all posts, those that were made last first.
public struct PostNumbers: Hashable, Sendable {
  /// The store's numbers of those that the filter admits.
  public let numbers: [Int64]
  /// Where the list goes on, below this number; nil where it ends.
  public let end: Int64?

  /// The part with these numbers.
  public init(numbers: [Int64], end: Int64?) {
    self.numbers = numbers
    self.end = end
  }

  /// A part of those that were found, one more than `limit` at the most; or else one that ends where the look did.
  public init(found: [Int64], limit: Int, lookEnd: Int64?) {
    if found.count > limit {
      self.init(numbers: Array(found.prefix(limit)), end: found[limit - 1])
    } else {
      self.init(numbers: found, end: lookEnd)
    }
  }
}
