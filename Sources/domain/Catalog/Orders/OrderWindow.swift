import Feed

/// Some entries of a feed's order and their offset: a page is cut from it while the order itself is not in
/// memory.
public struct OrderWindow: Equatable, Sendable {
  /// The place of a window in the order.
  public enum Place: Hashable, Sendable {
    /// It begins this many entries below the top.
    case offset(Int)
    /// It begins directly below the position.
    case below(Position)
    /// It ends with the entry at the position, or the first one below it; the rows are those above.
    case above(Position)
  }

  /// The top entry of the whole order; `nil` if the order is empty.
  public let first: OrderEntry?
  /// The number of entries above the window.
  public let offset: Int
  /// The window's entries, from the top down.
  public let entries: [OrderEntry]
  /// The number of entries of the order.
  public let count: Int

  /// Creates a window.
  public init(first: OrderEntry?, offset: Int, entries: [OrderEntry], count: Int) {
    self.first = first
    self.offset = offset
    self.entries = entries
    self.count = count
  }

  /// Cuts the window from an order in memory: the reference for what a store reads.
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
  /// The window of the current ranking from which the page can be cut; `nil` if the page needs the order.
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

  /// The maximum number of rows of a window.
  private static var mostWindowRows: Int { 1_000 }
}

extension Cursor {
  /// Whether it is a place in this ranking, which is the current one.
  fileprivate func isPlace(in ranking: Int) -> Bool {
    switch view {
    case .ranking(let own), .newer(let own): own == ranking
    case .arrivals: false
    }
  }
}

extension Cursor.Anchor {
  /// Returns the number of entries of the order above the anchor.
  func offset(in index: OrderIndex) -> Int {
    switch self {
    case .start: 0
    case .position(let position): index.offset(of: position)
    case .end: index.count
    }
  }

  /// Returns the number of entries of the order above or at the anchor.
  func offsetAfter(in index: OrderIndex) -> Int {
    switch self {
    case .start: 0
    case .position(let position): index.offset(after: position)
    case .end: index.count
    }
  }

  /// Returns the anchor that is nearer to the top.
  func upper(_ other: Self) -> Self {
    switch (self, other) {
    case (.start, _), (_, .start): .start
    case (.end, let anchor), (let anchor, .end): anchor
    case (.position(let left), .position(let right)): .position(min(left, right))
    }
  }
}

/// A page without its posts: its entries and the cursors around them. A class, because it is passed on
/// several times while the page is made.
public final class PageCut: Sendable {
  /// The feed as it was when the page was cut.
  public let feed: FeedSummary
  /// The entries of the page and the cursors around them.
  public let slice: PageSlice
  /// The version of the store: `changedPosts(since:)` and `isUnchanged` report later changes.
  public let version: StoreVersion

  /// Creates a cut.
  public init(feed: FeedSummary, slice: PageSlice, version: StoreVersion) {
    self.feed = feed
    self.slice = slice
    self.version = version
  }

  /// The numbers of the page's posts, in order.
  public var posts: [Int64] { slice.posts }
}
