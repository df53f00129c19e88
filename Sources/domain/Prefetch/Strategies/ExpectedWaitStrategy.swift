/// The parameters of `expected-wait`: the price, and the trade-offs between few waits and few bytes.
public struct WaitTuning: Hashable, Sendable, Codable {
  /// The expected waiting that a megabyte (1 000 000 bytes) must save, in milliseconds: the one number that a
  /// product decides.
  public var price: Int
  /// The share of measured bandwidths below the one that the strategy relies on, in percent.
  public var quantilePercent: Int
  /// The number of bytes of a step, the unit of decision.
  public var stepBytes: Int
  /// The number of futures to draw.
  public var futures: Int
  /// The number of items to look ahead; more if the link takes long for them.
  public var leading: Int
  /// The additional waiting, over the next ten items together, that files of twice the bytes are worth.
  public var qualityMilliseconds: Int

  /// Creates a tuning of these numbers.
  public init(
    price: Int = 250, quantilePercent: Int = 25, stepBytes: Int = 65_536, futures: Int = 24,
    leading: Int = 12, qualityMilliseconds: Int = 200
  ) {
    self.price = price
    self.quantilePercent = quantilePercent
    self.stepBytes = stepBytes
    self.futures = futures
    self.leading = leading
    self.qualityMilliseconds = qualityMilliseconds
  }
}

/// The project's own strategy: it weighs the expected waiting that a byte avoids against one price.
///
/// Theory of operation. The strategy draws futures when the person has moved. In each, every item has a time
/// at which its turn comes, which gives, at a low quantile of the bandwidth, the time at which the link must
/// turn to it. The cost of waiting one more step over the futures (`ExpectedWait`) is compared with what the
/// wait may save: the step's bytes at the price, if their item's turn does not come. If waiting costs more,
/// the item is loaded. If nothing is due, nothing is loaded, and the engine asks to be woken when something
/// may be.
struct ExpectedWaitStrategy: PrefetchStrategy {
  static let name = "expected-wait"
  static let parameterList = [
    Parameter("price", 0...1_000_000, \.tuning.price),
    Parameter("quantilePercent", 0...100, \.tuning.quantilePercent),
    Parameter("stepBytes", 1_024...16_777_216, \.tuning.stepBytes),
    Parameter("futures", 1...64, \.tuning.futures),
    Parameter("leading", 0...32, \.tuning.leading),
    Parameter("qualityMilliseconds", 0...60_000, \.tuning.qualityMilliseconds),
  ]

  var tuning = WaitTuning()
  var futures = Futures()

  var leading: Int { tuning.leading }
  var quantilePercent: Int { tuning.quantilePercent }
  var limitsStarts: Bool { true }
  var plansWhatComesInTime: Bool { true }
  var followsFlings: Bool { true }
  var decidesWithEachPiece: Bool { true }
  var stopping: StoppingRule {
    StoppingRule(pauses: true, finishesWithinRoundTrip: true, yieldsToActive: true)
  }

  mutating func begin(_ facts: EngineFacts) { futures.begin(seed: facts.settings.seed) }

  mutating func chooseVariants(_ facts: EngineFacts, active: Int) -> VariantLevel? {
    drawFutures(facts, active)
    return bestVariants(facts, active)
  }

  /// Whether the person is on the way to where a fling stops, where the futures begin.
  func passesActive(_ facts: EngineFacts) -> Bool {
    guard facts.viewer.isFlung(facts.settings), let active = facts.viewer.active,
      let stop = facts.viewer.stopDistance
    else { return false }
    return stop != 0 && facts.list.positions.contains(active + stop)
  }

  /// The position of the person, or where a fling that passes the active item stops: the items to load ahead
  /// are around it.
  func origin(_ facts: EngineFacts, _ active: Int) -> Int {
    passesActive(facts) ? active + (facts.viewer.stopDistance ?? 0) : active
  }

