/// The type of a post. It decides how a client shows the post, and which size is assumed when it is loaded
/// ahead.
public enum PostType: String, CaseIterable, Sendable, Codable {
  case image, video, carousel, webapp, ad, text, audio

  /// The raw value, as text that needs no reference counting to write.
  public var name: StaticString {
    switch self {
    case .image: "image"
    case .video: "video"
    case .carousel: "carousel"
    case .webapp: "webapp"
    case .ad: "ad"
    case .text: "text"
    case .audio: "audio"
    }
  }
}

/// The kind of a media file.
public enum MediaKind: String, CaseIterable, Sendable, Codable {
  case image, video, audio

  /// The raw value, as text that needs no reference counting to write.
  public var name: StaticString {
    switch self {
    case .image: "image"
    case .video: "video"
    case .audio: "audio"
    }
  }

  /// Whether it has a duration: then its first part is already of use.
  @inlinable public var plays: Bool { self != .image }
}

/// The author of a post: an id, a name, or other fields; at least one is present.
public struct Author: Hashable, Sendable {
  /// The id at the origin; `nil` if the origin has only a name.
  @ByBytes public var id: String?
  /// The display name; `nil` if it is unknown.
  @ByBytes public var name: String?
  /// The URL of a picture of the author.
  @ByBytes public var avatar: String?
  /// The origin's other fields of the author.
  public var extra: Extra?

  /// Creates an author.
  public init(
    id: String? = nil, name: String? = nil, avatar: String? = nil, extra: Extra? = nil
  ) {
    self.id = id
    self.name = name
    self.avatar = avatar
    self.extra = extra
  }
}

/// A media file of a post and its known properties. `nil` means unknown, never zero.
public struct Media: Hashable, Sendable {
  /// The kind of file.
  public var kind: MediaKind
  /// The URL of the file.
  @ByBytes public var url: String
  /// A description of the content in words, for users who cannot see it.
  @ByBytes public var alt: String?
  /// The URL of a picture that is shown until the file plays.
  @ByBytes public var poster: String?
  /// The media type from the origin: `video/mp4`.
  @ByBytes public var mimeType: String?
  /// The codec from the origin: `h264`.
  @ByBytes public var codec: String?
  /// Width as displayed, in pixels.
  public var width: Int?
  /// Height as displayed, in pixels.
  public var height: Int?
  /// The duration in milliseconds.
  public var durationMilliseconds: Int?
  /// The size of the whole file.
  public var bytes: Int?
  /// The origin's placeholder, shown until the file has loaded.
  public var placeholder: MediaPlaceholder?
  /// The origin's other fields of the file.
  public var extra: Extra?

  /// Creates a file; only kind and URL are required.
  public init(
    kind: MediaKind, url: String, alt: String? = nil, poster: String? = nil,
    mimeType: String? = nil, codec: String? = nil, width: Int? = nil, height: Int? = nil,
    durationMilliseconds: Int? = nil, bytes: Int? = nil, placeholder: MediaPlaceholder? = nil,
    extra: Extra? = nil
  ) {
    self.kind = kind
    self.url = url
    self.alt = alt
    self.poster = poster
    self.mimeType = mimeType
    self.codec = codec
    self.width = width
    self.height = height
    self.durationMilliseconds = durationMilliseconds
    self.bytes = bytes
    self.placeholder = placeholder
    self.extra = extra
  }
}

extension Media {
  /// Returns the file with the facts that a probe found; they take precedence over the origin's fields.
  public func known(_ truth: MediaTruth) -> Media {
    if truth.isUnavailable { return self }
    var media = self
    media.kind = MediaLoad(truth).kind
    media.mimeType = truth.mimeType
    media.codec = truth.codec
    media.width = truth.width
    media.height = truth.height
    media.durationMilliseconds = truth.durationMilliseconds
    media.bytes = truth.bytes
    media.placeholder = truth.placeholder ?? placeholder
    return media
  }
}

/// A count of events of a post: `likes`, `comments`, `views`, or any other name of the origin.
public struct Counter: Hashable, Sendable {
  /// The name at the origin.
  @ByBytes public var name: String
  /// The count; negative if the origin adds noise.
  public var value: Int

  /// Creates a counter.
  public init(_ name: String, _ value: Int) {
    self.name = name
    self.value = value
  }
}

