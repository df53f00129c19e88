import Feed

/// The parts of a page to load while its first item is active.
public struct PagePlan: Hashable, Sendable {
  /// Why a part is loaded.
  public enum Reason: Sendable {
    /// The item is active: all of it.
    case active
    /// The item comes soon: enough of it to start playing.
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
    /// The index of the variant whose bytes these are, among the file's variants; `nil` for the file itself.
    public let variantIndex: Int?
    /// The range of the file's bytes; `nil` if the file's size is unknown: a client that requested a range
    /// would truncate a longer file, or request past the end of a shorter one.
    public let range: Range<Int>?
    /// The number of bytes, or the estimate that counts for them.
    public let bytes: Int
    /// Why it is loaded.
    public let reason: Reason
    /// Whether `bytes` is based on the policy's defaults: for an active file if its size is unknown, for a
    /// start if it is unknown how far the first bytes play.
    public let isEstimated: Bool
  }

  /// The parts to load, in this order.
  public let parts: [Part]
  /// The index in the page of the item that triggers the request for the next page when it becomes active;
  /// `nil` on the last page.
  public let nextPageAt: Int?

  /// The number of bytes of all parts.
  public var bytes: Int { parts.reduce(0) { $0 + $1.bytes } }
}

/// The limits of a plan besides the policy.
public struct PlanBounds: Hashable, Sendable {
  /// The number of bytes that the client will spend on the page; `nil` if it did not say.
  public var budgetBytes: Int?
  /// Whether the person saves data: then only the active item is loaded.
  public var savesData: Bool
  /// The width at which the client shows files, in its own pixels: no wider file is loaded if a variant
  /// suffices. `nil` if the client did not say: then the files themselves are loaded.
  public var widthPixels: Int?

  /// Creates bounds; by default there are none.
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

  /// The plan for a page of items with these costs on the network.
  ///
  /// - Parameter count: the number of items in the page. `items` may have only the first `plannedItems` of
  ///   them, since the plan never goes further.
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

  /// The maximum number of a page's items that the plan considers: the active one and `leading` below it.
  public var plannedItems: Int { max(0, leading) + 1 }

  /// The parts in the order in which to load them: those of the active item, then those of the items below
  /// it.
  ///
  /// The plan ends at the first item that exceeds the limit of the policy or the budget. To skip it for a
  /// smaller one further down would load later items before earlier ones.
  ///
  /// A strategy that avoids waiting ends its plan where the link falls behind the person: of the items that
  /// arrive after their turn, only the next one is worth beginning.
  private func parts(
    of items: ItemCosts, bounds: PlanBounds, downlinkKbps: Int
  ) -> [PagePlan.Part] {
    var parts: [PagePlan.Part] = []
    parts.reserveCapacity(min(items.items.count, plannedItems))
    var cost = 0
    var budget = bounds.budgetBytes ?? .max
    // Looked up once, since each lookup is a call through the strategy's type.
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

  /// The number of first items that arrive before their turn if the person looks at each for the usual time:
  /// at least the active one and the next. It ignores the budget, since what the budget cuts off would be
  /// late in any case.
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

  /// The size of a page itself, for the time that it takes to arrive.
  private static let pageBytes = 20_480

  /// The index within a page at which to request the next one so that it arrives before the last `leading`
  /// items are active, which leaves time for its first items. At the latest it is a share of the page, the
  /// articles' dynamic threshold. A strategy whose rule is a share, or the end, decides by that alone.
  func nextPageIndex(
    count: Int, downlinkKbps: Int, roundTripMilliseconds: Int, lossPercent: Int
  ) -> Int {
    if let index = strategy.kind.nextPageIndex(count: count) { return index }
    let threshold = count * nextPagePercent / 100
    guard downlinkKbps > 0 else { return 0 }
    // Two round trips: one for a connection that may have gone idle, one for the request. Lost packets take
    // another one.
    let roundTrips = 2 * roundTripMilliseconds * 100 / max(1, 100 - lossPercent)
    let milliseconds = roundTrips + Self.pageBytes * 8 / downlinkKbps
    let scrolled = (milliseconds * itemsPerMinute + 59_999) / 60_000
    return max(0, min(threshold, count - leading - scrolled))
  }
}
