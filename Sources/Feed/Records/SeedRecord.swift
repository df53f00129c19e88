/// One record of a feed file.
public enum SeedRecord: Hashable, Sendable {
  /// A post and the feeds to which it is added.
  case post(Post, placements: [Placement])
  /// A feed and what it is called.
  case feed(name: String, title: String?)
}

/// What a record may hold at the most: nothing that is stored is unbounded.
public enum RecordLimits {
  /// An id of a post or author, in bytes of UTF-8.
  public static let idBytes = 200
  /// A feed's name, in bytes of UTF-8.
  public static let feedNameBytes = 100
  /// A title, an author's name, a tag, a MIME type, a codec, in bytes of UTF-8.
  public static let titleBytes = 4_096
  public static let tagBytes = 200
  /// A URL, in bytes of UTF-8.
  public static let urlBytes = 8_192
  /// A post's text, in bytes of UTF-8.
  public static let textBytes = 262_144
  public static let counterNameBytes = 64
  public static let tags = 100
  public static let counters = 50
  public static let media = 100
  public static let feeds = 100
  /// Widths and heights, in pixels.
  public static let pixels = 1_000_000
  /// Counters, bytes and milliseconds: exact in every JSON reader, RFC 8259 section 6.
  public static let number = 9_007_199_254_740_991
}

/// What is wrong with a record, and in which of its fields.
public struct RecordError: Error, Hashable, Sendable, CustomStringConvertible {
  /// `media[0].width`; empty for the record as a whole.
  public let field: String
  public let problem: String

  public init(field: String, problem: String) {
    self.field = field
    self.problem = problem
  }

  public var description: String {
    field.isEmpty ? problem : "\(field): \(problem)"
  }
}
