import Feed

/// Brings the transfers in line with the wishes: stops those that bring no wished bytes, and begins those of
/// bytes that are neither held nor in transfer, within the limits.
///
/// Enforces what holds of every strategy: the active item comes first; nothing is loaded twice, past its end
/// or past its expiry; the numbers of running and paused transfers, and the bytes loaded ahead, stay within
/// their limits.
struct Reconciler {
  private let stopping: StoppingRule
  /// The distance from the active item within which items may soon be wanted again.
  private let nearItems: Int

  init(_ policy: Policy) {
    stopping = policy.strategy.kind.stopping
    nearItems = max(policy.leading, policy.trailing)
  }

  /// Begins and stops transfers.
  ///
  /// - Parameter wishes: ranges of files in the order in which to load them.
  func reconcile(
    _ wishes: [Wish], _ facts: inout EngineFacts,
    _ actions: inout [PrefetchAction], _ wake: inout Wake
  ) {
    let pause = standstill(facts)
    let wishes = pause == nil ? wishes : []
    stopUnwished(wishes, pause, &facts, &actions)
    let allowance = facts.allowance
    keepWithin(allowance, wishes, &facts, &actions)
    if pause == nil { begin(wishes, allowance, &facts, &actions) }
    limitPaused(&facts, &actions)
    for transfer in facts.transfers {
      guard let expiry = transfer.position.flatMap({ facts.list[$0].expiresAt }) else { continue }
      wake.at(expiry, .expiry)
    }
  }

  /// The reason why nothing is loaded at all, if any.
  private func standstill(_ facts: EngineFacts) -> PrefetchReason? {
    facts.network.isInBackground ? .background : facts.network.isOnline ? nil : .offline
  }

  // MARK: Stopping

  private func stopUnwished(
    _ wishes: [Wish], _ standstill: PrefetchReason?, _ facts: inout EngineFacts,
    _ actions: inout [PrefetchAction]
  ) {
    var index = 0
    while index < facts.transfers.count {
      let transfer = facts.transfers[index]
      // The bytes to continue with have arrived meanwhile: as the same chunk of another variant, or from a
      // store.
      if transfer.isPaused,
        facts.files[transfer.slot].there.contains(transfer.next..<transfer.next + 1)
      {
        cancel(index, .enough, &facts, &actions)
        continue
      }
      if let wish = wishes.first(where: { $0.covers(transfer) }) {
        facts.transfers[index].countedEnd = wish.countedEnd
        // If several items have the file, the transfer is for the one that wants it now.
        if wish.position != transfer.position {
          facts.transfers[index].item = facts.list[wish.position].id
          facts.transfers[index].position = wish.position
        }
        index += 1
        continue
      }
      var reason = reasonToStop(transfer, wishes, facts)
      if standstill == nil, comesAnyway(transfer, reason, facts) {
        index += 1
        continue
      }
      if let standstill, reason != .gone, reason != .expired { reason = standstill }
      if stop(index, reason, &facts, &actions) { index += 1 }
    }
  }

  /// Whether the rest of the transfer arrives within a round trip: to stop it would save none of that, and to
  /// request it again costs another round trip.
  private func comesAnyway(
    _ transfer: Transfer, _ reason: PrefetchReason, _ facts: EngineFacts
  ) -> Bool {
    guard stopping.finishesWithinRoundTrip, !transfer.isPaused else { return false }
    switch reason {
    case .gone, .expired: return false
    default:
      return transfer.bytesUnderWay
        <= facts.network.bytes(inMilliseconds: facts.network.roundTripMilliseconds)
    }
  }

  private func reasonToStop(
    _ transfer: Transfer, _ wishes: [Wish], _ facts: EngineFacts
  ) -> PrefetchReason {
    guard let active = facts.viewer.active, let position = transfer.position else {
      return .gone
    }
    if facts.list[position].expiresAt.map({ $0 <= facts.now }) == true { return .expired }
    if facts.files[transfer.slot].there.count(in: transfer.rest) == transfer.rest.count {
      return .enough
    }
    if stopping.yieldsToActive, wishes.first?.priority == .urgent { return .yields }
    let isNear = wishes.contains { $0.position == position } || facts.list[position].isReady
    return isNear ? .enough : .outOfWindow(distance: position - active)
  }

  /// Stops a transfer by the strategy's rule.
  ///
  /// - Returns: whether it is still among the transfers.
  private func stop(
    _ index: Int, _ reason: PrefetchReason, _ facts: inout EngineFacts,
    _ actions: inout [PrefetchAction]
  ) -> Bool {
    let transfer = facts.transfers[index]
    let isFinal: Bool
    switch reason {
    case .gone, .expired: isFinal = true
    case .outOfWindow:
      if stopping.finishesBegun { return true }
      isFinal = !isNear(transfer, facts)
    default: isFinal = false
    }
    if !isFinal, stopping.pauses || standstill(facts) != nil {
      if !transfer.isPaused {
        facts.transfers[index].isPaused = true
        actions.append(PrefetchAction(.pause(transfer: transfer.id), reason))
      }
      return true
    }
    cancel(index, reason, &facts, &actions)
    return false
  }

