import Feed

/// A few entries of a feed's order, and where they stand: what a page is cut from while the order itself is
/// not in memory.
public struct OrderWindow: Equatable, Sendable {
  /// Where it lies.
  public enum Place: Hashable, Sendable {
    /// Begins this many entries below the top.
    case offset(Int)
    /// It begins below the position.
    case below(Position)
    /// It ends with the entry at the position, or the first one below; the rows are those above.
    case above(Position)
  }

  /// The top of the whole order; `nil` where that has no entries.
  public let first: OrderEntry?
  /// How many entries stand above the window.
  public let offset: Int
  /// The window's entries, from the top down.
  public let entries: [OrderEntry]
  /// How many entries the order has.
  public let count: Int

  /// A window of these parts.
  public init(first: OrderEntry?, offset: Int, entries: [OrderEntry], count: Int) {
    self.first = first
    self.offset = offset
    self.entries = entries
    self.count = count
  }

  /// The window of an order that is there: what a store must read.
  public init(_ place: Place, rows: Int, of order: OrderIndex) {
    let range: Range<Int>
    switch place {
    case .offset(let offset):
      let start = min(offset, order.count)
      range = start..<min(order.count, start + rows)
    case .below(let position):
      let start = order.offset(after: position)
      range = start..<min(order.count, start + rows)
    case .above(let position):
      let end = order.offset(of: position)
      range = max(0, end - rows)..<min(order.count, end + 1)
    }
    self.init(
      first: order.count > 0 ? order[0] : nil, offset: range.lowerBound,
      entries: order.entries(in: range), count: order.count)
  }
}

extension PageQuery {
  /// The window of the current ranking from which the page can be cut; `nil` where it takes the order.
  func window(ranking: Int) -> (place: OrderWindow.Place, rows: Int)? {
    let (rows, overflow) = offset.addingReportingOverflow(limit)
    guard !overflow, limit <= Self.mostWindowRows else { return nil }
    switch start {
    case .top: return (.offset(offset), limit)
    case .after(let cursor):
      guard cursor.isPlace(in: ranking), rows <= Self.mostWindowRows else { return nil }
      switch cursor.anchor {
      case .start: return (.offset(offset), limit)
      case .position(let position): return (.below(position), rows)
      case .end: return nil
      }
    case .before(let cursor):
      guard cursor.isPlace(in: ranking), rows <= Self.mostWindowRows,
        case .position(let position) = cursor.anchor
      else { return nil }
      return (.above(position), rows)
    case .between, .around: return nil
    }
  }

  /// A window has no more rows.
  private static var mostWindowRows: Int { 1_000 }
}

extension Cursor {
  /// It is a place in this ranking, which is the current one.
  fileprivate func isPlace(in ranking: Int) -> Bool {
    switch view {
    case .ranking(let own), .newer(let own): own == ranking
    case .arrivals: false
    }
  }
}

extension Cursor.Anchor {
  /// How many entries of the order stand above the anchor.
  func offset(in index: OrderIndex) -> Int {
    switch self {
    case .start: 0
    case .position(let position): index.offset(of: position)
    case .end: index.count
    }
  }

  /// How many entries of the order stand above the anchor or at it.
  func offsetAfter(in index: OrderIndex) -> Int {
    switch self {
    case .start: 0
    case .position(let position): index.offset(after: position)
    case .end: index.count
    }
  }

  /// The anchor nearer to the top.
  func upper(_ other: Self) -> Self {
    switch (self, other) {
    case (.start, _), (_, .start): .start
    case (.end, let anchor), (let anchor, .end): anchor
    case (.position(let left), .position(let right)): .position(min(left, right))
    }
  }
}

/// A page without its posts: which entries it has, and the cursors around them. An object, since what makes
/// the page hands it on more than once.
public final class PageCut: Sendable {
  /// The feed as it was when the page was cut.
  public let feed: FeedSummary
  /// Which entries the page has, and the cursors around them.
  public let slice: PageSlice
  /// As of when: what changed later is in `changedPosts(since:)` and `isUnchanged`.
  public let version: StoreVersion

  /// A cut of these parts.
  public init(feed: FeedSummary, slice: PageSlice, version: StoreVersion) {
    self.feed = feed
    self.slice = slice
    self.version = version
  }

  /// The numbers of the page's posts, in their order.
  public var posts: [Int64] { slice.posts }
}
