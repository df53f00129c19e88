/// A request for a page of a feed.
public struct PageQuery: Hashable, Sendable {
  /// The place of the page in the feed.
  public enum Start: Hashable, Sendable {
    /// At the top of the current ranking.
    case top
    /// Directly below the cursor.
    case after(Cursor)
    /// Directly above the cursor.
    case before(Cursor)
    /// Below the first cursor and above the second.
    case between(after: Cursor, before: Cursor)
    /// An item with a number of other items above it (trailing) and below it (leading).
    case around(Target, leading: Int, trailing: Int)
  }

  /// The target of `around`.
  public enum Target: Hashable, Sendable {
    case item(String)
    case offset(Int)

    /// Whether the targets are equal, ids to the byte.
    public static func == (left: Target, right: Target) -> Bool {
      switch (left, right) {
      case (.item(let left), .item(let right)): left.isSame(as: right)
      case (.offset(let left), .offset(let right)): left == right
      default: false
      }
    }

    /// Hashes the bytes that `==` compares.
    public func hash(into hasher: inout Hasher) {
      switch self {
      case .item(let id): id.hashBytes(into: &hasher)
      case .offset(let offset): hasher.combine(offset)
      }
    }
  }

  /// The feed's name.
  @ByBytes public var feed: String
  /// The place of the page in the feed.
  public var start: Start
  /// The number of items to skip from `start`, in its direction; not used by `around`.
  public var offset: Int
  /// The maximum number of items of the page; `around` has its own counts.
  public var limit: Int

  /// Creates a query; by default for the first 30 items.
  public init(feed: String, start: Start = .top, offset: Int = 0, limit: Int = 30) {
    self.feed = feed
    self.start = start
    self.offset = offset
    self.limit = limit
  }

  /// The rankings, other than the current one, whose order the page needs; usually none.
  public func rankings(beside current: Int) -> [Int] {
    switch start {
    case .top, .around: []
    case .after(let cursor), .before(let cursor): cursor.rankings(beside: current)
    case .between(let after, let before):
      after.rankings(beside: current) + before.rankings(beside: current)
    }
  }
}