  private func cancel(
    _ index: Int, _ reason: PrefetchReason, _ facts: inout EngineFacts,
    _ actions: inout [PrefetchAction]
  ) {
    actions.append(PrefetchAction(.cancel(transfer: facts.transfers.remove(at: index).id), reason))
  }

  /// Whether the transfer's item may soon be wanted again.
  private func isNear(_ transfer: Transfer, _ facts: EngineFacts) -> Bool {
    guard let active = facts.viewer.active, let position = transfer.position else {
      return false
    }
    return (position - active).magnitude <= UInt(nearItems)
  }

  /// Stops transfers ahead of the person beyond the allowance: those wished last come first.
  private func keepWithin(
    _ allowance: (bytes: Int, restraint: PrefetchReason.Restraint?), _ wishes: [Wish],
    _ facts: inout EngineFacts,
    _ actions: inout [PrefetchAction]
  ) {
    while facts.speculativeBytes > facts.allowance.bytes {
      let last = facts.transfers.indices.filter {
        !facts.transfers[$0].isPaused && !facts.isActive(facts.transfers[$0].slot)
      }
      .max { rank($0, wishes, facts) < rank($1, wishes, facts) }
      guard let last else { return }
      _ = stop(
        last, .allowance(bytes: facts.allowance.bytes, facts.allowance.restraint), &facts, &actions)
    }
  }

  /// The place of a transfer in the order of the wishes; greater is later.
  private func rank(_ index: Int, _ wishes: [Wish], _ facts: EngineFacts) -> Int {
    wishes.firstIndex { $0.covers(facts.transfers[index]) } ?? wishes.count
  }

  private func limitPaused(
    _ facts: inout EngineFacts,
    _ actions: inout [PrefetchAction]
  ) {
    var count = facts.transfers.reduce(0) { $0 + ($1.isPaused ? 1 : 0) }
    while count > facts.settings.pausedTransfers,
      let oldest = facts.transfers.firstIndex(where: \.isPaused)
    {
      cancel(
        oldest, .outOfWindow(distance: distance(of: facts.transfers[oldest], facts)), &facts,
        &actions)
      count -= 1
    }
  }

  private func distance(of transfer: Transfer, _ facts: EngineFacts) -> Int {
    (transfer.position ?? 0) - (facts.viewer.active ?? 0)
  }

  // MARK: Beginning

  /// Requests wished bytes that are neither held nor in transfer, in order, within the limits. Ends at the
  /// first wish without room: to skip it for a smaller one would load later items before earlier ones.
  private func begin(
    _ wishes: [Wish], _ allowance: (bytes: Int, restraint: PrefetchReason.Restraint?),
    _ facts: inout EngineFacts,
    _ actions: inout [PrefetchAction]
  ) {
    for wish in wishes {
      // Running transfers continue while a part that failed waits for its next attempt.
      if facts.files[wish.slot].retryAt > facts.now { continue }
      guard resume(wish, wishes, facts.allowance.bytes, &facts, &actions) else { return }
      var from = wish.range.lowerBound
      while let gap = gap(in: from..<wish.range.upperBound, of: wish.slot, facts) {
        guard begin(wish, gap, wishes, facts.allowance.bytes, &facts, &actions) else { return }
        from = gap.upperBound
      }
    }
  }

