/// A request for a page of a feed, in the domain's words.
public struct PageQuery: Hashable, Sendable {
  /// Where the page lies.
  public enum Start: Hashable, Sendable {
    /// At the top of the current ranking.
    case top
    /// Directly below the cursor.
    case after(Cursor)
    /// Directly above the cursor.
    case before(Cursor)
    /// Below the one and above the other.
    case between(after: Cursor, before: Cursor)
    /// An item with a number of others below (leading) and above it (trailing).
    case around(Target, leading: Int, trailing: Int)
  }

  /// What `around` names.
  public enum Target: Hashable, Sendable {
    case item(String)
    case offset(Int)

    /// Whether the targets are the same, ids to the byte.
    public static func == (left: Target, right: Target) -> Bool {
      switch (left, right) {
      case (.item(let left), .item(let right)): left.isSame(as: right)
      case (.offset(let left), .offset(let right)): left == right
      default: false
      }
    }

    /// As `==` compares them.
    public func hash(into hasher: inout Hasher) {
      switch self {
      case .item(let id): id.hashBytes(into: &hasher)
      case .offset(let offset): hasher.combine(offset)
      }
    }
  }

  /// The feed's name.
  @ByBytes public var feed: String
  /// Where in the feed the page lies.
  public var start: Start
  /// This many items further from where `start` says, in the direction it says; `around` takes none.
  public var offset: Int
  /// How many items the page has at the most; `around` counts its own.
  public var limit: Int

  /// A query for the page; by default the first 30 items.
  public init(feed: String, start: Start = .top, offset: Int = 0, limit: Int = 30) {
    self.feed = feed
    self.start = start
    self.offset = offset
    self.limit = limit
  }

  /// The rankings beside the current one whose order must be at hand: mostly none.
  public func rankings(beside current: Int) -> [Int] {
    switch start {
    case .top, .around: []
    case .after(let cursor), .before(let cursor): cursor.rankings(beside: current)
    case .between(let after, let before):
      after.rankings(beside: current) + before.rankings(beside: current)
    }
  }
}
