import Feed

/// Our strategy: one idea, the expected waiting that is avoided for a byte, and one price.
///
/// Theory of operation. Futures are drawn when the person has moved. In each, every item has a time at which its
/// turn comes, so that at a low quantile of the bandwidth it is known when the link must turn to it. What one
/// more step of waiting costs over the futures (`ExpectedWait`) is held against what it may save: the step's
/// bytes, if their item's turn does not come, at the price. Where waiting costs more, the item is loaded; where
/// nothing is due, nothing is, and the engine asks to be woken when something may be.
extension PrefetchEngine {
  /// What is wanted now, by what a step of waiting costs.
  mutating func expectedWaitWants(
    _ tuning: WaitTuning, _ active: Int, _ wake: inout Wake
  ) -> [Want] {
    drawFutures(tuning, active)
    chooseVariants(tuning, active)
    let costs = costs
    let step = max(1, network.milliseconds(tuning.stepBytes))
    let isActiveReady = list[active].isReady || start(of: active, costs).isThere
    var wants: [Want] = []
    let rest = activeRest(tuning, active, isActiveReady, costs)
    if let want = rest.want { wants.append(want) }
    guard network.allowance(settings).bytes > 0 else { return wants }
    var jobs: [ExpectedWait.Job] = []
    let window =
      max(list.first, active - tuning.leading)..<min(list.end, active + tuning.leading + 1)
    jobs.reserveCapacity(window.count)
    for position in window { jobs.append(job(position, active, costs)) }
    var wait = ExpectedWait(
      now: now, stepMilliseconds: step, jobs: jobs, first: window.lowerBound)
    for future in 0..<futures.count {
      let visits = futures.visits[futures.starts[future]..<futures.starts[future + 1]]
      // A fling begins where it stops: that item's turn comes, too.
      let coming = visits.first?.position == active ? visits.dropFirst() : visits
      wait.add(coming, busy: isActiveReady ? rest.busyMilliseconds : 0)
    }
    let price = price(tuning)
    // While the person waits, the link is theirs, unless they will be gone before it helps.
    if !isActiveReady, !isHopeless(active, costs) { return wants }
    let before = wants.count
    add(wait, tuning, price, active, to: &wants)
    // While something arrives, that is when it is looked at again.
    if wants.count == before, wait.jobs.contains(where: { $0.bytes > 0 }) {
      let idle = min(max(wait.slack == Int.max ? Int.max : wait.slack - step, 200), 2_000)
      wake.at(max(now + 200, min(now + idle, futures.goodUntil)), .due)
    }
    return wants
  }

  /// The price of a megabyte in milliseconds of waiting, as things are: dearer where data or power are.
  private func price(_ tuning: WaitTuning) -> Int {
    var price = tuning.price
    if network.isMetered { price = price * settings.meteredPricePercent / 100 }
    if network.isStressed { price = price * settings.stressPricePercent / 100 }
    // Beyond this nothing is loaded ahead that may turn out not to be needed; and products stay exact.
    return min(price, 1_000_000_000)
  }

  private mutating func drawFutures(_ tuning: WaitTuning, _ active: Int) {
    guard futures.areDue || futures.goodUntil <= now else { return }
    let elapsed = min(now - viewer.activeSince, Futures.longestDwellMilliseconds)
    var start = (position: active, at: now, elapsed: elapsed)
    if viewer.isFlung(settings), let stop = viewer.stopDistance,
      list.positions.contains(active + stop)
    {
      let milliseconds = Int(stop.magnitude) * 1_000_000 / Int(viewer.milliitemsPerSecond.magnitude)
      start = (active + stop, now + milliseconds, 0)
    }
    var drawn = futures
    drawn.draw(
      tuning.futures, from: start,
      direction: viewer.direction, steps: tuning.leading, in: list.positions,
      item: { (isClip($0), list[$0].survival) })
    futures = drawn
  }

