/// What a post is: it decides how a client shows it and what it weighs when it is loaded ahead.
public enum PostType: String, CaseIterable, Sendable, Codable {
  case image, video, carousel, webapp, ad, text
}

/// What a media file is.
public enum MediaKind: String, CaseIterable, Sendable, Codable {
  case image, video
}

/// Who wrote a post.
public struct Author: Hashable, Sendable {
  /// What the origin knows them by.
  @ByBytes public var id: String
  /// What people call them; `nil` where it is unknown.
  @ByBytes public var name: String?

  /// An author of this id.
  public init(id: String, name: String? = nil) {
    self.id = id
    self.name = name
  }
}

/// One file of a post, with what is known of it. `nil` means unknown, never zero.
public struct Media: Hashable, Sendable {
  /// Whether it moves.
  public var kind: MediaKind
  /// Where to load it.
  @ByBytes public var url: String
  /// `video/mp4`, as the origin says.
  @ByBytes public var mimeType: String?
  /// `h264`, as the origin says.
  @ByBytes public var codec: String?
  /// Width as displayed, in pixels.
  public var width: Int?
  /// Height as displayed, in pixels.
  public var height: Int?
  /// How long it plays.
  public var durationMilliseconds: Int?
  /// The whole file's size.
  public var bytes: Int?

  /// A file, of which no more need be known than its kind and where it is.
  public init(
    kind: MediaKind, url: String, mimeType: String? = nil, codec: String? = nil,
    width: Int? = nil, height: Int? = nil, durationMilliseconds: Int? = nil, bytes: Int? = nil
  ) {
    self.kind = kind
    self.url = url
    self.mimeType = mimeType
    self.codec = codec
    self.width = width
    self.height = height
    self.durationMilliseconds = durationMilliseconds
    self.bytes = bytes
  }
}

/// How often something happened to a post: `likes`, `comments`, `views`, whatever the origin counts.
public struct Counter: Hashable, Sendable {
  /// What the origin calls it.
  @ByBytes public var name: String
  /// The count; below zero where the origin blurs it.
  public var value: Int

  /// A counter of this name and value.
  public init(_ name: String, _ value: Int) {
    self.name = name
    self.value = value
  }
}

/// A post of one or several feeds. `nil` and empty lists mean unknown.
public struct Post: Hashable, Sendable {
  /// Its own among all posts of the store, in whatever feeds they are.
  @ByBytes public var id: String
  /// What it is.
  public var type: PostType
  /// One line above it.
  @ByBytes public var title: String?
  /// What it says.
  @ByBytes public var text: String?
  /// Its place in feeds that do not rank it.
  public var publishedAt: Timestamp?
  /// Who wrote it.
  public var author: Author?
  /// Its own page: of a web app or an ad, what is loaded.
  @ByBytes public var url: String?
  /// The URL of a small picture of it.
  @ByBytes public var thumbnail: String?
  /// In the origin's order.
  @ByBytes public var tags: [String]
  /// In the order of their names, each name once.
  public var counters: [Counter]
  /// Its files, in the order in which they are shown.
  public var media: [Media]

  /// A post with these values. Counters may come in any order, but each name once.
  public init(
    id: String, type: PostType, title: String? = nil, text: String? = nil,
    publishedAt: Timestamp? = nil, author: Author? = nil, url: String? = nil,
    thumbnail: String? = nil, tags: [String] = [], counters: [Counter] = [], media: [Media] = []
  ) {
    self.id = id
    self.type = type
    self.title = title
    self.text = text
    self.publishedAt = publishedAt
    self.author = author
    self.url = url
    self.thumbnail = thumbnail
    self.tags = tags
    self.counters = counters.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    self.media = media
  }
}

/// A post's place in a feed.
public struct Placement: Hashable, Sendable {
  /// The feed's name.
  @ByBytes public var feed: String
  /// Less is nearer to the top, from 0. Entries without a rank come after those with one, newest first.
  public var rank: Int?

  /// A place in the feed of this name, by rank or, without one, by the post's time.
  public init(feed: String, rank: Int? = nil) {
    self.feed = feed
    self.rank = rank
  }
}
