import Feed

/// The parts of the store that a page shows and the catalog does not hold: an item's position, older
/// rankings.
public struct PageNeeds: Sendable {
  /// The store's number of the feed.
  public let feedID: Int64
  /// The feed's name.
  public let feed: String
  /// The current ranking, in which the item's position is looked up.
  public let ranking: Int
  /// The id of the item whose position is needed; `nil` for none.
  public let item: String?
  /// The older rankings whose orders are needed.
  public let rankings: [Int]
  /// The part of the current order that is needed.
  var current = Current.nothing

  /// Whether only a window of the current order is needed: a few rows, which are not kept.
  public var isWindowAlone: Bool {
    guard case .window = current else { return false }
    return item == nil && rankings.isEmpty
  }

  enum Current: Hashable {
    case nothing, whole
    case window(OrderWindow.Place, rows: Int)
  }

  /// Reads the parts, all as of the reader's moment. Omits a ranking that the store no longer keeps: the
  /// store may be newer than the catalog, and such a ranking is incomplete.
  ///
  /// - Throws: `FeedError.itemNotInFeed`, and errors of the reader.
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

/// A feed's current order, or a window of it, as of one moment.
struct ReadOrder<Mark: CatalogMark>: Sendable {
  let feed: FeedState
  let order: OrderIndex
  let mark: Mark
}

/// The parts of the store that were read for a page.
public struct PageParts<Mark: CatalogMark>: Sendable {
  let position: Position?
  let orders: [Int: OrderIndex]
  /// The mark of the moment at which the orders were read; `nil` if there are none.
  let mark: Mark?
  /// The requested part of the current order; `nil` if none was requested, or the feed does not exist.
  let current: ReadOrder<Mark>?
}
