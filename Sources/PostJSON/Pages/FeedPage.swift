import Feed

/// A page of a feed as a client gets it.
public struct FeedPage: Hashable, Sendable {
  /// The feed's name.
  @ByBytes public var feed: String
  /// What people call it.
  public var title: String?
  /// How many items the feed has.
  public var total: Int
  /// The index in the feed of the page's first item.
  public var offset: Int
  /// The ranking that the page shows; rising.
  public var ranking: Int
  /// The items, in the feed's order.
  public var items: [FeedItem]
  /// The cursor for `after`: the items directly below; `nil` on the last page.
  public var next: String?
  /// The cursor for `before`: the items directly above; `nil` on the first page.
  public var previous: String?
  /// The cursor for `before` that pull-to-refresh polls.
  public var newer: String
  /// What the server says of loading ahead.
  public var prefetch: Prefetch

  /// What the server says of loading ahead of a page.
  public struct Prefetch: Hashable, Sendable {
    /// The network that it is for.
    public var network: String
    /// The name of the policy in force.
    public var policy: String
    /// Ask for the next page when the item at this index of the page becomes active; `nil` on the last one.
    public var nextPageAt: Int?
  }
}

/// An item of a feed as a client gets it.
public struct FeedItem: Hashable, Sendable {
  /// What it shows.
  public var post: Post
  /// What is known of its files, in the order of `post.media`.
  public var media: [FeedMedia]
  /// What the server's policy counts it as.
  public var cost: Cost

  /// What an item costs to load ahead.
  public struct Cost: Hashable, Sendable {
    /// In the policy's units.
    public var weight: Int
    /// What to load while the item is not active.
    public var minimumBytes: Int
    /// What to load when it is.
    public var entireBytes: Int
    /// Some of the bytes are the policy's defaults, because the truth is not known.
    public var isEstimated: Bool
  }

  /// Its own among the items of the feed.
  public var id: String { post.id }
}

/// What an item says of one of its files beside what its post has.
public struct FeedMedia: Hashable, Sendable {
  /// Its own among the files of the server.
  @ByBytes public var id: String
  /// When its address stops to be good, and those of its variants; `nil` where they do not.
  public var expiresAt: Timestamp?
  /// Whether there is something to hear; `nil` where it is unknown.
  public var hasSound: Bool?
  /// How many of its bytes start it, and play it how far.
  public var timing: MediaTiming?
  /// Other files that show the same in fewer bytes.
  public var variants: [FeedVariant]
  /// Whether the server knows that the file is gone or broken: there is nothing to load.
  public var isUnavailable: Bool
}

/// A file that shows the same as another one in fewer bytes.
public struct FeedVariant: Hashable, Sendable {
  /// Where to load it.
  @ByBytes public var url: String
  /// `video/mp4`
  @ByBytes public var mimeType: String?
  /// Width as displayed, in pixels.
  public var width: Int?
  /// Height as displayed, in pixels.
  public var height: Int?
  /// The whole file's size.
  public var bytes: Int
  /// How many of its bytes start it, and play it how far, as far as the page says it.
  public var timing: MediaTiming?
}
