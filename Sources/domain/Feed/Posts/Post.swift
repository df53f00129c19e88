/// What a post is: it decides how a client shows it and what it weighs when it is loaded ahead.
public enum PostType: String, CaseIterable, Sendable, Codable {
  case image, video, carousel, webapp, ad, text, audio

  /// The raw value, as text that takes no reference to write.
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

/// What a media file is.
public enum MediaKind: String, CaseIterable, Sendable, Codable {
  case image, video, audio

  /// The raw value, as text that takes no reference to write.
  public var name: StaticString {
    switch self {
    case .image: "image"
    case .video: "video"
    case .audio: "audio"
    }
  }

  /// Whether it takes time to show: then a part of it is of use, from its start on.
  @inlinable public var plays: Bool { self != .image }
}

/// Who wrote a post: an id, a name, or whatever else is known of them; something is.
public struct Author: Hashable, Sendable {
  /// What the origin knows them by; `nil` where it has only a name.
  @ByBytes public var id: String?
  /// What people call them; `nil` where it is unknown.
  @ByBytes public var name: String?
  /// The URL of a picture of them.
  @ByBytes public var avatar: String?
  /// What else the origin says of them.
  public var extra: Extra?

  /// An author of whom this is known.
  public init(
    id: String? = nil, name: String? = nil, avatar: String? = nil, extra: Extra? = nil
  ) {
    self.id = id
    self.name = name
    self.avatar = avatar
    self.extra = extra
  }
}

/// One file of a post, with what is known of it. `nil` means unknown, never zero.
public struct Media: Hashable, Sendable {
  /// What it is.
  public var kind: MediaKind
  /// Where to load it.
  @ByBytes public var url: String
  /// What it shows, in words, for who does not see it.
  @ByBytes public var alt: String?
  /// The URL of a picture that stands for it until it plays.
  @ByBytes public var poster: String?
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
  /// What shows in its place until it is there, as the origin says.
  public var placeholder: MediaPlaceholder?
  /// What else the origin says of it.
  public var extra: Extra?

  /// A file, of which no more need be known than its kind and where it is.
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
  /// The same file as somebody has seen it who looked into it: what is known goes before what its origin says.
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
  /// In which language it is: a tag of BCP 47, `pt-BR`.
  @ByBytes public var language: String?
  /// Its place in feeds that do not rank it.
  public var publishedAt: Timestamp?
  /// From when on it is in its feeds; nil where it is at once.
  public var visibleFrom: Timestamp?
  /// From when on it is not any more, later than `visibleFrom`; nil where it stays.
  public var visibleUntil: Timestamp?
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
  /// What else the origin says of it.
  public var extra: Extra?
  /// Its files, in the order in which they are shown.
  public var media: [Media]

  /// A post with these values. Counters may come in any order, but each name once.
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
  /// Less is nearer to the top, from 0. Entries without a rank come after those with one, newest first.
  public var rank: Int?
  /// The place in words, in place of a rank: what single writes of an item may have, and no stored one has.
  public var relative: RelativePlace?

  /// A place in the feed of this name, by rank or, without one, by the post's time.
  public init(feed: String, rank: Int? = nil) {
    self.feed = feed
    self.rank = rank
  }

  /// A place in the feed of this name beside the others.
  public init(feed: String, _ relative: RelativePlace) {
    self.feed = feed
    self.relative = relative
  }
}

/// What an origin says that this program does not understand: a JSON object, which comes out as it went in,
/// its members in their order, its numbers and texts as they were written. Only white space between its tokens
/// is gone.
public struct Extra: Hashable, Sendable {
  /// The object's JSON, UTF-8 without white space between tokens; never `{}`, which says nothing.
  @ByBytes public private(set) var json: String

  /// The object of this JSON, which somebody has read: `PostJSON` reads what is not known to be one.
  public init(checkedJSON json: String) { self.json = json }
}

/// Tags of languages: `en`, `pt-BR`, `zh-Hant-TW`.
public enum LanguageTag {
  /// Whether a text has the form of a tag (RFC 5646 section 2.1): subtags of one to eight letters and digits, with
  /// hyphens between them, the first one of letters. Whether there is such a language is not looked up.
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

/// An item as the store has it: its post, and the feeds in which that is.
public struct StoredItem: Sendable, Hashable {
  /// The post.
  public let post: Post
  /// Its feeds in the order of their names, as the current ranking of each has it.
  public let placements: [Placement]
  /// What is known of its files, in their order, where the store was asked for that: no part of its record.
  public let truths: [MediaTruth?]
  /// How long people watch it, JSON as in `FlatPost.survival`, where the store was asked for that.
  @ByBytes public var survival: String?

  /// An item of these parts.
  public init(
    post: Post, placements: [Placement], truths: [MediaTruth?] = [], survival: String? = nil
  ) {
    self.post = post
    self.placements = placements
    self.truths = truths
    self.survival = survival
  }
}