  /// The first bytes of the range that are neither held nor in transfer.
  private func gap(
    in range: Range<Int>, of slot: Int, _ facts: EngineFacts
  ) -> Range<Int>? {
    var from = range.lowerBound
    search: while from < range.upperBound,
      let gap = facts.files[slot].there.firstGap(in: from..<range.upperBound)
    {
      var end = gap.upperBound
      for transfer in facts.transfers where transfer.slot == slot && !transfer.rest.isEmpty {
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

  /// Resumes paused transfers that bring wished bytes.
  ///
  /// - Returns: `false` if there is no room for that.
  private func resume(
    _ wish: Wish, _ wishes: [Wish], _ allowedBytes: Int, _ facts: inout EngineFacts,
    _ actions: inout [PrefetchAction]
  ) -> Bool {
    guard facts.transfers.contains(where: { $0.isPaused && wish.covers($0) }) else { return true }
    for id in facts.transfers.filter({ $0.isPaused && wish.covers($0) }).map(\.id) {
      guard let index = facts.transfers.firstIndex(where: { $0.id == id }) else { continue }
      facts.transfers[index].isPaused = false
      let bytes = facts.transfers[index].bytesUnderWay
      facts.transfers[index].isPaused = true
      guard makeSlot(wish, wishes, &facts, &actions) else { return false }
      guard
        wish.isActive
          || facts.speculativeBytes + bytes <= allowedBytes
            && facts.hasRoom(for: bytes, of: wish.position),
        let index = facts.transfers.firstIndex(where: { $0.id == id })
      else { return false }
      facts.noteBegin()
      facts.transfers[index].isPaused = false
      facts.transfers[index].askedAt = facts.now
      let distance = wish.position - (facts.viewer.active ?? wish.position)
      actions.append(PrefetchAction(.resume(transfer: id), .wantedAgain(distance: distance)))
    }
    return true
  }

  /// Whether one more transfer may run. For the active item, another one stops.
  private func makeSlot(
    _ wish: Wish, _ wishes: [Wish], _ facts: inout EngineFacts,
    _ actions: inout [PrefetchAction]
  ) -> Bool {
    let running = facts.transfers.indices.filter { !facts.transfers[$0].isPaused }
    if running.count < facts.settings.parallelTransfers { return true }
    guard wish.isActive else { return false }
    let last = running.filter { !facts.isActive(facts.transfers[$0].slot) }
      .max { rank($0, wishes, facts) < rank($1, wishes, facts) }
    guard let last else { return false }
    _ = stop(last, .yields, &facts, &actions)
    return true
  }

  /// Requests wished bytes.
  ///
  /// - Returns: `false` if there is no room for all of them.
  private func begin(
    _ wish: Wish, _ gap: Range<Int>, _ wishes: [Wish], _ allowedBytes: Int,
    _ facts: inout EngineFacts,
    _ actions: inout [PrefetchAction]
  ) -> Bool {
    let size = facts.files[wish.slot].file.load.bytes
    // A file of unknown size is requested to its end, or up to its next held bytes.
    var end =
      size == nil
      ? self.gap(in: gap.lowerBound..<Transfer.unknownEnd, of: wish.slot, facts)?.upperBound
        ?? gap.upperBound : gap.upperBound
    var counted = max(min(wish.countedEnd, end), gap.lowerBound)
    var isWhole = true
    if !wish.isActive {
      let room = allowedBytes - facts.speculativeBytes
      if counted - gap.lowerBound > room {
        // A part of a clip's start is useful, a part of a picture is not.
        guard wish.isDivisible, size != nil, room > 0 else { return false }
        (end, counted, isWhole) = (gap.lowerBound + room, gap.lowerBound + room, false)
      }
      // Bytes of unknown size do not count, so the allowance must have room left.
      if room <= 0 { return false }
      // Do not load bytes that would be evicted again.
      guard facts.hasRoom(for: counted - gap.lowerBound, of: wish.position) else { return false }
    }
    guard makeSlot(wish, wishes, &facts, &actions) else { return false }
    assert(
      facts.files[wish.slot].there.count(in: gap) == 0
        && !facts.transfers.contains { $0.slot == wish.slot && $0.rest.contains(gap.lowerBound) },
      "what is held or under way is begun again")
    facts.lastTransfer += 1
    let id = facts.lastTransfer
    let item = facts.list[wish.position].id
    facts.noteBegin()
    facts.transfers.append(
      Transfer(
        id: id, slot: wish.slot, item: item, position: wish.position,
        next: gap.lowerBound, end: end, countedEnd: counted, askedAt: facts.now))
    facts.list[wish.position].media[wish.media].isSettled = true
    facts.files[wish.slot].touched = facts.eventNumber
    facts.counts.requests += 1
    actions.append(
      PrefetchAction(
        .fetch(
          PrefetchTransfer(
            id: id, item: item, media: wish.media,
            variant: facts.list[wish.position].media[wish.media].variant,
            key: facts.files[wish.slot].file.key, start: gap.lowerBound,
            end: end == Transfer.unknownEnd ? nil : end, priority: wish.priority)),
        reason(for: wish, gap)))
    return isWhole
  }

  private func reason(for wish: Wish, _ gap: Range<Int>) -> PrefetchReason {
    let bytes = gap.upperBound == Transfer.unknownEnd ? nil : gap.count
    switch wish.priority {
    case .urgent:
      return .activeStart(missingBytes: bytes ?? max(0, wish.countedEnd - gap.lowerBound))
    case .active: return .activeRest(missingBytes: bytes)
    case .ahead:
      guard case .near(let distance, _) = wish.reason else { return wish.reason }
      return .near(distance: distance, bytes: bytes ?? max(0, wish.countedEnd - gap.lowerBound))
    }
  }
}

extension Wish {
  /// Whether the transfer brings wished bytes.
  func covers(_ transfer: Transfer) -> Bool {
    transfer.slot == slot && !transfer.rest.isEmpty && transfer.rest.overlaps(range)
  }
}
