import Feed

/// A page of a feed.
public struct FeedPage: Sendable {
  /// The feed as it was when the page was cut.
  public let feed: FeedSummary
  /// Which entries the page has, and the cursors around them.
  public let slice: PageSlice
  /// The posts of the slice's entries, in their order.
  public let posts: [Post]

  /// A page of these parts.
  public init(feed: FeedSummary, slice: PageSlice, posts: [Post]) {
    self.feed = feed
    self.slice = slice
    self.posts = posts
  }
}

extension FeedStore {
  /// A page of a feed with its posts.
  ///
  /// Where a post is gone, what is in memory was behind the store: it is brought up to it and the page
  /// cut again.
  ///
  /// - Throws: `FeedError` for what the store does not have, and what the store says of itself.
  public func page(_ query: PageQuery) throws -> FeedPage {
    let (cut, posts) = try pagePosts(query)
    return FeedPage(feed: cut.feed, slice: cut.slice, posts: posts.allPosts)
  }

  /// Reads a page of a feed, as `page` does, and its posts with the known facts about their files.
  ///
  /// - Throws: as `page` does.
  public func pagePosts(_ query: PageQuery) throws -> (cut: PageCut, posts: FlatPosts) {
    for attempt in 1... {
      let cut = try cut(query)
      let posts = try posts(cut.posts)
      // If posts are deleted faster than this reader reads, the page is short, but the posts in it are
      // right.
      if posts.count == cut.slice.count || attempt == 3 {
        return (cut, posts)
      }
      try refresh()
    }
    preconditionFailure("the third attempt returns")
  }
}