  private func job(_ position: Int, _ active: Int, _ costs: HintCosts) -> ExpectedWait.Job {
    let item = list[position]
    let isLoadable = item.expiresAt.map { $0 > now } ?? true
    guard position != active, isLoadable, !item.isReady else {
      let whole = position == active ? 0 : network.milliseconds(start(of: position, costs).needed)
      return ExpectedWait.Job(
        position: position, bytes: 0, milliseconds: 0, wholeMilliseconds: whole, isUnderWay: false)
    }
    let (held, needed, _) = start(of: position, costs)
    let bytes = max(0, needed - held)
    let isUnderWay = transfers.contains { transfer in
      !transfer.isPaused && item.media.contains { $0.slot == transfer.slot }
    }
    return ExpectedWait.Job(
      position: position, bytes: bytes,
      milliseconds: bytes == 0
        ? 0
        : network.milliseconds(bytes) + (isUnderWay ? 0 : network.roundTripMilliseconds),
      wholeMilliseconds: network.milliseconds(needed),
      isUnderWay: isUnderWay)
  }

  /// The items for which a step of waiting costs more than it may save, the dearest first: as many as keep the
  /// link busy for two round trips.
  private func add(
    _ wait: ExpectedWait, _ tuning: WaitTuning, _ price: Int, _ active: Int,
    to wants: inout [Want]
  ) {
    let count = max(1, futures.count)
    let due = wait.jobs.filter { job in
      guard job.bytes > 0, job.turns > 0 else { return false }
      // What runs and is more likely needed than not goes on: to stop and begin again costs a round trip.
      if job.isUnderWay, job.turns * 2 >= count { return true }
      // cost / count milliseconds against step / 1 000 000 megabytes at the price, in the futures without it.
      let step = min(tuning.stepBytes, job.bytes)
      return job.cost * 1_000_000 >= price * step * (count - job.turns)
        && (job.cost > 0 || job.turns == count)
    }
    let sorted = due.sorted {
      ($0.cost, $0.turns, -($0.position - active).magnitude.signed)
        > ($1.cost, $1.turns, -($1.position - active).magnitude.signed)
    }
    let ahead = network.bytes(inMilliseconds: 2 * network.roundTripMilliseconds)
    var bytes = 0
    for job in sorted {
      let step = max(1, min(tuning.stepBytes, job.bytes))
      wants.append(
        Want(
          position: job.position, amount: .start,
          reason: .expectedWait(
            distance: job.position - active, bytes: job.bytes,
            waitMilliseconds: job.cost / count, chancePercent: job.turns * 100 / count,
            millisecondsPerMegabyte: job.cost / count * 1_000_000 / step,
            price: price * (count - job.turns) / count)))
      bytes += job.bytes
      if bytes > ahead { return }
    }
  }

  // MARK: The active item

  /// Whether what the active item lacks takes longer than the person will stay, in most futures.
  private func isHopeless(_ active: Int, _ costs: HintCosts) -> Bool {
    let (held, needed, _) = start(of: active, costs)
    let done = now + network.milliseconds(max(0, needed - held))
    let gone = (0..<futures.count).reduce(0) { count, future in
      let visit = futures.visits[futures.starts[future]]
      return count + (visit.position == active && visit.at + visit.dwell <= done ? 1 : 0)
    }
    return gone * 2 > futures.count
  }

