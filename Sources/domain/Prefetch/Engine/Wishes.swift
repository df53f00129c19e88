import Feed

/// The ranges of files for the strategy's wants.
extension EngineFacts {
  /// The costs of files on the network in its present state.
  var costs: HintCosts { policy.costs(downlinkKbps: network.downlinkKbps) }

  /// The ranges to load, in order. Marks items as ready if the bytes that start them are held.
  mutating func wishes(
    for wants: [Want], _ actions: inout [PrefetchAction], _ wake: inout Wake
  ) -> [Wish] {
    guard let active = viewer.active else { return [] }
    var wishes: [Wish] = []
    wishes.reserveCapacity(wants.count * 2 + 2)
    let costs = costs
    for want in wants {
      let isActive = want.position == active
      if list[want.position].expiresAt.map({ $0 <= now }) == true { continue }
      noteReadiness(want.position, costs, &actions)
      let seen = isActive ? list[want.position].media.count : visibleMedia(want.position)
      for media in 0..<seen {
        add(want, media, isActive, costs, to: &wishes, &wake)
      }
    }
    // What the person waits for comes before the rest of the active item.
    let urgent = wishes.reduce(0) { $0 + ($1.priority == .urgent ? 1 : 0) }
    if wishes.prefix(urgent).allSatisfy({ $0.priority == .urgent }) { return wishes }
    return wishes.filter { $0.priority == .urgent } + wishes.filter { $0.priority != .urgent }
  }

  /// The number of an item's media that are visible at first.
  func visibleMedia(_ position: Int) -> Int {
    let count = list[position].media.count
    return list[position].type == .carousel
      ? min(max(policy.carouselVisibleParts, 1), count) : count
  }

  private func add(
    _ want: Want, _ media: Int, _ isActive: Bool, _ costs: HintCosts, to wishes: inout [Wish],
    _ wake: inout Wake
  ) {
    let slot = list[want.position].media[media].slot
    guard !files[slot].isGone else { return }
    if files[slot].retryAt > now {
      wake.at(files[slot].retryAt, .retry(attempts: files[slot].attempts))
    }
    let load = files[slot].file.load
    let isLimited = policy.strategy.limitsStarts
    let cost = isLimited ? startCost(of: load, at: want.position, costs) : costs.cost(of: load)
    let plays = load.kind.plays
    func wish(
      _ range: Range<Int>, _ priority: PrefetchTransfer.Priority, counted: Int? = nil,
      isDivisible: Bool = false
    ) {
      guard !range.isEmpty, !files[slot].there.contains(range) else { return }
      wishes.append(
        Wish(
          position: want.position, media: media, slot: slot, range: range,
          countedEnd: counted ?? range.upperBound, priority: priority, reason: want.reason,
          isDivisible: isDivisible))
    }
    // A picture of unknown size is wanted to its end, like a whole clip; of a start, the bytes that start it.
    let end = load.bytes ?? Transfer.unknownEnd
    var startEnd = plays || load.bytes != nil ? cost.minimumBytes : Transfer.unknownEnd
    if isLimited, plays { startEnd = aheadBytes(of: load, at: want.position, costs) }
    if want.amount == .head, let timing = load.timing, timing.isStartable {
      startEnd = isLimited ? corrected(timing.headBytes, of: load) : timing.headBytes
    }
    let startCount = cost.minimumBytes
    if case .bytes(let wanted, let range) = want.amount {
      if wanted == media {
        let urgent = isActive && !list[want.position].isReady
        wish(range.clamped(to: 0..<end), urgent ? .urgent : isActive ? .active : .ahead)
      }
      return
    }
    let startPriority: PrefetchTransfer.Priority =
      !isActive ? .ahead : list[want.position].isReady ? .active : .urgent
    if cost.pieces.isEmpty {
      let bytes =
        if case .milliseconds(let milliseconds) = want.amount, plays {
          min(load.bytes(playing: milliseconds) ?? startEnd, end)
        } else { startEnd }
      wish(
        0..<bytes, startPriority, counted: bytes == Transfer.unknownEnd ? startCount : bytes,
        isDivisible: plays && !isActive)
    } else {
      for piece in cost.pieces { wish(piece, startPriority) }
      if isLimited, want.amount == .start, !isActive { wish(0..<startEnd, startPriority) }
    }
    if want.amount == .entire {
      wish(
        0..<end, isActive ? .active : .ahead, counted: load.bytes ?? cost.entireBytes,
        isDivisible: plays)
    }
  }

  /// Marks an item as ready if its start is held; it stays ready until bytes of it are evicted.
  mutating func noteReadiness(
    _ position: Int, _ costs: HintCosts, _ actions: inout [PrefetchAction]
  ) {
    guard !list[position].isReady, !lacksAll(position) else { return }
    let (held, needed, isThere) = start(of: position, costs)
    guard isThere else { return }
    list[position].isReady = true
    if position == viewer.active, viewer.showing == .placeholder {
      viewer.history.note(waitMilliseconds: now - viewer.activeSince)
    }
    actions.append(
      PrefetchAction(.ready(item: list[position].id), .bytes(held: held, needed: needed)))
  }

