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
    let isActiveReady = list[active].isReady || start(of: active, costs).isThere
    var wants: [Want] = []
    let rest = activeRest(active, isActiveReady, costs, &wake)
    if let want = rest.want { wants.append(want) }
    guard allowance.bytes > 0 else { return wants }
    let wait = expectedWait(tuning, active, costs, isActiveReady ? rest.busyMilliseconds : 0)
    // While the person waits, the link is theirs and what runs already, unless they will be gone before it helps,
    // or it is nearly there.
    let isUrgent = !isActiveReady && !isHopeless(active, costs) && !isNearlyThere(active, costs)
    let before = wants.count
    add(wait, tuning, active, isUrgent: isUrgent, to: &wants)
    // While something arrives, that is when it is looked at again.
    if wants.count == before, wait.jobs.contains(where: { $0.bytes > 0 }) {
      let idle = wait.slack == Int.max ? Int.max : wait.slack - wait.stepMilliseconds
      wake.at(
        max(
          now + Self.shortestIdleMilliseconds,
          min(now + min(max(idle, 0), Self.longestIdleMilliseconds), futures.goodUntil)), .due)
    }
    return wants
  }

  /// It is looked at again no sooner, and no later, where nothing happens and something is not there.
  private static let shortestIdleMilliseconds = 20
  private static let longestIdleMilliseconds = 500

  /// What waiting costs, over all futures.
  private func expectedWait(
    _ tuning: WaitTuning, _ active: Int, _ costs: HintCosts, _ busyMilliseconds: Int
  ) -> ExpectedWait {
    let window =
      max(list.first, active - tuning.leading)..<min(list.end, active + tuning.leading + 1)
    var jobs: [ExpectedWait.Job] = []
    jobs.reserveCapacity(window.count)
    for position in window { jobs.append(job(position, active, costs)) }
    var wait = ExpectedWait(
      now: now, stepMilliseconds: max(1, network.milliseconds(tuning.stepBytes)), jobs: jobs,
      first: window.lowerBound)
    for future in 0..<futures.count {
      let visits = futures.visits[futures.starts[future]..<futures.starts[future + 1]]
      // A fling begins where it stops: that item's turn comes, too.
      let coming = visits.first?.position == active ? visits.dropFirst() : visits
      wait.add(coming, busy: busyMilliseconds)
    }
    return wait
  }

  /// The price of a megabyte in milliseconds of waiting, as things are: dearer where data or power are.
  private func price(_ tuning: WaitTuning) -> Int {
    var price = tuning.price
    if network.isMetered { price = price * settings.meteredPricePercent / 100 }
    if network.isStressed { price = price * settings.stressPricePercent / 100 }
    if let left = budgetLeftBytes {
      let share = Double(settings.budgetBytes) / Double(max(left, 1))
      price = Int(min(Double(price) * share, 1e9))
    }
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
    guard position != active else {
      return ExpectedWait.Job(position: position, wholeMilliseconds: 0)
    }
    let (held, needed, _) = start(of: position, costs)
    let bytes = max(0, needed - held)
    let whole = network.milliseconds(needed)
    let isLoadable = item.expiresAt.map { $0 > now } ?? true
    guard isLoadable, !item.isReady, bytes > 0 else {
      return ExpectedWait.Job(position: position, wholeMilliseconds: whole)
    }
    let isUnderWay = transfers.contains { transfer in
      !transfer.isPaused && item.media.contains { $0.slot == transfer.slot }
    }
    let head = missingHead(of: item)
    return ExpectedWait.Job(
      position: position, bytes: bytes, milliseconds: network.milliseconds(bytes),
      headBytes: head < bytes ? head : 0,
      headMilliseconds: head < bytes ? network.milliseconds(head) : 0,
      latencyMilliseconds: isUnderWay ? 0 : network.latencyMilliseconds(bytes),
      wholeMilliseconds: whole, isUnderWay: isUnderWay)
  }

  /// How many bytes of an item's first frame are not there; 0 of all that is no single clip.
  private func missingHead(of item: ItemState) -> Int {
    guard item.media.count == 1 else { return 0 }
    let file = files[item.media[0].slot]
    guard let timing = file.file.load.timing, timing.isStartable else { return 0 }
    return timing.headBytes - file.held.count(in: 0..<timing.headBytes)
  }

  /// The items for which a step of waiting costs more than it may save: what runs, then the dearest first. As many
  /// as keep the link busy until it is looked at again; where not all will be in time two at least, for a link
  /// that loses packets gives one connection but a part of it.
  private func add(
    _ wait: ExpectedWait, _ tuning: WaitTuning, _ active: Int, isUrgent: Bool,
    to wants: inout [Want]
  ) {
    let (price, count) = (price(tuning), max(1, futures.count))
    let step = (bytes: tuning.stepBytes, milliseconds: wait.stepMilliseconds)
    var due = wait.jobs.filter { job in
      guard job.bytes > 0, job.turns > 0 else { return false }
      return job.goesOn(of: count)
        || (!isUrgent && job.isDue(price: price, step: step, futures: count))
    }
    // What runs comes first: to turn from one to another and back costs round trips each time.
    func order(_ job: ExpectedWait.Job) -> (Int, Int, Int, Int) {
      (
        job.goesOn(of: count) ? 2 : job.isUnderWay ? 1 : 0, job.cost, job.turns,
        -abs(job.position - active)
      )
    }
    due.sort { order($0) > order($1) }
    let ahead =
      network.bytes(inMilliseconds: 2 * network.roundTripMilliseconds) + tuning.stepBytes
    let least = wait.slack > 0 ? 1 : 2
    var bytes = 0
    for (index, job) in due.enumerated() {
      if index >= least, bytes > ahead { return }
      bytes += job.wantedBytes
      let perMegabyte =
        job.cost / count * 1_000_000 / max(1, min(tuning.stepBytes, job.wantedBytes))
      wants.append(
        Want(
          position: job.position, amount: amount(of: job),
          reason: .expectedWait(
            distance: job.position - active, bytes: job.wantedBytes,
            waitMilliseconds: job.cost / count, chancePercent: job.turns * 100 / count,
            millisecondsPerMegabyte: perMegabyte, price: price * (count - job.turns) / count)))
    }
  }

  private func amount(of job: ExpectedWait.Job) -> Want.Amount {
    guard job.isHeadAlone,
      let timing = files[list[job.position].media[0].slot].file.load.timing
    else { return .start }
    return .bytes(media: 0, 0..<timing.headBytes)
  }

  // MARK: The next page

  /// Whether waiting for the next page would cost more than its bytes are worth: it is among the things to load. As
  /// long as it is not there, nothing of its items is either, so that it is a start of the first of them.
  var isNextPageDue: Bool {
    guard case .expectedWait(let tuning) = policy.strategy else { return false }
    let step = max(250, network.milliseconds(tuning.stepBytes))
    let bytes = settings.pageBytes + policy.imageBytes
    var job = ExpectedWait.Job(
      position: list.end, bytes: settings.pageBytes, milliseconds: network.milliseconds(bytes),
      headBytes: 0, headMilliseconds: 0, latencyMilliseconds: 2 * network.roundTripMilliseconds,
      wholeMilliseconds: 0, isUnderWay: false)
    for future in 0..<futures.count {
      let visits = futures.visits[futures.starts[future]..<futures.starts[future + 1]]
      guard let last = visits.last, last.position == list.end else { continue }
      // How long items are looked at that nobody knows: as those before them.
      let dwell = max(0, last.at - now) / max(1, visits.count - 1)
      job.turns += 1
      job.untilMilliseconds += max(0, last.at - now)
      job.riskMilliseconds += max(0, min(dwell, now + ExpectedWait.outageMilliseconds - last.at))
      job.cost += min(
        max(0, now + job.milliseconds + job.latencyMilliseconds + step - last.at),
        Futures.longestDwellMilliseconds)
    }
    return job.turns > 0
      && job.isDue(
        price: price(tuning), step: (bytes: tuning.stepBytes, milliseconds: step),
        futures: futures.count)
  }
}