  /// The wants of now, by the cost of a step of waiting.
  func wants(_ facts: EngineFacts, active: Int, _ wake: inout Wake) -> [Want] {
    if loadsPieces(facts, active) { return pieceWants(facts, active, &wake) }
    let costs = facts.costs
    var wants: [Want] = []
    let isPassed = passesActive(facts)
    let isActiveReady =
      isPassed || facts.list[active].isReady || facts.start(of: active, costs).isThere
    let rest =
      isPassed ? ActiveRest() : activeRest(facts, active, isActiveReady, costs, &wake)
    if let want = rest.want { wants.append(want) }
    guard facts.allowance.bytes > 0 else { return wants }
    let wait = expectedWait(
      facts, active, costs, busyMilliseconds: isActiveReady ? rest.busyMilliseconds : 0)
    // While the person waits, the link serves only them and what is already running, unless they will be gone
    // before that helps, or the item is nearly there. They wait for a first frame, or for a clip that stalls
    // or is about to. If a transfer gets only a part of the link in any case, others continue beside it.
    let isUrgent =
      !facts.network.gainsByParallelTransfers
      && (isActiveReady
        ? rest.isShort
        : !isHopeless(facts, active, costs) && !isNearlyThere(facts, active, costs))
    wants += dueWants(wait, facts, active, isUrgent: isUrgent, &wake)
    if wants.isEmpty, let (reserve, milliseconds) = rest.reserve, milliseconds < wait.slack {
      wants.append(reserve)
    }
    return wants
  }

  /// The minimum and maximum time until the next decision, if nothing happens and bytes are missing.
  static let shortestIdleMilliseconds = 20
  private static let longestIdleMilliseconds = 500

  /// The wants of all but the active item. If nothing is due, sets the timer for when something may be.
  func dueWants(
    _ wait: ExpectedWait, _ facts: EngineFacts, _ active: Int, isUrgent: Bool, _ wake: inout Wake
  ) -> [Want] {
    let wants = due(wait, facts, active, isUrgent: isUrgent)
    // While bytes arrive, they trigger the next decision.
    if wants.isEmpty, wait.jobs.contains(where: { $0.bytes > 0 }) {
      let idle = wait.slack == Int.max ? Int.max : wait.slack - wait.stepMilliseconds
      wake.at(
        max(
          facts.now + Self.shortestIdleMilliseconds,
          min(facts.now + min(max(idle, 0), Self.longestIdleMilliseconds), futures.goodUntil)), .due
      )
    }
    return wants
  }

  /// The cost of waiting, over all futures.
  ///
  /// - Parameter isLeftOut: whether nothing is wanted of the item at a position, whatever it lacks.
  func expectedWait(
    _ facts: EngineFacts, _ active: Int, _ costs: HintCosts, busyMilliseconds: Int,
    without isLeftOut: (_ position: Int) -> Bool = { _ in false }
  ) -> ExpectedWait {
    // In a fling, look no farther than from where it began, except at the items next to where it stops: more
    // is known there.
    let origin = origin(facts, active)
    let passed = abs(origin - active)
    let reach = max(tuning.leading / 3, tuning.leading - passed)
    let near =
      max(facts.list.first, origin - reach)..<min(facts.list.end, origin + reach + 1)
    var jobs: [ExpectedWait.Job] = []
    jobs.reserveCapacity(Self.farthestItems + tuning.leading + 1)
    for position in near { jobs.append(job(facts, position, active, costs)) }
    // Look farther in the direction of the scroll.
    let ahead = facts.viewer.direction < 0 ? near.lowerBound..<origin : origin + 1..<near.upperBound
    let far = max(
      reach,
      leadingItems(
        milliseconds: jobs[ahead.lowerBound - near.lowerBound..<ahead.upperBound - near.lowerBound]
          .reduce(0) { $0 + $1.wholeMilliseconds }, of: ahead.count) - passed)
    var first = near.lowerBound
    if facts.viewer.direction < 0 {
      first = min(first, max(facts.list.first, origin - far))
      jobs.insert(
        contentsOf: (first..<near.lowerBound).map { job(facts, $0, active, costs) }, at: 0)
    } else {
      let end = max(near.upperBound, min(facts.list.end, origin + far + 1))
      for position in near.upperBound..<end { jobs.append(job(facts, position, active, costs)) }
    }
    for (index, job) in jobs.enumerated() where job.bytes > 0 && isLeftOut(job.position) {
      jobs[index] = ExpectedWait.Job(
        position: job.position, wholeMilliseconds: job.wholeMilliseconds)
    }
    var wait = ExpectedWait(
      now: facts.now, stepMilliseconds: max(1, facts.network.milliseconds(tuning.stepBytes)),
      jobs: jobs, first: first)
    for future in 0..<futures.count {
      let visits = futures.visits[futures.starts[future]..<futures.starts[future + 1]]
      // In a fling the futures begin where it stops: the turn of that item comes, too.
      let coming = visits.first?.position == active ? visits.dropFirst() : visits
      wait.add(coming, busy: busyMilliseconds)
    }
    return wait
  }