  /// What of the active item is wanted: what starts it, whatever it costs; of a clip that plays, as much as must
  /// begin to arrive before it stalls; and how long that keeps the link busy.
  private func activeRest(
    _ tuning: WaitTuning, _ active: Int, _ isReady: Bool, _ costs: HintCosts
  ) -> (want: Want?, busyMilliseconds: Int) {
    let all = Want(position: active, amount: .entire, reason: .activeRest(missingBytes: nil))
    guard isReady else {
      return (Want(position: active, amount: .start, reason: .activeStart(missingBytes: 0)), 0)
    }
    guard isClip(active), list[active].media.count == 1 else { return (all, 0) }
    let file = files[list[active].media[0].slot]
    let load = file.file.load
    guard let bytes = load.bytes, let duration = load.durationMilliseconds, duration > 0 else {
      return (all, 0)
    }
    let held = file.held.prefix
    guard held < bytes, load.timing?.isStartable != false else {
      return (held < bytes ? all : nil, 0)
    }
    let played =
      viewer.playedMilliseconds + (viewer.playback == .playing ? now - viewer.playedAt : 0)
    // As far as most of those go who are still there, and by when the link must turn to it.
    let watched = watchedMilliseconds(active)
    var (latest, needed) = (Int.max, held)
    var before = (time: 0, end: 0)
    for (time, end) in load.milestones(duration: duration, bytes: bytes) {
      defer { before = (time, end) }
      guard end > held else { continue }
      if needed == held {
        // Where what is there runs out, between two points.
        let share = UInt(max(0, time - before.time))
          .multipliedFullWidth(by: UInt(max(0, held - before.end)))
        let out =
          before.time + Int(UInt(end - min(before.end, held)).dividingFullWidth(share).quotient)
        latest = out - played
      }
      latest = min(latest, time - played - network.milliseconds(end - held))
      needed = end
      if time >= watched { break }
    }
    guard needed > held else { return (nil, 0) }
    let margin = network.milliseconds(2 * tuning.stepBytes) + 2 * network.roundTripMilliseconds
    guard latest <= margin else { return (nil, network.milliseconds(needed - held)) }
    // In whole chunks: else each byte that arrives would ask for one more.
    let chunk = 4 * tuning.stepBytes
    let end = min(bytes, (held + 2 * tuning.stepBytes) / chunk * chunk + chunk)
    return (
      Want(
        position: active, amount: .bytes(media: 0, 0..<end),
        reason: .activeRest(missingBytes: end - held)), network.milliseconds(needed - held)
    )
  }

  /// How far the active item will have been watched in three of four futures.
  private func watchedMilliseconds(_ active: Int) -> Int {
    let ends = (0..<futures.count).map { future in
      let visit = futures.visits[futures.starts[future]]
      return visit.position == active ? visit.at + visit.dwell : visit.at
    }
    .sorted()
    guard !ends.isEmpty else { return 0 }
    return max(ends[ends.count * 3 / 4], now) - viewer.activeSince
  }

  // MARK: The next page

  /// Whether waiting for the next page would cost more than its bytes are worth: it is among the things to load,
  /// with what its first item needs.
  var isNextPageDue: Bool {
    guard case .expectedWait(let tuning) = policy.strategy else { return false }
    let first = policy.imageBytes
    let work =
      2 * network.roundTripMilliseconds + network.milliseconds(settings.pageBytes + first)
    let step = max(250, network.milliseconds(tuning.stepBytes))
    var (cost, turns) = (0, 0)
    for visit in futures.visits where visit.position == list.end {
      turns += 1
      cost += min(max(0, now + work + step - visit.at), Futures.longestDwellMilliseconds)
    }
    return cost * 1_000_000 > price(tuning) * settings.pageBytes * (futures.count - turns)
  }
}

extension UInt {
  fileprivate var signed: Int { Int(clamping: self) }
}

extension MediaLoad {
  /// By when which bytes are needed: the curve, or where there is none, a straight line.
  func milestones(duration: Int, bytes: Int) -> [(time: Int, end: Int)] {
    guard let curve = timing?.curve, !curve.isEmpty else {
      return (1...8).map { (duration * $0 / 8, bytes / 8 * $0 + ($0 == 8 ? bytes % 8 : 0)) }
    }
    return curve.map { ($0.milliseconds, $0.bytes) } + [
      (max(duration, curve.last!.milliseconds), bytes)
    ]
  }
}
