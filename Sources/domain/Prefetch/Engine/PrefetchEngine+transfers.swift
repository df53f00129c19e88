import Feed

/// Brings what runs in line with what is wished.
extension PrefetchEngine {
  mutating func reconcile(
    _ wishes: [Wish], _ actions: inout [PrefetchAction], _ wake: inout Wake
  ) {
    let pause = standstill
    let wishes = pause == nil ? wishes : []
    stopUnwished(wishes, pause, &actions)
    let allowance = allowance
    keepWithin(allowance, wishes, &actions)
    if pause == nil { begin(wishes, allowance, &actions) }
    limitPaused(&actions)
    for transfer in transfers {
      guard let expiry = transfer.position.flatMap({ list[$0].expiresAt }) else { continue }
      wake.at(expiry, .expiry)
    }
  }

  /// Why nothing is loaded at all, if nothing is.
  private var standstill: PrefetchReason? {
    network.isInBackground ? .background : network.isOnline ? nil : .offline
  }

  // MARK: What is stopped

  private mutating func stopUnwished(
    _ wishes: [Wish], _ standstill: PrefetchReason?, _ actions: inout [PrefetchAction]
  ) {
    var index = 0
    while index < transfers.count {
      let transfer = transfers[index]
      if let wish = wishes.first(where: { $0.covers(transfer) }) {
        transfers[index].countedEnd = wish.countedEnd
        // Of a file that several items have, it is for the one that wants it now.
        if wish.position != transfer.position {
          transfers[index].item = list[wish.position].id
          transfers[index].position = wish.position
        }
        index += 1
        continue
      }
      var reason = reasonToStop(transfer, wishes)
      if standstill == nil, comesAnyway(transfer, reason) {
        index += 1
        continue
      }
      if let standstill, reason != .gone, reason != .expired { reason = standstill }
      if stop(index, reason, &actions) { index += 1 }
    }
  }

  /// What has yet to arrive of it is on its way, as far as a round trip goes: to stop it would save none of that, and
  /// to ask again costs another round trip. Ours lets it come.
  private func comesAnyway(_ transfer: Transfer, _ reason: PrefetchReason) -> Bool {
    guard case .expectedWait = policy.strategy, !transfer.isPaused else { return false }
    switch reason {
    case .gone, .expired: return false
    default:
      return transfer.bytesUnderWay
        <= network.bytes(inMilliseconds: network.roundTripMilliseconds)
    }
  }

  private func reasonToStop(_ transfer: Transfer, _ wishes: [Wish]) -> PrefetchReason {
    guard let active = viewer.active, let position = transfer.position else {
      return .gone
    }
    if list[position].expiresAt.map({ $0 <= now }) == true { return .expired }
    if files[transfer.slot].held.count(in: transfer.rest) == transfer.rest.count { return .enough }
    if case .expectedWait = policy.strategy, wishes.first?.priority == .urgent { return .yields }
    let isNear = wishes.contains { $0.position == position } || list[position].isReady
    return isNear ? .enough : .outOfWindow(distance: position - active)
  }

  /// Stops a transfer, as the strategy stops them.
  ///
  /// - Returns: whether it is still among the transfers.
  private mutating func stop(
    _ index: Int, _ reason: PrefetchReason, _ actions: inout [PrefetchAction]
  ) -> Bool {
    let transfer = transfers[index]
    let isFinal: Bool
    switch reason {
    case .gone, .expired: isFinal = true
    case .outOfWindow:
      // What the platform has begun it ends.
      if case .standard = policy.strategy { return true }
      isFinal = !isNear(transfer)
    default: isFinal = false
    }
    if !isFinal, policy.strategy.pauses || standstill != nil {
      if !transfer.isPaused {
        transfers[index].isPaused = true
        actions.append(PrefetchAction(.pause(transfer: transfer.id), reason))
      }
      return true
    }
    cancel(index, reason, &actions)
    return false
  }

