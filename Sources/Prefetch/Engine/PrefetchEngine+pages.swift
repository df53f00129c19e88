/// The ends of the list.
extension PrefetchEngine {
  mutating func askForPages(_ actions: inout [PrefetchAction], _ wake: inout Wake) {
    guard network.isOnline, !network.isInBackground, let active = viewer.active else { return }
    guard pages.retryAt <= now else {
      return wake.at(pages.retryAt, .retry(attempts: pages.attempts))
    }
    if let distance = stopOutside(active) {
      return ask(.around(distance: distance), .stopOutside(distance: distance), &actions)
    }
    if list[active].expiresAt.map({ $0 <= now }) == true {
      ask(.around(distance: 0), .expired, &actions)
    }
    if pages.hasNext, let reason = reasonForNextPage(active) { ask(.below, reason, &actions) }
    let above = active - list.first
    if pages.hasPrevious,
      above <= max(policy.trailing, 1) + (viewer.direction < 0 ? policy.leading : 0)
    {
      ask(.above, above == 0 ? .end : .itemsLeft(above), &actions)
    }
  }

  private mutating func ask(
    _ place: PrefetchPlace, _ reason: PrefetchReason, _ actions: inout [PrefetchAction]
  ) {
    guard !pages.pending.contains(where: { $0.isSameEnd(as: place) }) else { return }
    pages.pending.append(place)
    counts.pages += 1
    actions.append(PrefetchAction(.askForPage(place), reason))
  }

  /// How far off a fling stops, where that is not in the list and the feed goes on there.
  private func stopOutside(_ active: Int) -> Int? {
    guard policy.strategy.followsFlings, viewer.isFlung(settings), let stop = viewer.stopDistance,
      !list.positions.contains(active + stop), stop < 0 ? pages.hasPrevious : pages.hasNext
    else { return nil }
    return stop
  }

  /// Why the next page is asked for now, if it is.
  private func reasonForNextPage(_ active: Int) -> PrefetchReason? {
    let seen = active - list.first + 1
    let left = list.count - seen
    if left == 0 { return .end }
    switch policy.strategy {
    case .endless: return nil
    case .thresholdFixed(let percent):
      return seen * 100 >= list.count * percent
        ? .share(seen: seen, of: list.count, percent: percent) : nil
    case .thresholdDynamic(let percent):
      let seenOfNewest = seen - (list.count - pages.newestCount)
      return seenOfNewest * 100 >= pages.newestCount * percent
        ? .share(seen: max(0, seenOfNewest), of: pages.newestCount, percent: percent) : nil
    case .expectedWait: return isNextPageDue ? .itemsLeft(left) : nil
    case .plain, .weighted, .standard, .lazyTarget, .rangeController, .stages:
      let index = policy.nextPageIndex(
        count: pages.newestCount, downlinkKbps: network.downlinkKbps,
        roundTripMilliseconds: network.roundTripMilliseconds, lossPercent: 0)
      return seen - 1 >= list.count - pages.newestCount + index ? .itemsLeft(left) : nil
    }
  }
}
