/// A post in `FlatPosts`: its numbers, and the ranges of its texts and lists.
public struct FlatPost: Sendable {
  /// The post's number in the store; 0 if it has none.
  public var number: Int64
  /// The type.
  public var type: PostType
  /// The id, unique among all posts of the store.
  public var id: FlatText
  /// The title.
  public var title: FlatText?
  /// The body text.
  public var text: FlatText?
  /// The language of the text.
  public var language: FlatText?
  /// The time that places it in feeds that do not rank it.
  public var publishedAt: Timestamp?
  /// The time from which its feeds show it.
  public var visibleFrom: Timestamp?
  /// The time from which its feeds no longer show it.
  public var visibleUntil: Timestamp?
  /// The author's id at the origin.
  public var authorID: FlatText?
  /// The author's name.
  public var authorName: FlatText?
  /// The URL of the author's picture.
  public var authorAvatar: FlatText?
  /// The origin's other fields of the author, JSON.
  public var authorExtra: FlatText?
  /// The URL of its page.
  public var url: FlatText?
  /// The URL of a thumbnail.
  public var thumbnail: FlatText?
  /// Where its tags, counters and files begin in the lists of `FlatPosts`; they end where the next post's
  /// begin.
  var tagsStart = 0
  var countersStart = 0
  var mediaStart = 0
  /// The tags as JSON, an array without white space, if the row holds them in this form.
  public internal(set) var tagsJSON: FlatText?
  /// The counters as JSON, an object without white space, if the row holds them in this form.
  public internal(set) var countersJSON: FlatText?
  /// The origin's other fields of the post, JSON.
  public var extra: FlatText?
  /// The survival curve, JSON: pairs of milliseconds and thousandths. It is learned, not part of the
  /// record.
  public var survival: FlatText?

  /// Creates a post with only these values.
  public init(number: Int64, type: PostType, id: FlatText) {
    self.number = number
    self.type = type
    self.id = id
  }

  /// Whether any field of the author is present.
  public var hasAuthor: Bool {
    authorID != nil || authorName != nil || authorAvatar != nil || authorExtra != nil
  }
}

/// The range of a text in `FlatPosts.bytes`.
public struct FlatText: Hashable, Sendable {
  let start: UInt32
  let count: UInt32

  /// The range of `FlatPosts.bytes`.
  public var range: Range<Int> { Int(start)..<Int(start) + Int(count) }

  /// Returns a part of the text; the range counts from the start of the text.
  public func part(_ range: Range<Int>) -> FlatText {
    precondition(range.lowerBound >= 0 && range.upperBound <= Int(count), "beyond the text")
    return FlatText(start: start + UInt32(range.lowerBound), count: UInt32(range.count))
  }
}

/// A counter of a post.
public struct FlatCounter: Sendable {
  /// The name at the origin.
  public var name: FlatText
  /// The value.
  public var value: Int

  /// Creates a counter.
  public init(name: FlatText, value: Int) {
    self.name = name
    self.value = value
  }
}

/// A media file of a post: the fields that `MediaLoad` does not have.
public struct FlatMedia: Sendable {
  /// The URL of the file.
  public var url: FlatText
  /// A description of the content in words.
  public var alt: FlatText?
  /// The URL of a picture that is shown until the file plays.
  public var poster: FlatText?
  /// The media type from the origin: `video/mp4`.
  public var mimeType: FlatText?
  /// The codec from the origin: `h264`.
  public var codec: FlatText?
  /// Width as displayed, in pixels.
  public var width: Int?
  /// Height as displayed, in pixels.
  public var height: Int?
  /// The origin's other fields of the file, JSON.
  public var extra: FlatText?
  /// The index of the origin's placeholder in `FlatPosts.placeholders`.
  public internal(set) var placeholder: Int?
  /// The index of its facts in `FlatPosts.truths`.
  public internal(set) var truth: Int?

  /// Creates a file with only a URL.
  public init(url: FlatText) {
    self.url = url
  }
}
