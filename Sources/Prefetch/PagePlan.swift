import Feed

/// What to load of a page while its first item is the active one.
public struct PagePlan: Hashable, Sendable {
  /// Why a part is loaded.
  public enum Reason: Sendable {
    /// The item is active: all of it.
    case active
    /// The item comes soon: so much that a video starts.
    case start
    /// The item comes soon, and a part of it would show nothing: all of it.
    case whole
  }

  /// Bytes of one file.
  public struct Part: Hashable, Sendable {
    /// The item's index in the page.
    public let itemIndex: Int
    /// The index of the file among the item's media; `nil` for the item's own page (a web app, an ad).
    public let mediaIndex: Int?
    /// The first so many bytes of the file.
    public let bytes: Int
    /// Why it is loaded.
    public let reason: Reason
    /// The count is the policy's default: an active file ends where the server says that it ends.
    public let isEstimated: Bool
  }

  /// What to load, in this order.
  public let parts: [Part]
  /// Ask for the next page when the item at this index of the page becomes active; `nil` on the
  /// last page.
  public let nextPageAt: Int?

  /// The bytes of all parts.
  public var bytes: Int { parts.reduce(0) { $0 + $1.bytes } }
}

/// What bounds a plan beside the policy.
public struct PlanBounds: Hashable, Sendable {
  /// Bytes that the client will spend on the page; `nil` where it did not say.
  public var budgetBytes: Int?
  /// The person saves data: the active item and nothing else.
  public var savesData: Bool

  /// Bounds; by default none.
  public init(budgetBytes: Int? = nil, savesData: Bool = false) {
    self.budgetBytes = budgetBytes
    self.savesData = savesData
  }
}

extension Policy {
  /// The plan for a page of these posts on the network.
  public func plan(
    for posts: [Post], on network: NetworkProfile, bounds: PlanBounds = PlanBounds(),
    hasNextPage: Bool
  ) -> PagePlan {
    plan(for: posts.map { ItemLoad($0) }, on: network, bounds: bounds, hasNextPage: hasNextPage)
  }

  /// The plan for a page of these items on the network.
  ///
  /// - Parameter count: how many items the page has, where `items` are only the first of them: as many
  ///   as `plannedItems`, for the plan never goes further.
  public func plan(
    for items: [ItemLoad], of count: Int? = nil, on network: NetworkProfile,
    bounds: PlanBounds = PlanBounds(), hasNextPage: Bool
  ) -> PagePlan {
    let count = count ?? items.count
    precondition(items.count >= min(count, plannedItems), "more items are needed for the plan")
    return PagePlan(
      parts: network.downlinkKbps > 0 ? parts(of: items, bounds: bounds) : [],
      nextPageAt: hasNextPage ? nextPageIndex(count: count, on: network) : nil)
  }

  /// How many of a page's items the plan looks at, at the most: the active one and `leading` below it.
  public var plannedItems: Int { max(0, leading) + 1 }

  /// The parts in the order in which to load them: the active item, then the ones below it.
  ///
  /// The plan ends at the first item that the policy or the budget has no room for. Passing over it
  /// for a smaller one further down would load what is seen later before what is seen sooner.
  private func parts(of items: [ItemLoad], bounds: PlanBounds) -> [PagePlan.Part] {
    var parts: [PagePlan.Part] = []
    parts.reserveCapacity(min(items.count, plannedItems))
    var cost = 0
    var budget = bounds.budgetBytes ?? .max
    for index in items.indices {
      let item = items[index]
      if index > 0 {
        guard !bounds.savesData, index <= leading else { break }
        cost += weight(toLoad: item)
        guard strategy.allows(cost: cost) else { break }
      }
      let isAffordable = forEachPart(of: item, at: index) { part in
        guard let affordable = affordable(part, of: item, budget: budget) else { return false }
        parts.append(affordable)
        budget -= affordable.bytes
        return true
      }
      guard isAffordable else { break }
    }
    return parts
  }

  /// What an item counts towards `maxCost`: nothing where there is nothing to load.
  private func weight(toLoad item: ItemLoad) -> Int {
    let hasNone = forEachPart(of: item, at: 1) { _ in false }
    return hasNone ? 0 : hint(for: item).weight
  }

  /// Hands out the parts of an item, in their order, as long as `body` returns true.
  ///
  /// - Returns: whether it did for all of them.
  private func forEachPart(of item: ItemLoad, at index: Int, _ body: (PagePlan.Part) -> Bool)
    -> Bool
  {
    let isActive = index == 0
    guard !item.media.isEmpty else {
      let isLoadable = item.type == .webapp || item.type == .ad
      guard isLoadable, item.hasPage, webappBytes > 0 else { return true }
      return body(
        PagePlan.Part(
          itemIndex: index, mediaIndex: nil, bytes: webappBytes,
          reason: isActive ? .active : .whole, isEstimated: true))
    }
    let seen = isActive ? item.media.count : costs.visibleParts(of: item)
    for mediaIndex in 0..<seen {
      let media = item.media[item.media.startIndex + mediaIndex]
      let cost = costs.cost(of: media)
      let bytes = isActive ? cost.entireBytes : cost.minimumBytes
      guard bytes > 0 else { continue }
      let part = PagePlan.Part(
        itemIndex: index, mediaIndex: mediaIndex, bytes: bytes,
        reason: isActive ? .active : media.kind == .video ? .start : .whole,
        isEstimated: isActive || media.kind == .image ? media.bytes == nil : cost.isEstimated)
      guard body(part) else { return false }
    }
    return true
  }

  /// The part as far as the budget reaches: a video from its start bytes on is worth having, a piece
  /// of an image is not. `nil` where the budget does not reach so far.
  private func affordable(_ part: PagePlan.Part, of item: ItemLoad, budget: Int) -> PagePlan.Part? {
    if part.bytes <= budget { return part }
    guard let mediaIndex = part.mediaIndex else { return nil }
    let media = item.media[item.media.startIndex + mediaIndex]
    guard media.kind == .video, budget > 0, budget >= costs.cost(of: media).minimumBytes else {
      return nil
    }
    return PagePlan.Part(
      itemIndex: part.itemIndex, mediaIndex: mediaIndex, bytes: budget, reason: part.reason,
      isEstimated: part.isEstimated)
  }

  /// Bytes of a page itself, for the time that it takes to arrive.
  private static let pageBytes = 20_480

  /// The index at which to ask for the next page so that it is there, with what its first items need,
  /// before the last `leading` items are active: after a share of the page at the latest, which is
  /// the articles' dynamic threshold.
  private func nextPageIndex(count: Int, on network: NetworkProfile) -> Int {
    let threshold = count * nextPagePercent / 100
    guard network.downlinkKbps > 0 else { return 0 }
    // Two round trips: one for a connection that may have gone idle, one for the request. Lost
    // packets come again after another.
    let roundTrips = 2 * network.roundTripMilliseconds * 100 / max(1, 100 - network.lossPercent)
    let milliseconds = roundTrips + Self.pageBytes * 8 / network.downlinkKbps
    let scrolled = (milliseconds * itemsPerMinute + 59_999) / 60_000
    return max(0, min(threshold, count - leading - scrolled))
  }
}
