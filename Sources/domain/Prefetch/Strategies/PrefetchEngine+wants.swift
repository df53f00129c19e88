/// What each strategy would like to have loaded, in order.
extension PrefetchEngine {
  /// The active item first, then what the strategy adds.
  mutating func wants(_ wake: inout Wake) -> [Want] {
    guard let active = viewer.active else { return [] }
    if case .expectedWait(let tuning) = policy.strategy {
      return expectedWaitWants(tuning, active, &wake)
    }
    var wants: [Want] = []
    wants.reserveCapacity(policy.leading + 2)
    let activeReason = PrefetchReason.activeRest(missingBytes: nil)
    wants.append(Want(position: active, amount: .entire, reason: activeReason))
    switch policy.strategy {
    case .plain(let leading): addNext(leading, .start, from: active, to: &wants)
    case .standard(let leading): addNext(leading, .entire, from: active, to: &wants)
    case .weighted(let leading, let maxCost):
      addWeighed(leading, maxCost, from: active, to: &wants)
    case .endless, .thresholdFixed, .thresholdDynamic, .expectedWait: break
    case .lazyTarget(let leading, let trailing):
      addTarget(leading, trailing, from: active, to: &wants)
    case .rangeController(let tuning): addRanges(tuning, from: active, to: &wants)
    case .stages(let tuning): addStages(tuning, from: active, to: &wants)
    }
    return wants
  }

  /// So many items from there on, in the direction of the scroll.
  private func addNext(
    _ count: Int, _ amount: Want.Amount, from active: Int, to wants: inout [Want]
  ) {
    for step in 0..<count {
      let distance = (step + 1) * viewer.direction
      guard list.positions.contains(active + distance) else { return }
      wants.append(
        Want(
          position: active + distance, amount: amount, reason: .near(distance: distance, bytes: 0)))
    }
  }

  /// The next items as long as their weights add up to no more than that (S1).
  private func addWeighed(
    _ leading: Int, _ maxCost: Int, from active: Int, to wants: inout [Want]
  ) {
    var cost = 0
    for step in 0..<leading {
      let distance = (step + 1) * viewer.direction
      guard list.positions.contains(active + distance) else { return }
      cost += list[active + distance].weight
      guard cost <= maxCost else { return }
      wants.append(
        Want(
          position: active + distance, amount: .start,
          reason: .weighed(distance: distance, cost: cost, maxCost: maxCost)))
    }
  }

  /// The items around the place where the scroll will stop; at rest that is where the person is (S6).
  private func addTarget(
    _ leading: Int, _ trailing: Int, from active: Int, to wants: inout [Want]
  ) {
    let stop = viewer.isFlung(settings) ? viewer.stopDistance : nil
    // In a fling whose end nobody knows, nothing is loaded.
    if viewer.isFlung(settings), stop == nil { return }
    let distances =
      [0] + (0..<leading).map { ($0 + 1) * viewer.direction }
      + (0..<trailing).map { -($0 + 1) * viewer.direction }
    for around in distances {
      let distance = (stop ?? 0) + around
      guard distance != 0, list.positions.contains(active + distance) else { continue }
      wants.append(
        Want(position: active + distance, amount: .start, reason: .target(distance: distance)))
    }
  }

  // MARK: Range controller

  /// How much the range controller does ahead now.
  var rangeMode: RangeTuning.Mode {
    network.savesData ? .visibleOnly : viewer.hasScrolled ? .full : .minimum
  }

  /// How many items such a part of a screenful has, begun ones with it.
  func items(of hundredths: Int) -> Int {
    (hundredths * settings.itemsPerScreenHundredths + 9_999) / 10_000
  }

  /// What is on the screen, then the display range, then the preload range, each of them in the direction of the
  /// scroll first (S7).
  private func addRanges(_ tuning: RangeTuning, from active: Int, to wants: inout [Want]) {
    let (display, preload) = tuning.reaches(in: rangeMode)
    let visible = items(of: 100)
    let direction = viewer.direction
    // The screen begins with the active item, whichever way it scrolls.
    let (below, above) = (visible - 1, 0)
    let (ahead, behind) = direction > 0 ? (below, above) : (above, below)
    func add(_ range: PrefetchReason.ScreenRange, _ from: Int, _ count: Int, _ sign: Int) {
      for step in 0..<max(0, count) {
        let distance = sign * (from + step + 1)
        guard list.positions.contains(active + distance) else { return }
        wants.append(
          Want(
            position: active + distance, amount: .start,
            reason: .inRange(range, distance: distance)))
      }
    }
    add(.visible, 0, below, 1)
    let (displayAhead, displayBehind) = (items(of: display.leading), items(of: display.trailing))
    add(.display, ahead, displayAhead, direction)
    add(.display, behind, displayBehind, -direction)
    add(
      .preload, ahead + displayAhead, items(of: preload.leading) - displayAhead, direction)
    add(
      .preload, behind + displayBehind, items(of: preload.trailing) - displayBehind, -direction)
  }

  /// The nearest items first, of two as near the one in the direction of the scroll (Media3's ranking).
  private func addStages(_ tuning: StageTuning, from active: Int, to wants: inout [Want]) {
    let farthest = max(tuning.loadedDistance, tuning.preparedDistance)
    for step in 0..<farthest {
      for sign in [viewer.direction, -viewer.direction] {
        let distance = (step + 1) * sign
        guard list.positions.contains(active + distance) else { continue }
        let milliseconds = step < tuning.loadedDistance ? tuning.loadedMilliseconds : 0
        wants.append(
          Want(
            position: active + distance, amount: .milliseconds(milliseconds),
            reason: .stage(distance: distance, milliseconds: milliseconds)))
      }
    }
  }
}
