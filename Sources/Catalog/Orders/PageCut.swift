import Feed

/// A page without its posts: which entries it has, and the cursors around them. An object, since what makes
/// the page hands it on more than once.
public final class PageCut: Sendable {
  /// The feed as it was when the page was cut.
  public let feed: FeedSummary
  /// Which entries the page has, and the cursors around them.
  public let slice: PageSlice
  /// As of when: what changed later is in `changedPosts(since:)` and `isUnchanged`.
  public let version: StoreVersion

  /// A cut of these parts.
  public init(feed: FeedSummary, slice: PageSlice, version: StoreVersion) {
    self.feed = feed
    self.slice = slice
    self.version = version
  }

  /// The numbers of the page's posts, in their order.
  public var posts: [Int64] { slice.posts }
}
