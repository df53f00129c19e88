/// The sort key of an entry in its feed: lower keys are nearer to the top.
///
/// One number holds both kinds of order, so that a feed can be ranked, timed, or have a ranked head above a
/// timed tail: ranked entries come first, by rank; then entries with a time, newest first; then entries
/// with neither. Entries with equal keys are ordered by id (see `Position`).
public struct SortKey: Hashable, Comparable, Sendable {
  /// A rank; 2^62 minus the time in microseconds since 1970; or the greatest number for neither.
  public let rawValue: Int64

  /// Creates a key from its stored value.
  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// The ranks that a record may have: up to 2^53 − 1, exact in every JSON reader (RFC 8259 section 6).
  public static let rankRange = 0...9_007_199_254_740_991

  /// Above every rank. Times are subtracted from it, and go no lower than 2^62 − 2^58.
  private static let timeOrigin: Int64 = 1 << 62

  /// Creates the key of an entry with this rank and time.
  public init(rank: Int?, publishedAt: Timestamp?) {
    if let rank {
      rawValue = Int64(rank)
    } else if let publishedAt {
      rawValue = Self.timeOrigin - publishedAt.microseconds
    } else {
      rawValue = Int64.max
    }
  }

  /// Whether the left key is nearer to the top.
  public static func < (left: SortKey, right: SortKey) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// A position in a feed's total order: the sort key, then the id's bytes.
///
/// A position stays valid when its entry is deleted, so a cursor survives the deletion of its anchor.
public struct Position: Hashable, Comparable, Sendable {
  /// The sort key, compared first.
  public let key: SortKey
  /// The post's id, compared if the keys are equal.
  public let id: String

  /// Creates the position of the post with this id and key.
  public init(key: SortKey, id: String) {
    self.key = key
    self.id = id
  }

  /// Compares the keys, then the ids' UTF-8 bytes. This is SQLite's BINARY collation; Swift's order of
  /// strings treats canonically equivalent ones as equal.
  public static func < (left: Position, right: Position) -> Bool {
    if left.key != right.key { return left.key < right.key }
    return left.id.precedesByBytes(right.id)
  }

  /// Whether the keys are equal and the ids identical to the byte: consistent with `<`.
  public static func == (left: Position, right: Position) -> Bool {
    left.key == right.key && left.id.isSame(as: right.id)
  }

  /// Hashes the bytes that `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(key)
    var id = id
    id.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