  /// The number of items to look ahead: the longer the link takes for one, the more, since large files must
  /// begin long before their turn, and after a fling many are missing at once.
  ///
  /// - Parameter milliseconds: the link's time for the starts of the next `count` items.
  private func leadingItems(milliseconds: Int, of count: Int) -> Int {
    guard count > 0 else { return tuning.leading }
    let items = tuning.leading * (milliseconds / count) / Self.usualItemMilliseconds
    return max(tuning.leading, min(items, Self.farthestItems))
  }

  /// The same for the present items ahead of the person, or of where a fling stops.
  func leadingItems(_ facts: EngineFacts, _ active: Int) -> Int {
    let costs = facts.costs
    let origin = origin(facts, active)
    let ahead =
      facts.viewer.direction < 0
      ? max(facts.list.first, origin - tuning.leading)..<origin
      : origin + 1..<min(facts.list.end, origin + tuning.leading + 1)
    let milliseconds = ahead.reduce(0) {
      $0 + facts.network.milliseconds(facts.ahead(of: $1, costs).needed)
    }
    return leadingItems(milliseconds: milliseconds, of: ahead.count)
  }

  /// The link's time for an item up to which the strategy looks `leading` items ahead, and the maximum number
  /// beyond it.
  private static let usualItemMilliseconds = 200
  static let farthestItems = 32

  /// The price of a megabyte in milliseconds of waiting, in the present state: higher when data or power is
  /// scarce.
  func price(_ facts: EngineFacts) -> Int {
    var price = tuning.price
    if facts.network.isMetered { price = price * facts.settings.meteredPricePercent / 100 }
    if facts.network.isStressed { price = price * facts.settings.stressPricePercent / 100 }
    if let left = facts.budgetLeftBytes {
      let share = Double(facts.settings.budgetBytes) / Double(max(left, 1))
      price = Int(min(Double(price) * share, 1e9))
    }
    // Beyond this, nothing is loaded ahead that may not be needed; and products stay exact.
    return min(price, 1_000_000_000)
  }

  private mutating func drawFutures(_ facts: EngineFacts, _ active: Int) {
    guard !futures.areDrawn(of: facts.viewer, at: facts.now) else { return }
    let elapsed = min(facts.now - facts.viewer.activeSince, ViewingHistory.longestDwellMilliseconds)
    var start = (position: active, at: facts.now, elapsed: elapsed)
    let loadsPieces = loadsPieces(facts, active)
    let isOneTransfer = facts.settings.parallelTransfers == 1
    // A person who waits for a clip, or whose clip stalls, watches as much of it afterwards.
    if loadsPieces { start.elapsed = min(elapsed, facts.playedMilliseconds) }
    if facts.viewer.isFlung(facts.settings), let stop = facts.viewer.stopDistance,
      facts.list.positions.contains(active + stop)
    {
      let milliseconds =
        Int(stop.magnitude) * 1_000_000 / Int(facts.viewer.milliitemsPerSecond.magnitude)
      start = (active + stop, facts.now + milliseconds, 0)
    }
    futures.draw(
      loadsPieces ? max(tuning.futures, Self.pieceFutures) : tuning.futures, of: facts.viewer,
      from: start,
      steps: loadsPieces && isOneTransfer ? tuning.leading : leadingItems(facts, active),
      in: facts.list.positions, isClip: { facts.isClip($0) }, survival: { facts.list[$0].survival })
  }

