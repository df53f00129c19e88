/// What a post is: it decides how a client shows it and what it weighs when it is loaded ahead.
public enum PostType: String, CaseIterable, Sendable {
  case image, video, carousel, webapp, ad, text
}

/// What a media file is.
public enum MediaKind: String, CaseIterable, Sendable {
  case image, video
}

/// Who wrote a post.
public struct Author: Hashable, Sendable {
  public var id: String
  public var name: String?

  public init(id: String, name: String? = nil) {
    self.id = id
    self.name = name
  }
}

/// One file of a post, with what is known of it. `nil` means unknown, never zero.
public struct Media: Hashable, Sendable {
  public var kind: MediaKind
  public var url: String
  public var mimeType: String?
  public var codec: String?
  /// Width as displayed, in pixels.
  public var width: Int?
  /// Height as displayed, in pixels.
  public var height: Int?
  public var durationMilliseconds: Int?
  /// The whole file's size.
  public var bytes: Int?

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
  public var name: String
  public var value: Int

  public init(_ name: String, _ value: Int) {
    self.name = name
    self.value = value
  }
}

/// A post of one or several feeds. `nil` and empty lists mean unknown.
public struct Post: Hashable, Sendable {
  public var id: String
  public var type: PostType
  public var title: String?
  public var text: String?
  public var publishedAt: Timestamp?
  public var author: Author?
  public var url: String?
  public var thumbnail: String?
  public var tags: [String]
  /// In the order of their names, each name once.
  public var counters: [Counter]
  public var media: [Media]

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

  /// The name of the post's `index`-th media file: unique among all, the same in every page.
  public func mediaID(at index: Int) -> String {
    "\(id).\(index)"
  }
}

extension Post {
  /// The posts are the same to the byte: `==` takes canonically equivalent texts for equal.
  public func isIdentical(to other: Post) -> Bool {
    self == other
      && zip(texts, other.texts).allSatisfy { left, right in
        left.map { Array($0.utf8) } == right.map { Array($0.utf8) }
      }
  }

  private var texts: [String?] {
    [id, title, text, author?.id, author?.name, url, thumbnail] + tags + counters.map(\.name)
      + media.flatMap { [$0.url, $0.mimeType, $0.codec] }
  }
}

/// A post's place in a feed.
public struct Placement: Hashable, Sendable {
  public var feed: String
  /// 1 is the top. Entries without a rank come after those with one, newest first.
  public var rank: Int?

  public init(feed: String, rank: Int? = nil) {
    self.feed = feed
    self.rank = rank
  }
}
