import Feed

/// What to load of a page while its first item is the active one.
public struct PagePlan: Hashable, Sendable {
  /// Why a part is loaded.
  public enum Reason: Sendable {
    /// The item is active: all of it.
    case active
    /// The item comes soon: so much that it starts to play.
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
      parts: network.downlinkKbps > 0 ? parts(of: items, on: network, bounds: bounds) : [],
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
  private func parts(
    of items: [ItemLoad], on network: NetworkProfile, bounds: PlanBounds
  ) -> [PagePlan.Part] {
    let costs = costs(
      downlinkKbps: network.downlinkKbps, widthPixels: bounds.widthPixels ?? 0)
    var parts: [PagePlan.Part] = []
    parts.reserveCapacity(min(items.count, plannedItems))
    var cost = 0
    var budget = bounds.budgetBytes ?? .max
    for index in items.indices {
      let item = items[index]
      if index > 0 {
        guard !bounds.savesData, index <= leading else { break }
        cost += weight(toLoad: item, costs)
        guard strategy.allows(cost: cost) else { break }
      }
      let isAffordable = forEachPart(of: item, at: index, costs) { part, piece in
        guard let affordable = affordable(part, piece, budget: budget) else { return false }
        parts.append(affordable)
        budget -= affordable.bytes
        return true
      }
      guard isAffordable else { break }
    }
    return parts
  }

  /// What an item counts towards `maxCost`: nothing where there is nothing to load.
  private func weight(toLoad item: ItemLoad, _ costs: HintCosts) -> Int {
    let hasNone = forEachPart(of: item, at: 1, costs) { _, _ in false }
    return hasNone ? 0 : costs.weight(of: item)
  }

  /// What of a part is worth having.
  private struct Piece {
    /// The bytes of the part, and of those of its file that come after it and without which it is worth
    /// nothing.
    let needed: Int
    /// How many of the part's bytes are worth having alone; `nil` where none are.
    var least: Int?
  }

  /// Hands out the parts of an item, in their order, as long as `body` returns true.
  ///
  /// - Returns: whether it did for all of them.
  private func forEachPart(
    of item: ItemLoad, at itemIndex: Int, _ costs: HintCosts,
    _ body: (PagePlan.Part, Piece) -> Bool
  ) -> Bool {
    let isActive = itemIndex == 0
    guard !item.media.isEmpty else {
      let isLoadable = item.type == .webapp || item.type == .ad
      guard isLoadable, item.hasPage, webappBytes > 0 else { return true }
      let part = PagePlan.Part(
        itemIndex: itemIndex, mediaIndex: nil, variantIndex: nil, range: nil, bytes: webappBytes,
        reason: isActive ? .active : .whole, isEstimated: true)
      return body(part, Piece(needed: webappBytes))
    }
    let seen = isActive ? item.media.count : costs.visibleParts(of: item)
    for mediaIndex in 0..<seen {
      let choice = costs.choice(of: item.media[item.media.startIndex + mediaIndex])
      let media = choice.file
      let cost = costs.cost(ofFile: media)
      let plays = media.kind.plays
      var needed = isActive ? cost.entireBytes : cost.minimumBytes
      let pieces = isActive ? [] : cost.pieces
      for index in 0..<max(pieces.count, 1) {
        let range = pieces.isEmpty ? 0..<needed : pieces[index]
        if range.isEmpty { continue }
        let part = PagePlan.Part(
          itemIndex: itemIndex, mediaIndex: mediaIndex, variantIndex: choice.index,
          range: media.bytes == nil ? nil : range, bytes: range.count,
          reason: isActive ? .active : plays ? .start : .whole,
          isEstimated: isActive ? cost.isEntireEstimated : cost.isStartEstimated)
        // Of what plays from its start on; what its head alone does not start is worth nothing in pieces.
        let isDivisible = plays && media.timing?.isStartable != false
        let piece = Piece(needed: needed, least: isDivisible ? cost.minimumBytes : nil)
        guard body(part, piece) else { return false }
        needed -= range.count
      }
    }
    return true
  }

  /// The part as far as the budget reaches: of what plays its start and more is worth having, a piece
  /// of an image is not. `nil` where the budget does not reach so far.
  private func affordable(
    _ part: PagePlan.Part, _ piece: Piece, budget: Int
  ) -> PagePlan.Part? {
    if piece.needed <= budget { return part }
    guard let least = piece.least, budget > 0, budget >= least else { return nil }
    return PagePlan.Part(
      itemIndex: part.itemIndex, mediaIndex: part.mediaIndex, variantIndex: part.variantIndex,
      range: part.range.map { $0.lowerBound..<$0.lowerBound + budget }, bytes: budget,
      reason: part.reason, isEstimated: part.isEstimated)
  }

  /// Bytes of a page itself, for the time that it takes to arrive.
  private static let pageBytes = 20_480

  /// The index within a page at which to ask for the next one so that it is there, with what its first items
  /// need, before the last `leading` items are active: after a share of the page at the latest, which is
  /// the articles' dynamic threshold. A strategy that is a share, or the end, is that.
  func nextPageIndex(
    count: Int, downlinkKbps: Int, roundTripMilliseconds: Int, lossPercent: Int
  ) -> Int {
    switch strategy {
    case .endless: return max(0, count - 1)
    // The item with which the share is seen, which is on the screen as soon as it is the active one.
    case .thresholdFixed(let percent), .thresholdDynamic(let percent):
      return max(0, (count * percent + 99) / 100 - 1)
    case .plain, .weighted, .standard, .lazyTarget, .rangeController, .stages, .expectedWait: break
    }
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