  private mutating func cancel(
    _ index: Int, _ reason: PrefetchReason, _ actions: inout [PrefetchAction]
  ) {
    actions.append(PrefetchAction(.cancel(transfer: transfers.remove(at: index).id), reason))
  }

  /// Whether the transfer's item may soon be wanted again.
  private func isNear(_ transfer: Transfer) -> Bool {
    guard let active = viewer.active, let position = transfer.position else {
      return false
    }
    return (position - active).magnitude <= UInt(max(policy.leading, policy.trailing))
  }

  /// Stops what runs ahead of the person beyond what is allowed: what is wished last, first.
  private mutating func keepWithin(
    _ allowance: (bytes: Int, restraint: PrefetchReason.Restraint?), _ wishes: [Wish],
    _ actions: inout [PrefetchAction]
  ) {
    while speculativeBytes > allowance.bytes {
      let last = transfers.indices.filter {
        !transfers[$0].isPaused && !isActive(transfers[$0].slot)
      }
      .max { rank($0, wishes) < rank($1, wishes) }
      guard let last else { return }
      _ = stop(last, .allowance(bytes: allowance.bytes, allowance.restraint), &actions)
    }
  }

  /// The place of a transfer among what is wished; greater is later.
  private func rank(_ index: Int, _ wishes: [Wish]) -> Int {
    wishes.firstIndex { $0.covers(transfers[index]) } ?? wishes.count
  }

  private mutating func limitPaused(_ actions: inout [PrefetchAction]) {
    var count = transfers.reduce(0) { $0 + ($1.isPaused ? 1 : 0) }
    while count > settings.pausedTransfers, let oldest = transfers.firstIndex(where: \.isPaused) {
      cancel(oldest, .outOfWindow(distance: distance(of: transfers[oldest])), &actions)
      count -= 1
    }
  }

  private func distance(of transfer: Transfer) -> Int {
    (transfer.position ?? 0) - (viewer.active ?? 0)
  }

  // MARK: What is begun

  /// Asks for what is wished and neither there nor under way, in order, as far as the limits reach. It ends at
  /// the first wish for which there is no room: passing over it for a smaller one would load what is seen
  /// later before what is seen sooner.
  private mutating func begin(
    _ wishes: [Wish], _ allowance: (bytes: Int, restraint: PrefetchReason.Restraint?),
    _ actions: inout [PrefetchAction]
  ) {
    for wish in wishes {
      // What runs goes on while a part that failed waits for its next attempt.
      if files[wish.slot].retryAt > now { continue }
      guard resume(wish, wishes, allowance.bytes, &actions) else { return }
      var from = wish.range.lowerBound
      while let gap = gap(in: from..<wish.range.upperBound, of: wish.slot) {
        guard begin(wish, gap, wishes, allowance.bytes, &actions) else { return }
        from = gap.upperBound
      }
    }
  }

  /// The first bytes of these that are neither held nor under way.
  private func gap(in range: Range<Int>, of slot: Int) -> Range<Int>? {
    var from = range.lowerBound
    search: while from < range.upperBound,
      let gap = files[slot].held.firstGap(in: from..<range.upperBound)
    {
      var end = gap.upperBound
      for transfer in transfers where transfer.slot == slot && !transfer.rest.isEmpty {
        if transfer.rest.contains(gap.lowerBound) {
          guard transfer.end < range.upperBound else { return nil }
          from = transfer.end
          continue search
        }
        if gap.contains(transfer.rest.lowerBound) { end = min(end, transfer.rest.lowerBound) }
      }
      return gap.lowerBound..<end
    }
    return nil
  }

