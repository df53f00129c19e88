import Feed

/// What to load of a page while its first item is the active one.
public struct PagePlan: Hashable, Sendable {
  /// Why a part is loaded.
  public enum Reason: Sendable {
    /// The item is active: all of it.
    case active
    /// The item comes soon: enough that it starts to play.
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
    /// The index of the variant among the file's variants, of which the bytes are then; `nil` for the file
    /// itself.
    public let variantIndex: Int?
    /// Which bytes of the file; `nil` where it is not known where the file ends: then a client that asked
    /// for a range would cut off what is longer, or ask past the end of what is shorter.
    public let range: Range<Int>?
    /// How many bytes that is, or what to count for it.
    public let bytes: Int
    /// Why it is loaded.
    public let reason: Reason
    /// The count rests on the policy's defaults, because the truth is not known: of an active file where its
    /// size is not, of a start where it is not known how far the first bytes play.
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
  /// How wide the client shows files, in its own pixels: a wider one than that is not loaded where a variant
  /// does. `nil` where it did not say: then the files themselves are loaded.
  public var widthPixels: Int?

  /// Bounds; by default none.
  public init(budgetBytes: Int? = nil, savesData: Bool = false, widthPixels: Int? = nil) {
    self.budgetBytes = budgetBytes
    self.savesData = savesData
    self.widthPixels = widthPixels
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
  public func plan(
    for items: [ItemLoad], on network: NetworkProfile, bounds: PlanBounds = PlanBounds(),
    hasNextPage: Bool
  ) -> PagePlan {
    let costs = costs(
      downlinkKbps: network.downlinkKbps, widthPixels: bounds.widthPixels ?? 0)
    var itemCosts = ItemCosts(reserving: min(items.count, plannedItems))
    for item in items.prefix(plannedItems) { itemCosts.append(item, by: costs) }
    return plan(
      for: itemCosts, of: items.count, on: network, bounds: bounds, hasNextPage: hasNextPage)
  }

  /// The plan for a page of items that cost this on the network.
  ///
  /// - Parameter count: how many items the page has, where these are only the first of them: as many
  ///   as `plannedItems`, for the plan never goes further.
  public func plan(
    for items: ItemCosts, of count: Int, on network: NetworkProfile,
    bounds: PlanBounds = PlanBounds(), hasNextPage: Bool
  ) -> PagePlan {
    precondition(
      items.items.count >= min(count, plannedItems), "more items are needed for the plan")
    return PagePlan(
      parts: network.downlinkKbps > 0
        ? parts(of: items, bounds: bounds, downlinkKbps: network.downlinkKbps) : [],
      nextPageAt: hasNextPage
        ? nextPageIndex(
          count: count, downlinkKbps: network.downlinkKbps,
          roundTripMilliseconds: network.roundTripMilliseconds, lossPercent: network.lossPercent)
        : nil)
  }

  /// How many of a page's items the plan looks at, at the most: the active one and `leading` below it.
  public var plannedItems: Int { max(0, leading) + 1 }

  /// The parts in the order in which to load them: the active item, then the ones below it.
  ///
  /// The plan ends at the first item that the policy or the budget has no room for. Passing over it
  /// for a smaller one further down would load what is seen later before what is seen sooner.
  ///
  /// A strategy that looks for what avoids waiting ends its plan where the link falls behind the person: of items
  /// that arrive after their turn, the next one alone is worth beginning.
  private func parts(
    of items: ItemCosts, bounds: PlanBounds, downlinkKbps: Int
  ) -> [PagePlan.Part] {
    var parts: [PagePlan.Part] = []
    parts.reserveCapacity(min(items.items.count, plannedItems))
    var cost = 0
    var budget = bounds.budgetBytes ?? .max
    // Looked up once: each is a call through the strategy's type.
    let (strategy, leading) = (strategy.kind, leading)
    let end =
      strategy.plansWhatComesInTime
      ? itemsInTime(of: items, downlinkKbps: downlinkKbps) : items.items.count
    for index in 0..<end {
      if index > 0 {
        guard !bounds.savesData, index <= leading else { break }
        cost += items.weight(toLoad: index)
        guard strategy.allows(cost: cost) else { break }
      }
      guard items.append(to: &parts, item: index, budget: &budget) else { break }
    }
    return parts
  }

  /// How many of the first items arrive before their turn, if each is looked at for as long as usual: the active one and
  /// the next in any case. A budget does not count: what it cuts off would come late all the same.
  private func itemsInTime(of items: ItemCosts, downlinkKbps: Int) -> Int {
    var parts: [PagePlan.Part] = []
    var unlimited = Int.max
    for index in items.items.indices.dropFirst().prefix(max(0, leading)) {
      _ = items.append(to: &parts, item: index, budget: &unlimited)
      let bytesInTime = index * 60_000 / itemsPerMinute * downlinkKbps / 8
      if index > 1, Int.max - unlimited > bytesInTime { return index }
    }
    return items.items.count
  }

  /// Bytes of a page itself, for the time that it takes to arrive.
  private static let pageBytes = 20_480

  /// The index within a page at which to ask for the next one so that it is there, with what its first items
  /// need, before the last `leading` items are active: after a share of the page at the latest, which is
  /// the articles' dynamic threshold. A strategy that is a share, or the end, is that.
  func nextPageIndex(
    count: Int, downlinkKbps: Int, roundTripMilliseconds: Int, lossPercent: Int
  ) -> Int {
    if let index = strategy.kind.nextPageIndex(count: count) { return index }
    let threshold = count * nextPagePercent / 100
    guard downlinkKbps > 0 else { return 0 }
    // Two round trips: one for a connection that may have gone idle, one for the request. Lost
    // packets come again after another.
    let roundTrips = 2 * roundTripMilliseconds * 100 / max(1, 100 - lossPercent)
    let milliseconds = roundTrips + Self.pageBytes * 8 / downlinkKbps
    let scrolled = (milliseconds * itemsPerMinute + 59_999) / 60_000
    return max(0, min(threshold, count - leading - scrolled))
  }
}
