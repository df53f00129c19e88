import Feed

// `PrefetchEngine` takes events and returns actions, each with its reason in numbers and words. It
// holds facts and no plans: the list (`ItemList`), what is held of each file (`FileTable`,
// `ByteRangeSet`), what is under way (`Transfer`), the network, where the person is. Each event
// changes facts (`note`); then the strategy says what it would like, in order (`wants`); that
// becomes ranges of files (`wishes`); and `reconcile` stops what nobody wishes and begins what is
// neither there nor under way, within the limits (`PrefetchSettings`). What must hold of every
// strategy holds in `reconcile` alone, so a strategy is a function from facts to a list and cannot
// break it (`EnginePropertyTests`). The state is bounded and `Codable`.
//
// Ours, `expected-wait`, draws futures (`Futures`: how long items are looked at, where the person
// turns) from random numbers kept in the state, and asks in each what one more step of waiting
// would cost (`ExpectedWait`); that is held against the price of bytes that may turn out not to be
// needed. `docs/engine.md` has the strategies and their numbers.

/// Decides what of a feed is loaded, when and why: events in, actions out.
///
/// Theory of operation. The engine holds facts (the list, what is held of each file, what is under way, the
/// network, the person's position) and no plans. Each event changes facts (`take`); then the strategy says
/// what it would like, in order (`wants`), which becomes ranges of files (`wishes`); and what runs is brought
/// in line with that (`reconcile`): what nobody wishes is stopped, what is wished and neither there nor under
/// way is asked for, as far as the limits reach. All that must hold whatever the strategy, holds there: the
/// active item comes first, nothing is loaded twice, past its end or past its time, and what is loaded ahead
/// keeps within what is allowed.
///
/// It does no I/O and reads no clock; from the same events at the same times follow the same actions. Its
/// state can be encoded, and what is decoded of it goes on as if nothing had been.
public struct PrefetchEngine: Sendable, Equatable, Codable {
  /// The strategy, and what it rests on.
  public let policy: Policy
  /// What bounds the engine.
  public let settings: PrefetchSettings
  /// What it counted.
  public internal(set) var counts = PrefetchCounts()

  var files = FileTable()
  var list = ItemList()
  var transfers: [Transfer] = []
  var lastTransfer = 0
  var network = NetworkState()
  var viewer = ViewerState()
  var pages = PageState()
  var futures = Futures()
  /// The last event's time and number.
  var now = 0
  var eventNumber = 0
  /// What `waitUntil` named last.
  var timer: Int?
  /// No eviction before so many bytes are held: the last one could not reach its aim.
  var evictionBytes = 0

  /// The latest time that events have; later ones are taken for it.
  public static let lastMilliseconds = 1 << 52

  /// An engine that knows nothing yet.
  ///
  /// - Precondition: `settings.problem` is nil.
  public init(policy: Policy, settings: PrefetchSettings = PrefetchSettings()) {
    precondition(settings.problem == nil, "a setting is outside of its range")
    self.policy = policy
    self.settings = settings
    network.measure(settings, quantilePercent: policy.strategy.quantilePercent)
    futures.begin(seed: settings.seed, itemsPerMinute: policy.itemsPerMinute)
  }

  /// An engine of this strategy, with the articles' values for what items cost.
  ///
  /// - Precondition: `settings.problem` is nil.
  public init(strategy: Policy.Strategy, settings: PrefetchSettings = PrefetchSettings()) {
    self.init(policy: Policy(name: strategy.name, strategy: strategy), settings: settings)
  }

  /// What is to be done about an event.
  ///
  /// - Parameter milliseconds: the time, on any clock that does not go back; a time before the last event's
  ///   is taken for that.
  /// - Returns: what to do, in this order.
  public mutating func handle(
    _ event: PrefetchEvent, atMilliseconds milliseconds: Int
  ) -> [PrefetchAction] {
    var actions: [PrefetchAction] = []
    take(event, atMilliseconds: milliseconds, &actions)
    plan(&actions)
    return actions
  }

  /// Takes in an event's facts, without acting on them.
  mutating func take(
    _ event: PrefetchEvent, atMilliseconds milliseconds: Int, _ actions: inout [PrefetchAction]
  ) {
    now = max(now, min(milliseconds, Self.lastMilliseconds))
    eventNumber += 1
    note(event, &actions)
  }