  /// Whether nothing is held of an item's first file, which needs some bytes to start. This holds for most
  /// items of a window most of the time, and saves counting their bytes.
  private func lacksAll(_ position: Int) -> Bool {
    guard let slot = list[position].media.first?.slot, files[slot].there.isEmpty else {
      return false
    }
    let load = files[slot].file.load
    return load.bytes != 0
      && (load.kind == .image || load.timing.map { $0.headBytes > 0 } ?? false)
  }

  /// The cost of the start of a file, only as far as most people watch it: later bytes arrive while it plays.
  func startCost(of load: MediaLoad, at position: Int, _ costs: HintCosts) -> MediaCost {
    let cost = saidStartCost(of: load, at: position, costs)
    guard policy.strategy.limitsStarts, cost.pieces.isEmpty else { return cost }
    let bytes = corrected(cost.minimumBytes, of: load)
    guard bytes > cost.minimumBytes else { return cost }
    return MediaCost(
      startBytes: bytes, entireBytes: cost.entireBytes, isStartEstimated: cost.isStartEstimated,
      isEntireEstimated: cost.isEntireEstimated)
  }

  /// The same by the file's hints alone.
  private func saidStartCost(
    of load: MediaLoad, at position: Int, _ costs: HintCosts
  ) -> MediaCost {
    let cost = costs.cost(of: load)
    // Without a curve, a straight line from the first frame, if that is known: pages say no more of variants.
    guard load.kind.plays,
      load.withTiming({ $0.isStartable && (!$0.curve.isEmpty || $0.headBytes > 0) }) == true
    else { return cost }
    let watched =
      list[position].survival.usualMilliseconds ?? viewer.history.usualClipMilliseconds
    let latency = 2 * network.roundTripMilliseconds + Self.playerBufferMilliseconds
    guard
      let bytes = load.leadBytes(
        atKbps: costs.downlinkKbps, throughMilliseconds: watched, latencyMilliseconds: latency),
      bytes < cost.minimumBytes
    else { return cost }
    return MediaCost(
      startBytes: bytes, entireBytes: cost.entireBytes, isStartEstimated: false,
      isEntireEstimated: false)
  }

  /// The number of a file's first bytes with which it moves at once when its turn comes, and continues. Of a
  /// clip these are the bytes that play for as long as a player wants before it moves, and those that it
  /// cannot load in time from then on, if the first further bytes arrive two round trips and that time later.
  /// They reach no further than most people watch, but far enough for the player to move.
  func aheadBytes(of load: MediaLoad, at position: Int, _ costs: HintCosts) -> Int {
    let cost = startCost(of: load, at: position, costs)
    guard load.kind.plays else { return cost.minimumBytes }
    let watched =
      list[position].survival.usualMilliseconds ?? viewer.history.usualClipMilliseconds
    let lead = load.leadBytes(
      atKbps: costs.downlinkKbps,
      throughMilliseconds: min(
        max(watched, Self.playerBufferMilliseconds), load.durationMilliseconds ?? 0),
      latencyMilliseconds: 2 * network.roundTripMilliseconds + Self.playerBufferMilliseconds)
    return max(corrected(lead ?? 0, of: load), cost.pieces.last?.upperBound ?? cost.minimumBytes)
  }

  /// The number of held bytes, and of all bytes, that are loaded of an item ahead.
  func ahead(of position: Int, _ costs: HintCosts) -> (held: Int, needed: Int) {
    var (held, needed) = (0, 0)
    for media in 0..<visibleMedia(position) {
      let slot = list[position].media[media].slot
      let bytes = aheadBytes(of: files[slot].file.load, at: position, costs)
      needed += bytes
      held += files[slot].there.count(in: 0..<bytes)
    }
    return (held, needed)
  }

  /// The number of held bytes, and of all bytes, that start an item, and whether all of them are held.
  func start(
    of position: Int, _ costs: HintCosts
  ) -> (held: Int, needed: Int, isThere: Bool) {
    var (held, needed, isThere) = (0, 0, true)
    for media in 0..<visibleMedia(position) {
      let slot = list[position].media[media].slot
      let load = files[slot].file.load
      let cost = startCost(of: load, at: position, costs)
      needed += cost.minimumBytes
      if cost.pieces.isEmpty {
        held += files[slot].there.count(in: 0..<cost.minimumBytes)
      } else {
        for piece in cost.pieces { held += files[slot].there.count(in: piece) }
      }
      // A picture is complete only with all of its bytes; without its size, that cannot be known.
      if load.kind == .image, load.bytes == nil { isThere = false }
    }
    return (held, needed, isThere && held >= needed)
  }
}

extension MediaLoad {
  /// The number of first bytes that play through this time; at 0, those that show the first frame. `nil` if
  /// unknown.
  func bytes(playing milliseconds: Int) -> Int? {
    if let timing, timing.isStartable {
      if milliseconds == 0 { return timing.headBytes }
      if let point = timing.curve.first(where: { $0.milliseconds >= milliseconds }) {
        return max(point.bytes, timing.headBytes)
      }
      return timing.curve.isEmpty ? nil : bytes
    }
    guard timing == nil, milliseconds > 0, let bytes, let durationMilliseconds,
      durationMilliseconds > 0
    else { return nil }
    if milliseconds >= durationMilliseconds { return bytes }
    let (product, overflow) = bytes.multipliedReportingOverflow(by: milliseconds)
    return overflow ? bytes : product / durationMilliseconds + 1
  }
}
