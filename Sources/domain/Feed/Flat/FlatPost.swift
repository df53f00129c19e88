/// One post of `FlatPosts`: its numbers, and where its texts and lists lie.
public struct FlatPost: Sendable {
  /// The store's own number of the post; 0 where it has none.
  public var number: Int64
  /// What it is.
  public var type: PostType
  /// Its own among all posts of the store.
  public var id: FlatText
  /// One line above it.
  public var title: FlatText?
  /// What it says.
  public var text: FlatText?
  /// In which language it is.
  public var language: FlatText?
  /// Its place in feeds that do not rank it.
  public var publishedAt: Timestamp?
  /// From when on it is in its feeds.
  public var visibleFrom: Timestamp?
  /// From when on it is not any more.
  public var visibleUntil: Timestamp?
  /// What the origin knows its author by.
  public var authorID: FlatText?
  /// What people call its author.
  public var authorName: FlatText?
  /// The URL of a picture of its author.
  public var authorAvatar: FlatText?
  /// What else its origin says of its author, JSON.
  public var authorExtra: FlatText?
  /// Its own page.
  public var url: FlatText?
  /// The URL of a small picture of it.
  public var thumbnail: FlatText?
  /// Where its tags lie in `FlatPosts.tags`.
  public internal(set) var tags = 0..<0
  /// The same as JSON, an array without white space, where a row has them so.
  public internal(set) var tagsJSON: FlatText?
  /// Where its counters lie in `FlatPosts.counters`.
  public internal(set) var counters = 0..<0
  /// The same as JSON, an object without white space, where a row has them so.
  public internal(set) var countersJSON: FlatText?
  /// What else its origin says of it, JSON.
  public var extra: FlatText?
  /// How long people watch it, JSON: pairs of milliseconds and shares of a thousand. It is learned, no part of its record.
  public var survival: FlatText?
  /// Where its files lie in `FlatPosts.media` and `FlatPosts.mediaLoads`.
  public internal(set) var media = 0..<0

  /// A post of which nothing else is known.
  public init(number: Int64, type: PostType, id: FlatText) {
    self.number = number
    self.type = type
    self.id = id
  }

  /// Whether anything is known of who wrote it.
  public var hasAuthor: Bool {
    authorID != nil || authorName != nil || authorAvatar != nil || authorExtra != nil
  }
}

/// Where a text lies in the bytes of `FlatPosts`.
public struct FlatText: Hashable, Sendable {
  let start: UInt32
  let count: UInt32

  /// The range of `FlatPosts.bytes`.
  public var range: Range<Int> { Int(start)..<Int(start) + Int(count) }

  /// These bytes of the text, counted from its start.
  public func part(_ range: Range<Int>) -> FlatText {
    precondition(range.lowerBound >= 0 && range.upperBound <= Int(count), "beyond the text")
    return FlatText(start: start + UInt32(range.lowerBound), count: UInt32(range.count))
  }
}

/// One counter of a post.
public struct FlatCounter: Sendable {
  /// What the origin calls it.
  public var name: FlatText
  /// The count.
  public var value: Int

  /// A counter of this name and value.
  public init(name: FlatText, value: Int) {
    self.name = name
    self.value = value
  }
}

/// One media file of a post: what `MediaLoad` does not say of it.
public struct FlatMedia: Sendable {
  /// Where to load it.
  public var url: FlatText
  /// What it shows, in words.
  public var alt: FlatText?
  /// The URL of a picture that stands for it until it plays.
  public var poster: FlatText?
  /// `video/mp4`, as the origin says.
  public var mimeType: FlatText?
  /// `h264`, as the origin says.
  public var codec: FlatText?
  /// Width as displayed, in pixels.
  public var width: Int?
  /// Height as displayed, in pixels.
  public var height: Int?
  /// What else its origin says of it, JSON.
  public var extra: FlatText?
  /// Which of `FlatPosts.placeholders` is its own, as its origin says.
  public internal(set) var placeholder: Int?
  /// Which of `FlatPosts.truths` is its own.
  public internal(set) var truth: Int?

  /// A file of which only this is known.
  public init(url: FlatText) {
    self.url = url
  }
}
