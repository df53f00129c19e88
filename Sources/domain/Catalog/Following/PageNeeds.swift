import Feed

/// What of the store a page shows that the catalog does not hold: an item's place, older rankings.
public struct PageNeeds: Sendable {
  /// The store's number of the feed.
  public let feedID: Int64
  /// The feed's name.
  public let feed: String
  /// Its current ranking, in which the item's place is.
  public let ranking: Int
  /// The id of the item whose place is needed; `nil` where none is.
  public let item: String?
  /// The older rankings whose orders are needed.
  public let rankings: [Int]
  /// What of the current order is needed.
  var current = Current.nothing

  /// Nothing is needed but a window of the current order: a few rows, of which nothing is kept.
  public var isWindowAlone: Bool {
    guard case .window = current else { return false }
    return item == nil && rankings.isEmpty
  }

  enum Current: Hashable {
    case nothing, whole
    case window(OrderWindow.Place, rows: Int)
  }

  /// Reads what is needed, all of it as of the reader's moment. A ranking that the store no longer keeps
  /// is left out: the store may be ahead of the catalog, and that cannot be read whole.
  ///
  /// - Throws: `FeedError.itemNotInFeed`, what the reader throws.
  public func read<Reader: CatalogReader>(from reader: Reader) throws -> PageParts<Reader.Mark> {
    var position: Position?
    if let item {
      position = try reader.position(ofItem: item, inFeed: feedID, ranking: ranking)
      guard position != nil else { throw FeedError.itemNotInFeed(item: item, feed: feed) }
    }
    var orders: [Int: OrderIndex] = [:]
    if !rankings.isEmpty, let oldest = try reader.oldestRanking(ofFeed: feedID) {
      for ranking in rankings where oldest <= ranking {
        orders[ranking] = try reader.order(ofFeed: feedID, ranking: ranking)
      }
    }
    return PageParts(
      position: position, orders: orders, mark: orders.isEmpty ? nil : try reader.mark(),
      current: try readCurrent(from: reader))
  }

  private func readCurrent<Reader: CatalogReader>(from reader: Reader) throws
    -> ReadOrder<Reader.Mark>?
  {
    guard current != .nothing, let feed = try reader.feed(feedID) else { return nil }
    let order =
      if case .window(let place, let rows) = current {
        OrderIndex(try reader.window(of: feed, at: place, rows: rows))
      } else {
        try reader.order(ofFeed: feedID, ranking: feed.ranking)
      }
    return ReadOrder(feed: feed, order: order, mark: try reader.mark())
  }
}

/// A feed's current order, or a window of it, as it was at one moment.
struct ReadOrder<Mark: CatalogMark>: Sendable {
  let feed: FeedState
  let order: OrderIndex
  let mark: Mark
}

/// What was read for a page.
public struct PageParts<Mark: CatalogMark>: Sendable {
  let position: Position?
  let orders: [Int: OrderIndex]
  /// When the orders were read; `nil` if there are no orders.
  let mark: Mark?
  /// The current order, or what was asked for of it; `nil` where nothing was, and where there is no such feed.
  let current: ReadOrder<Mark>?
}
