/// One record of a feed file.
public enum SeedRecord: Hashable, Sendable {
  /// A post and the feeds to which it is added.
  case post(Post, placements: [Placement])
  /// A feed and what it is called.
  case feed(name: String, title: String?)

  /// Whether the records say the same, to the byte.
  public static func == (left: SeedRecord, right: SeedRecord) -> Bool {
    switch (left, right) {
    case (.post(let post, let placements), .post(let other, let others)):
      post == other && placements == others
    case (.feed(let name, let title), .feed(let other, let otherTitle)):
      name.isSame(as: other) && title.isSame(as: otherTitle)
    default: false
    }
  }

  /// As `==` compares them.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .post(let post, let placements):
      hasher.combine(post)
      hasher.combine(placements)
    case .feed(let name, let title):
      name.hashBytes(into: &hasher)
      title.hashBytes(into: &hasher)
    }
  }
}

/// What a record may hold at the most: nothing that is stored is unbounded.
public enum RecordLimits {
  /// An id of a post or author, in bytes of UTF-8.
  public static let idBytes = 200
  /// A feed's name, in bytes of UTF-8.
  public static let feedNameBytes = 100
  /// A title or an author's name, in characters: what people write is counted as Unicode has code points,
  /// so that no script has room for less, and so that every program counts the same. A character has four
  /// bytes of UTF-8 at the most.
  public static let titleCharacters = 4_096
  /// What a file shows in words, in characters.
  public static let altCharacters = 4_096
  /// A language's tag, in bytes (RFC 5646 section 4.4.1 has 35 as enough).
  public static let languageBytes = 64
  /// `extra` of a post, an author or a file each, in bytes of its JSON without white space between tokens.
  public static let extraBytes = 65_536
  /// How deep lists and objects may stand in each other in `extra`, itself counted: less than `depth`, so that
  /// whoever reads a page with such a limit reads it.
  public static let extraDepth = 32
  /// A tag, in characters.
  public static let tagCharacters = 200
  /// A MIME type or a codec, in bytes of UTF-8.
  public static let mediaTypeBytes = 4_096
  /// A URL, in bytes of UTF-8.
  public static let urlBytes = 8_192
  /// The same in an item: percent-encoded, with version and signature.
  public static let servedURLBytes = 3 * urlBytes + 208
  /// A post's text, in bytes of UTF-8.
  public static let textBytes = 262_144
  /// A word that is looked for in texts, in bytes of UTF-8: what is longer is cut, in texts and in what is looked for.
  public static let searchWordBytes = 64
  /// How many words are looked for at once.
  public static let searchWords = 32
  /// A counter's name, in characters.
  public static let counterNameCharacters = 64
  /// How deep the lists and objects of its JSON may stand in each other.
  public static let depth = 64
  /// How many tags a post has.
  public static let tags = 100
  /// How many counters a post has.
  public static let counters = 50
  /// How many media files a post has.
  public static let media = 100
  /// How many feeds a record names.
  public static let feeds = 100
  /// A file's size: 1 TiB, so that the sums of a page's files are exact and cannot overflow.
  public static let fileBytes = 1_099_511_627_776
  /// Widths and heights, in pixels.
  public static let pixels = 1_000_000
  /// Counters, either side of zero, bytes and milliseconds: exact in every JSON reader, RFC 8259 section 6.
  public static let number = 9_007_199_254_740_991
}

/// What is wrong with a record, and in which of its fields.
public struct RecordError: Error, Hashable, Sendable, CustomStringConvertible {
  /// `media[0].width`; empty for the record as a whole.
  public let field: String
  /// What is wrong, to stand behind the field's name: `is missing`.
  public let problem: String

  /// The problem of a field.
  public init(field: String, problem: String) {
    self.field = field
    self.problem = problem
  }

  /// `media[0].width: is missing`; without a field, the problem alone.
  public var description: String {
    field.isEmpty ? problem : "\(field): \(problem)"
  }
}
