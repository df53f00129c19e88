/// One record of a feed file.
public enum SeedRecord: Hashable, Sendable {
  /// A post and the feeds to which it is added.
  case post(Post, placements: [Placement])
  /// A feed and its title.
  case feed(name: String, title: String?)

  /// Whether the records are identical to the byte.
  public static func == (left: SeedRecord, right: SeedRecord) -> Bool {
    switch (left, right) {
    case (.post(let post, let placements), .post(let other, let others)):
      post == other && placements == others
    case (.feed(let name, let title), .feed(let other, let otherTitle)):
      name.isSame(as: other) && title.isSame(as: otherTitle)
    default: false
    }
  }

  /// Hashes the bytes that `==` compares.
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

/// The limits of a record: everything that is stored is bounded.
public enum RecordLimits {
  /// An id of a post or author, in bytes of UTF-8.
  public static let idBytes = 200
  /// A feed's name, in bytes of UTF-8.
  public static let feedNameBytes = 100
  /// A title or an author's name, in characters. Human text is counted in Unicode code points, so that
  /// every script has the same room and every program counts the same. A character has at most four bytes
  /// of UTF-8.
  public static let titleCharacters = 4_096
  /// A file's description in words, in characters.
  public static let altCharacters = 4_096
  /// A language tag, in bytes (RFC 5646 section 4.4.1 recommends at least 35).
  public static let languageBytes = 64
  /// `extra` of a post, an author or a file each, in bytes of its JSON without white space between tokens.
  public static let extraBytes = 65_536
  /// The maximum nesting of lists and objects in `extra`, itself included: lower than `depth`, so that a
  /// reader with that limit can read a page.
  public static let extraDepth = 32
  /// A tag, in characters.
  public static let tagCharacters = 200
  /// A MIME type or a codec, in bytes of UTF-8.
  public static let mediaTypeBytes = 4_096
  /// A URL, in bytes of UTF-8.
  public static let urlBytes = 8_192
  /// The URL of a file in an item, in bytes: percent-encoded, with version and signature.
  public static let servedURLBytes = 3 * urlBytes + 208
  /// A post's text, in bytes of UTF-8.
  public static let textBytes = 262_144
  /// A word of a search, in bytes of UTF-8: longer words are cut, in texts and in queries.
  public static let searchWordBytes = 64
  /// The maximum number of words of a search.
  public static let searchWords = 32
  /// A counter's name, in characters.
  public static let counterNameCharacters = 64
  /// The maximum nesting of lists and objects of a record's JSON.
  public static let depth = 64
  /// The maximum number of tags of a post.
  public static let tags = 100
  /// The maximum number of counters of a post.
  public static let counters = 50
  /// The maximum number of media files of a post.
  public static let media = 100
  /// The maximum number of feeds of a record.
  public static let feeds = 100
  /// A file's size: 1 TiB, so that the sums of a page's files are exact and cannot overflow.
  public static let fileBytes = 1_099_511_627_776
  /// Widths and heights, in pixels.
  public static let pixels = 1_000_000
  /// Counters (absolute value), bytes and milliseconds: exact in every JSON reader, RFC 8259 section 6.
  public static let number = 9_007_199_254_740_991
}

/// A problem of a record, and the field that has it.
public struct RecordError: Error, Hashable, Sendable, CustomStringConvertible {
  /// `media[0].width`; empty for the record as a whole.
  public let field: String
  /// The problem, phrased to follow the field's name: `is missing`.
  public let problem: String

  /// Creates the problem of a field.
  public init(field: String, problem: String) {
    self.field = field
    self.problem = problem
  }

  /// `media[0].width: is missing`; without a field, the problem alone.
  public var description: String {
    field.isEmpty ? problem : "\(field): \(problem)"
  }
}