  /// Brings what runs in line with the facts.
  mutating func plan(_ actions: inout [PrefetchAction]) {
    var wake = Wake()
    let wishes = wishes(&actions, &wake)
    reconcile(wishes, &actions, &wake)
    askForPages(&actions, &wake)
    show(&actions, &wake)
    makeRoom(&actions)
    if let (time, reason) = wake.next, time != timer {
      timer = time
      actions.append(PrefetchAction(.waitUntil(milliseconds: time), reason))
    }
  }

  /// The item that the person looks at.
  public var activeItem: String? { viewer.active.map { list[$0].id } }

  /// Whether the person scrolls up.
  public var isGoingUp: Bool { viewer.direction < 0 }

  /// The ids of the list's ends: a page below is the one below the last of its items.
  public var ends: (first: String, last: String)? {
    list.items.isEmpty ? nil : (list[list.first].id, list[list.end - 1].id)
  }

  /// How many items the list has.
  public var itemCount: Int { list.count }

  /// How many bytes of all files are held.
  public var heldBytes: Int { files.heldBytes }

  /// How many bytes are held or under way for items that nobody has looked at, nor passed.
  public var speculativeBytes: Int {
    transfers.reduce(files.speculativeBytes) {
      $0 + (isActive($1.slot) ? 0 : $1.bytesUnderWay)
    }
  }

  /// What of the session's budget is left; `nil` where there is none.
  var budgetLeftBytes: Int? {
    settings.budgetBytes == 0 ? nil : max(0, settings.budgetBytes - counts.fetchedBytes)
  }

  /// How many bytes may be held and under way ahead of the person, and what restrains them.
  var allowance: (bytes: Int, restraint: PrefetchReason.Restraint?) {
    let allowance = network.allowance(settings)
    guard let left = budgetLeftBytes else { return allowance }
    let active = transfers.reduce(0) { $0 + (isActive($1.slot) ? $1.bytesUnderWay : 0) }
    let bytes = files.speculativeBytes + max(0, left - active)
    return bytes < allowance.bytes ? (bytes, .budget) : allowance
  }

  /// The file that is loaded of one of an item's media: the variant that was chosen.
  public func chosenFile(of item: String, media: Int = 0) -> PrefetchFile? {
    guard let position = list.position(of: item), list[position].media.indices.contains(media)
    else { return nil }
    return files[list[position].media[media].slot].file
  }

  /// What is held of a file.
  public func held(_ key: String) -> [Range<Int>] {
    files.slot(of: key).map { files[$0].held.ranges } ?? []
  }

  /// Whether what starts the item is there.
  public func isReady(_ item: String) -> Bool {
    list.position(of: item).map { list[$0].isReady || start(of: $0, costs).isThere } ?? false
  }
}

/// When the engine wants to be asked again, and why: the soonest of what was said.
struct Wake {
  private(set) var next: (time: Int, reason: PrefetchReason)?

  mutating func at(_ time: Int, _ reason: PrefetchReason) {
    if let next, next.time <= time { return }
    next = (time, reason)
  }
}

/// What is forgotten, and only where a limit or the system asks for it.
extension PrefetchEngine {
  mutating func makeRoom(_ actions: inout [PrefetchAction]) {
    guard files.heldBytes > max(settings.heldBytes, evictionBytes) else { return }
    evict(
      toBytes: settings.heldBytes - settings.heldBytes / 8,
      .full(heldBytes: files.heldBytes, limitBytes: settings.heldBytes), &actions)
    // Where all that is left must stay, the next look waits for so much more.
    let rest = files.heldBytes
    evictionBytes = rest > settings.heldBytes ? rest + settings.heldBytes / 16 + 1 : 0
  }

  /// Evicts whole files, farthest from the person first, until no more than that is held: never of the active
  /// item, and never what a transfer adds to.
  mutating func evict(
    toBytes aim: Int, _ reason: PrefetchReason, _ actions: inout [PrefetchAction]
  ) {
    guard files.heldBytes > aim else { return }
    let distances = distances()
    var candidates = files.slots.indices.filter { slot in
      files[slot].held.count > 0 && distances[slot] != 0
        && !transfers.contains { $0.slot == slot }
    }
    candidates.sort {
      (distances[$0], -files[$0].touched, $0) > (distances[$1], -files[$1].touched, $1)
    }
    for slot in candidates where files.heldBytes > aim { forget(slot, reason, &actions) }
  }

