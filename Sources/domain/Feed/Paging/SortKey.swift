/// Where an entry stands in its feed: less is nearer to the top.
///
/// One number holds both kinds of order, so that a feed can be ranked, timed, or have a ranked head
/// above a timed tail: ranked entries come first, by rank; then the ones with a time, newest first;
/// then the ones with neither. Entries with equal keys are ordered by id (see `Position`).
public struct SortKey: Hashable, Comparable, Sendable {
  /// A rank; 2^62 less the time in microseconds since 1970; or the greatest number for neither.
  public let rawValue: Int64

  /// A key as it was stored.
  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// The ranks that a record may give: exact in every JSON reader up to 2^53 − 1, RFC 8259 section 6.
  public static let rankRange = 0...9_007_199_254_740_991

  /// Above every rank; times are taken from here, and reach no further down than 2^62 − 2^58.
  private static let timeOrigin: Int64 = 1 << 62

  /// The key of an entry with this rank and time.
  public init(rank: Int?, publishedAt: Timestamp?) {
    if let rank {
      rawValue = Int64(rank)
    } else if let publishedAt {
      rawValue = Self.timeOrigin - publishedAt.microseconds
    } else {
      rawValue = Int64.max
    }
  }

  /// Whether the left one stands nearer to the top.
  public static func < (left: SortKey, right: SortKey) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// A place in a feed's total order: the sort key, then the id's bytes.
///
/// A position stays meaningful when the entry that had it is gone, which is what lets a cursor
/// survive the deletion of its anchor.
public struct Position: Hashable, Comparable, Sendable {
  /// What decides first.
  public let key: SortKey
  /// The post's id: what decides between equal keys.
  public let id: String

  /// The place of the post with this id and key.
  public init(key: SortKey, id: String) {
    self.key = key
    self.id = id
  }

  /// By key, then by the id's UTF-8 bytes: SQLite's BINARY collation, and not Swift's order of
  /// strings, which takes canonically equivalent ones for equal.
  public static func < (left: Position, right: Position) -> Bool {
    if left.key != right.key { return left.key < right.key }
    return left.id.precedesByBytes(right.id)
  }

  /// The keys are the same and the ids are, byte for byte: it agrees with `<`.
  public static func == (left: Position, right: Position) -> Bool {
    left.key == right.key && left.id.isSame(as: right.id)
  }

  /// Of the id's bytes, as `==` compares them.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(key)
    var id = id
    id.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
