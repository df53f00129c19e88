import Feed

extension FeedCatalog {
  /// The page, where nothing has to be read for it, as mostly: else nil, and nothing is said of it.
  ///
  /// - Throws: `FeedError` for what the catalog does not have.
  func cutAtHand(_ query: PageQuery) throws -> PageCut? {
    guard let feed = feeds[query.feed] else { throw FeedError.unknownFeed(query.feed) }
    guard feed.isHeld || feed.hasInTop(query), query.isOfOrder(feed.order.ranking) else {
      return nil
    }
    feed.noteAsked(in: turn)
    return try feed.cut(query, asOf: version)
  }

  /// The page can be cut at once, or refused: its rankings are there, and none has to be compared with
  /// another.
  public func isAtHand(_ query: PageQuery) -> Bool {
    guard let feed = feeds[query.feed] else { return true }
    feed.noteAsked(in: turn)
    guard feed.isHeld else { return feed.hasInTop(query) }
    let order = feed.order
    return query.rankings(beside: order.ranking).allSatisfy {
      $0 < order.oldestRanking
        || (order.orders[$0] != nil && !query.readsArrivals)
    }
  }
}

extension FeedCatalog.Entry {
  /// The top of the current order, where that is there, is enough for the page.
  func hasInTop(_ query: PageQuery) -> Bool {
    guard query.start == .top, let order = order.orders[order.ranking] else { return false }
    // Past the end nothing is read.
    guard query.offset < order.count else { return true }
    return query.offset <= order.heldCount
      && min(query.limit, order.count - query.offset) <= order.heldCount - query.offset
  }

  /// What a page needs of the store beside this; `nil` where that is nothing.
  func needs(of query: PageQuery) -> PageNeeds? {
    var item: String?
    if case .around(.item(let id), _, _) = query.start { item = id }
    let rankings = query.rankings(beside: order.ranking).filter {
      order.orders[$0] == nil && (order.oldestRanking..<order.ranking).contains($0)
    }
    guard item != nil || !rankings.isEmpty else { return nil }
    return PageNeeds(
      feedID: feedID, feed: order.name, ranking: order.ranking, item: item, rankings: rankings)
  }

  /// What of the feed's order, which is not there, is needed.
  func needs(_ current: PageNeeds.Current) -> PageNeeds {
    PageNeeds(
      feedID: feedID, feed: order.name, ranking: order.ranking, item: nil, rankings: [],
      current: current)
  }

  /// The page, with what was read for it.
  func cut(
    _ query: PageQuery, position: Position? = nil, orders: [Int: OrderIndex] = [:],
    asOf version: StoreVersion
  ) throws -> PageCut {
    guard let summary, isRead else {
      preconditionFailure("a page is cut out of an order that was read")
    }
    return PageCut(
      feed: summary, slice: try slice(query, position, orders), version: version)
  }

  private func slice(
    _ query: PageQuery, _ position: Position?, _ orders: [Int: OrderIndex]
  ) throws(FeedError) -> PageSlice {
    guard !orders.isEmpty else { return try order.slice(query, position: position) }
    var order = order
    for (ranking, index) in orders { order.orders[ranking] = index }
    return try order.slice(query, position: position)
  }
}

extension PageQuery {
  /// The order of this ranking, which is the current one, is all that the page takes.
  fileprivate func isOfOrder(_ current: Int) -> Bool {
    if case .around(.item, _, _) = start { return false }
    return rankings(beside: current).isEmpty
  }

  /// Two rankings must be compared, which takes time in proportion to the feed.
  fileprivate var readsArrivals: Bool {
    switch start {
    case .top, .around, .after, .between: false
    case .before(let cursor):
      switch cursor.view {
      case .ranking: false
      case .newer, .arrivals: true
      }
    }
  }
}