  private func job(
    _ facts: EngineFacts, _ position: Int, _ active: Int, _ costs: HintCosts
  ) -> ExpectedWait.Job {
    guard position != active else {
      return ExpectedWait.Job(position: position, wholeMilliseconds: 0)
    }
    let (held, needed) = facts.ahead(of: position, costs)
    let bytes = max(0, needed - held)
    let whole = facts.network.milliseconds(needed)
    let isLoadable = facts.list[position].expiresAt.map { $0 > facts.now } ?? true
    guard isLoadable, bytes > 0 else {
      return ExpectedWait.Job(position: position, wholeMilliseconds: whole)
    }
    let item = facts.list[position]
    let isUnderWay = facts.transfers.contains { transfer in
      !transfer.isPaused && item.media.contains { $0.slot == transfer.slot }
    }
    let head = missingHead(of: item, facts)
    let isClip = facts.isClip(position)
    // A decoder that gets the clip this long before its turn has its first frame by then.
    let decoding = isClip ? facts.settings.decoderStartMilliseconds : 0
    var job = ExpectedWait.Job(
      position: position, bytes: bytes, milliseconds: facts.network.milliseconds(bytes),
      headBytes: head < bytes ? head : 0,
      headMilliseconds: head < bytes ? facts.network.milliseconds(head) : 0,
      latencyMilliseconds: decoding
        + (isUnderWay ? 0 : facts.network.latencyMilliseconds(bytes)),
      wholeMilliseconds: whole, isUnderWay: isUnderWay)
    if isUnderWay {
      job.inFlightBytes = facts.network.bytes(inMilliseconds: facts.network.roundTripMilliseconds)
      job.resumeMilliseconds = decoding + facts.network.latencyMilliseconds(bytes)
    }
    job.isClip = isClip
    return job
  }

  /// The number of bytes that an item's first frame lacks; 0 unless the item is a single clip.
  private func missingHead(of item: ItemState, _ facts: EngineFacts) -> Int {
    guard item.media.count == 1 else { return 0 }
    let file = facts.files[item.media[0].slot]
    guard let timing = file.file.load.timing else { return 0 }
    guard !timing.isStartable else {
      let head = facts.corrected(timing.headBytes, of: file.file.load)
      return head - file.there.count(in: 0..<head)
    }
    return timing.neededRanges.reduce(0) { $0 + $1.count - file.there.count(in: $1) }
  }

  /// The link's time of a running transfer up to which smaller ones wait for its end.
  private static let longRunMilliseconds = 1_000