  /// How far the nearest item of each file is from the active one. What is behind counts twice as far, and what
  /// has left the list is farthest.
  private func distances() -> [Int] {
    var distances = [Int](repeating: Int.max, count: files.slots.count)
    guard let active = viewer.active else { return distances }
    for position in list.positions {
      let ahead = (position - active) * viewer.direction
      let distance = ahead < 0 ? -2 * ahead : ahead
      for media in list[position].media {
        for slot in media.slots { distances[slot] = min(distances[slot], distance) }
      }
    }
    return distances
  }

  /// Has the client forget all that it has of a file.
  mutating func forget(
    _ slot: Int, _ reason: PrefetchReason, _ actions: inout [PrefetchAction]
  ) {
    let held = files[slot].held
    guard held.count > 0 else { return }
    for range in held.ranges {
      actions.append(PrefetchAction(.evict(key: files[slot].file.key, range), reason))
    }
    counts.evictedBytes += held.count
    files.drop(0..<Int.max, of: slot)
    guard files[slot].references > 0 else { return }
    // Its items have to be made ready anew.
    for position in list.positions
    where list[position].media.contains(where: { $0.slots.contains(slot) }) {
      list[position].isReady = false
      list[position].decodesFrom = nil
    }
  }

  /// Forgets files that no item of the list has, those longest out of use first, where there are too many.
  mutating func limitLooseFiles(_ actions: inout [PrefetchAction]) {
    guard files.looseFiles > settings.heldFiles else { return }
    let reason = PrefetchReason.files(files.looseFiles, limit: settings.heldFiles)
    let loose = files.slots.indices.filter { slot in
      !files[slot].isFree && files[slot].references == 0
        && !transfers.contains { $0.slot == slot }
    }
    let excess = files.looseFiles - (settings.heldFiles - settings.heldFiles / 8)
    for slot in loose.sorted(by: { (files[$0].touched, $0) < (files[$1].touched, $1) }).prefix(
      excess)
    {
      forget(slot, reason, &actions)
      files.forget(slot)
    }
  }
}

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

/// What of the active item is on the screen: a placeholder until its bytes are there and its decoder has had
/// its time.
extension PrefetchEngine {
  mutating func show(_ actions: inout [PrefetchAction], _ wake: inout Wake) {
    guard let active = viewer.active else { return }
    let costs = costs
    noteReadiness(active, costs, &actions)
    for distance in decodedDistances where list.positions.contains(active + distance) {
      let position = active + distance
      noteReadiness(position, costs, &actions)
      if list[position].isReady, list[position].decodesFrom == nil {
        list[position].decodesFrom = now
      }
    }
    guard viewer.showing != .frame else { return }
    if !list[active].isReady, viewer.showing == .nothing {
      let (held, needed, _) = start(of: active, costs)
      countLoader(active)
      return placeholder(active, .bytes(held: held, needed: needed), &actions)
    }
    guard list[active].isReady, let decodesFrom = list[active].decodesFrom else { return }
    let decoding = isClip(active) ? settings.decoderStartMilliseconds : 0
    if now >= decodesFrom + decoding {
      viewer.showing = .frame
      actions.append(
        PrefetchAction(.showFrame(item: list[active].id), .decoded(milliseconds: decoding)))
    } else {
      if viewer.showing == .nothing {
        placeholder(active, .decoded(milliseconds: now - decodesFrom), &actions)
      }
      wake.at(decodesFrom + decoding, .decoding)
    }
  }

  private mutating func placeholder(
    _ position: Int, _ reason: PrefetchReason, _ actions: inout [PrefetchAction]
  ) {
    viewer.showing = .placeholder
    actions.append(PrefetchAction(.showPlaceholder(item: list[position].id), reason))
  }

  /// Which items are decoded: the active one, and those that are about to be.
  private var decodedDistances: ClosedRange<Int> {
    var ahead = settings.decodedAheadItems
    if case .rangeController(let tuning) = policy.strategy {
      ahead = items(of: tuning.reaches(in: rangeMode).display.leading)
    }
    return viewer.direction > 0 ? 0...ahead : -ahead...0
  }

  private mutating func countLoader(_ position: Int) {
    guard !list[position].media.isEmpty else { return }
    if isClip(position) { counts.videoLoaders += 1 } else { counts.imageLoaders += 1 }
  }
}