  /// Lets transfers that rest go on, where they bring what is wished.
  ///
  /// - Returns: false where there is no room for that.
  private mutating func resume(
    _ wish: Wish, _ wishes: [Wish], _ allowedBytes: Int, _ actions: inout [PrefetchAction]
  ) -> Bool {
    guard transfers.contains(where: { $0.isPaused && wish.covers($0) }) else { return true }
    for id in transfers.filter({ $0.isPaused && wish.covers($0) }).map(\.id) {
      guard let index = transfers.firstIndex(where: { $0.id == id }) else { continue }
      transfers[index].isPaused = false
      let bytes = transfers[index].bytesUnderWay
      transfers[index].isPaused = true
      guard makeSlot(wish, wishes, &actions) else { return false }
      guard wish.isActive || speculativeBytes + bytes <= allowedBytes,
        let index = transfers.firstIndex(where: { $0.id == id })
      else { return false }
      transfers[index].isPaused = false
      let distance = wish.position - (viewer.active ?? wish.position)
      actions.append(PrefetchAction(.resume(transfer: id), .wantedAgain(distance: distance)))
    }
    return true
  }

  /// Whether one more transfer may run. For the active item another one yields.
  private mutating func makeSlot(
    _ wish: Wish, _ wishes: [Wish], _ actions: inout [PrefetchAction]
  ) -> Bool {
    let running = transfers.indices.filter { !transfers[$0].isPaused }
    if running.count < settings.parallelTransfers { return true }
    guard wish.isActive else { return false }
    let last = running.filter { !isActive(transfers[$0].slot) }
      .max { rank($0, wishes) < rank($1, wishes) }
    guard let last else { return false }
    _ = stop(last, .yields, &actions)
    return true
  }

  /// Asks for bytes that are wished.
  ///
  /// - Returns: false where there is no room for all of them.
  private mutating func begin(
    _ wish: Wish, _ gap: Range<Int>, _ wishes: [Wish], _ allowedBytes: Int,
    _ actions: inout [PrefetchAction]
  ) -> Bool {
    let size = files[wish.slot].file.load.bytes
    var end = size == nil ? Transfer.unknownEnd : gap.upperBound
    var counted = max(min(wish.countedEnd, end), gap.lowerBound)
    var isWhole = true
    if !wish.isActive {
      let room = allowedBytes - speculativeBytes
      if counted - gap.lowerBound > room {
        // A part of a clip's start is worth having; of a picture it is not.
        guard wish.isDivisible, size != nil, room > 0 else { return false }
        (end, counted, isWhole) = (gap.lowerBound + room, gap.lowerBound + room, false)
      }
      // Of what has no known size nothing is counted, so that nothing may be allowed, either.
      if room <= 0 { return false }
    }
    guard makeSlot(wish, wishes, &actions) else { return false }
    lastTransfer += 1
    let item = list[wish.position].id
    transfers.append(
      Transfer(
        id: lastTransfer, slot: wish.slot, item: item, position: wish.position,
        next: gap.lowerBound, end: end, countedEnd: counted))
    list[wish.position].media[wish.media].isSettled = true
    files[wish.slot].touched = eventNumber
    counts.requests += 1
    actions.append(
      PrefetchAction(
        .fetch(
          PrefetchTransfer(
            id: lastTransfer, item: item, media: wish.media,
            variant: list[wish.position].media[wish.media].variant,
            key: files[wish.slot].file.key, start: gap.lowerBound,
            end: end == Transfer.unknownEnd ? nil : end, priority: wish.priority)),
        reason(for: wish, gap)))
    return isWhole
  }

  private func reason(for wish: Wish, _ gap: Range<Int>) -> PrefetchReason {
    let bytes = gap.upperBound == Transfer.unknownEnd ? nil : gap.count
    switch wish.priority {
    case .urgent: return .activeStart(missingBytes: bytes ?? wish.countedEnd - gap.lowerBound)
    case .active: return .activeRest(missingBytes: bytes)
    case .ahead:
      guard case .near(let distance, _) = wish.reason else { return wish.reason }
      return .near(distance: distance, bytes: bytes ?? max(0, wish.countedEnd - gap.lowerBound))
    }
  }
}

extension Wish {
  /// Whether the transfer brings something that is wished here.
  func covers(_ transfer: Transfer) -> Bool {
    transfer.slot == slot && !transfer.rest.isEmpty && transfer.rest.overlaps(range)
  }
}