  /// The items for which a step of waiting costs more than it may save: running ones first, then by falling
  /// cost. There are as many as keep the link busy until the next decision; if not all will be in time, at
  /// least two, and as many as may run if each transfer adds bandwidth. An item that is smaller than all
  /// running ones, and worth more per byte, begins beside them rather than wait for the end of a large file.
  private func due(_ wait: ExpectedWait, _ facts: EngineFacts, _ active: Int, isUrgent: Bool)
    -> [Want]
  {
    var wants: [Want] = []
    let (price, count) = (price(facts), max(1, futures.count))
    let step = (bytes: tuning.stepBytes, milliseconds: wait.stepMilliseconds)
    var due: [(job: ExpectedWait.Job, reason: PrefetchReason, worth: Double)] = []
    for var job in wait.jobs where job.bytes > 0 && job.turns > 0 {
      // If something may be late, first frames come first.
      job.isHeadFirst = wait.slack <= 0
      let (distance, bytes) = (job.position - active, job.wantedBytes)
      let balance = job.balance(
        price: price, step: step, outageEveryMilliseconds: facts.network.outageEveryMilliseconds,
        congestion: wait.congestion, futures: count)
      if !isUrgent, balance.isDue {
        due.append(
          (
            job,
            .expectedWait(
              distance: distance, bytes: bytes, waitMilliseconds: Int(balance.waitMilliseconds),
              chancePercent: job.turns * 100 / count,
              // Both are rounded down, so that a worth no less than the price is printed as no less.
              millisecondsPerMegabyte: Int(min(balance.worth, 1e15)), price: Int(balance.price)),
            balance.worth
          ))
      } else if job.goesOn(of: count) {
        due.append((job, .underWay(distance: distance, bytes: bytes), balance.worth))
      }
    }
    // Running transfers come first: to switch from one to another and back costs round trips each time. Then
    // the costliest, and of those the nearest ahead of the person, or of where a fling stops.
    let origin = futures.visits.first?.position ?? active
    func order(_ job: ExpectedWait.Job) -> (Int, Int, Int, Int, Int) {
      let distance = (job.position - origin) * facts.viewer.direction
      return (
        job.goesOn(of: count) ? 2 : job.isUnderWay ? 1 : 0, job.isRest ? 0 : 1, job.cost,
        distance >= 0 ? 1 : 0, -abs(distance)
      )
    }
    due.sort { order($0.job) > order($1.job) }
    let ahead =
      facts.network.bytes(inMilliseconds: 2 * facts.network.roundTripMilliseconds)
      + tuning.stepBytes
    let least =
      wait.slack > 0
      ? 1 : facts.network.gainsByParallelTransfers ? facts.settings.parallelTransfers : 2
    var bytes = 0
    let running = due.filter(\.job.isUnderWay)
    for (index, (job, reason, worth)) in due.enumerated() {
      if index >= least, bytes > ahead {
        guard !job.isUnderWay, !running.isEmpty else { return wants }
        let isBeside =
          job.wantedBytes < ahead
          && running.allSatisfy {
            $0.worth < worth && $0.job.wantedBytes > job.wantedBytes
              && $0.job.milliseconds > Self.longRunMilliseconds
          }
        guard isBeside else { continue }
      }
      bytes += job.wantedBytes
      wants.append(
        Want(position: job.position, amount: job.isHeadAlone ? .head : .start, reason: reason))
    }
    return wants
  }

  // MARK: The next page

  /// The reason for requesting the next page, if waiting for it would cost more than its bytes are worth. The
  /// page is one of the things to load. Until it arrives, nothing of its items is held either, so that it
  /// counts as a start of the first of them.
  func reasonForNextPage(_ facts: EngineFacts, active: Int) -> PrefetchReason? {
    let step = max(250, facts.network.milliseconds(tuning.stepBytes))
    let bytes = facts.settings.pageBytes + facts.policy.imageBytes
    var job = ExpectedWait.Job(
      position: facts.list.end, bytes: facts.settings.pageBytes,
      milliseconds: facts.network.milliseconds(bytes),
      headBytes: 0, headMilliseconds: 0,
      latencyMilliseconds: 2 * facts.network.roundTripMilliseconds,
      wholeMilliseconds: 0, isUnderWay: false)
    for future in 0..<futures.count {
      let visits = futures.visits[futures.starts[future]..<futures.starts[future + 1]]
      guard let last = visits.last, last.position == facts.list.end else { continue }
      // Unknown items are assumed to be looked at for as long as those before them.
      let dwell = max(0, last.at - facts.now) / max(1, visits.count - 1)
      job.turns += 1
      job.untilMilliseconds += max(0, last.at - facts.now)
      job.riskMilliseconds += max(
        0, min(dwell, facts.now + NetworkState.outageMilliseconds - last.at))
      job.cost += min(
        max(0, facts.now + job.milliseconds + job.latencyMilliseconds + step - last.at),
        ViewingHistory.longestDwellMilliseconds)
    }
    let isDue =
      job.turns > 0
      && job.balance(
        price: price(facts), step: (bytes: tuning.stepBytes, milliseconds: step),
        outageEveryMilliseconds: facts.network.outageEveryMilliseconds, futures: futures.count
      ).isDue
    return isDue ? .itemsLeft(facts.list.end - 1 - active) : nil
  }
}

extension Policy.Strategy {
  /// The project's own strategy: loads the step that avoids the most expected waiting per byte, while that is
  /// worth the price.
  public static func expectedWait(_ tuning: WaitTuning) -> Self {
    Self(ExpectedWaitStrategy(tuning: tuning))
  }
}