/// A post in one or several feeds. `nil` and empty lists mean unknown.
public struct Post: Hashable, Sendable {
  /// The id, unique among all posts of the store, in all feeds.
  @ByBytes public var id: String
  /// The type.
  public var type: PostType
  /// The title.
  @ByBytes public var title: String?
  /// The body text.
  @ByBytes public var text: String?
  /// The language of the text: a BCP 47 tag, `pt-BR`.
  @ByBytes public var language: String?
  /// The time that places it in feeds that do not rank it.
  public var publishedAt: Timestamp?
  /// The time from which its feeds show it; `nil` for at once.
  public var visibleFrom: Timestamp?
  /// The time from which its feeds no longer show it, later than `visibleFrom`; `nil` for never.
  public var visibleUntil: Timestamp?
  /// The author.
  public var author: Author?
  /// The URL of its page; for a web app or an ad, the content to load.
  @ByBytes public var url: String?
  /// The URL of a thumbnail.
  @ByBytes public var thumbnail: String?
  /// The tags, in the origin's order.
  @ByBytes public var tags: [String]
  /// The counters, in the order of their names, each name once.
  public var counters: [Counter]
  /// The origin's other fields of the post.
  public var extra: Extra?
  /// The files, in the order in which a client shows them.
  public var media: [Media]

  /// Creates a post. The counters may be in any order, with each name once.
  public init(
    id: String, type: PostType, title: String? = nil, text: String? = nil,
    language: String? = nil, publishedAt: Timestamp? = nil, visibleFrom: Timestamp? = nil,
    visibleUntil: Timestamp? = nil, author: Author? = nil,
    url: String? = nil, thumbnail: String? = nil, tags: [String] = [], counters: [Counter] = [],
    extra: Extra? = nil, media: [Media] = []
  ) {
    self.id = id
    self.type = type
    self.title = title
    self.text = text
    self.language = language
    self.publishedAt = publishedAt
    self.visibleFrom = visibleFrom
    self.visibleUntil = visibleUntil
    self.author = author
    self.url = url
    self.thumbnail = thumbnail
    self.tags = tags
    self.counters = counters.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    self.extra = extra
    self.media = media
  }
}

/// A post's place in a feed.
public struct Placement: Hashable, Sendable {
  /// The feed's name.
  @ByBytes public var feed: String
  /// The rank, from 0: lower is nearer to the top. Entries without a rank come after those with one, newest
  /// first.
  public var rank: Int?
  /// A relative place instead of a rank. Only single writes of an item have one; the store writes a rank.
  public var relative: RelativePlace?

  /// Creates a place in the feed, by rank or, without one, by the post's time.
  public init(feed: String, rank: Int? = nil) {
    self.feed = feed
    self.rank = rank
  }

  /// Creates a place in the feed relative to other items.
  public init(feed: String, _ relative: RelativePlace) {
    self.feed = feed
    self.relative = relative
  }
}

/// The origin's fields that this program does not interpret: a JSON object, served as it was received, with
/// the order of its members and the spelling of its numbers and texts. Only white space between tokens is
/// removed.
public struct Extra: Hashable, Sendable {
  /// The object's JSON, UTF-8 without white space between tokens; never `{}`.
  @ByBytes public private(set) var json: String

  /// Wraps JSON that is known to be an object; `PostJSON` checks JSON from outside.
  public init(checkedJSON json: String) { self.json = json }
}

/// Language tags: `en`, `pt-BR`, `zh-Hant-TW`.
public enum LanguageTag {
  /// Whether a text has the form of a tag (RFC 5646 section 2.1): subtags of one to eight letters and
  /// digits, separated by hyphens, the first one only of letters. Does not look up whether the language
  /// exists.
  public static func isWellFormed(_ text: String) -> Bool {
    let subtags = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard text.utf8.count <= RecordLimits.languageBytes, let first = subtags.first else {
      return false
    }
    return first.allSatisfy(isLetter)
      && subtags.allSatisfy { subtag in
        (1...8).contains(subtag.count)
          && subtag.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) }
      }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte | 0x20) }
}

/// An item of a store: a post, and its places in feeds.
public struct StoredItem: Sendable, Hashable {
  /// The post.
  public let post: Post
  /// The places in its feeds, ordered by the feeds' names, from the current ranking of each.
  public let placements: [Placement]
  /// The facts about its files, in the order of the files, if the store was asked for them. Not part of the
  /// record.
  public let truths: [MediaTruth?]
  /// The survival curve, JSON as in `FlatPost.survival`, if the store was asked for it.
  @ByBytes public var survival: String?

  /// Creates an item.
  public init(
    post: Post, placements: [Placement], truths: [MediaTruth?] = [], survival: String? = nil
  ) {
    self.post = post
    self.placements = placements
    self.truths = truths
    self.survival = survival
  }
}
