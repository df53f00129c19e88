import Feed

/// Decides which bytes of a feed to load, when and why: takes events and returns actions, each with its
/// reason in numbers and words.
///
/// Theory of operation. The engine has three parts, and keeps no plans:
///
/// - *Facts* (`EngineFacts`): the list, the held bytes of each file, the transfers, the network, and where
///   the person is. Only events change them.
/// - The *strategy* (`PrefetchStrategy`) reads the facts and lists what it wants, in order (`Want`), which
///   the engine turns into ranges of files (`Wish`). It has parameters and a memory of its own, and cannot
///   change a fact.
/// - The *reconciler* (`Reconciler`) brings the transfers in line with the wishes: it stops transfers that no
///   wish covers, and begins those of bytes that are neither held nor in transfer, within the limits
///   (`PrefetchSettings`). It alone enforces what holds of every strategy (`EnginePropertyTests`).
///
/// The project's own strategy, `expected-wait`, draws futures (`Futures`: how long the person looks at items,
/// where they turn) from random numbers whose state it keeps in its memory. In each future it computes what
/// one more step of waiting would cost (`ExpectedWait`), and compares that with the price of bytes that may
/// not be needed. `docs/engine.md` describes the strategies and their numbers.
///
/// The engine does no I/O and reads no clock: the same events at the same times give the same actions. Its
/// state is bounded and `Codable`, and continues unchanged after decoding.
public struct PrefetchEngine: Sendable {
  var facts: EngineFacts
  /// The policy's strategy, with its memory.
  private var strategy: any PrefetchStrategy
  private let reconciler: Reconciler
  /// The time of the last `waitUntil`.
  private var timer: Int?

  /// The latest time of an event; later times are replaced by it.
  public static let lastMilliseconds = EngineFacts.lastMilliseconds
  /// The greatest id of a client's own transfers.
  public static let greatestTransfer = EngineFacts.greatestTransfer

  /// Creates an engine that knows nothing yet.
  ///
  /// - Precondition: `settings.problem` is nil.
  public init(policy: Policy, settings: PrefetchSettings = PrefetchSettings()) {
    precondition(settings.problem == nil, "a setting is outside of its range")
    facts = EngineFacts(policy: policy, settings: settings)
    strategy = policy.strategy.kind
    reconciler = Reconciler(policy)
    strategy.begin(facts)
  }

  /// Creates an engine with this strategy, and the articles' values for the costs of items.
  ///
  /// - Precondition: `settings.problem` is nil.
  public init(strategy: Policy.Strategy, settings: PrefetchSettings = PrefetchSettings()) {
    self.init(policy: Policy(name: strategy.name, strategy: strategy), settings: settings)
  }

  /// Returns the actions for an event.
  ///
  /// - Parameter milliseconds: the time, on any clock that does not go back; a time before the last event's
  ///   is replaced by that.
  /// - Returns: the actions, in the order in which to carry them out.
  public mutating func handle(
    _ event: PrefetchEvent, atMilliseconds milliseconds: Int
  ) -> [PrefetchAction] {
    var actions: [PrefetchAction] = []
    if case .timerFired = event { timer = nil }
    facts.take(event, atMilliseconds: milliseconds, &actions)
    plan(&actions)
    return actions
  }

  /// Decides by the facts: transfers, pages, what the active item shows, evictions and the timer.
  mutating func plan(_ actions: inout [PrefetchAction]) {
    var wake = Wake()
    var wants: [Want] = []
    if let active = facts.viewer.active {
      if let choice = strategy.chooseVariants(facts, active: active) { facts.choose(choice) }
      wants = strategy.wants(facts, active: active, &wake)
    }
    let wishes = facts.wishes(for: wants, &actions, &wake)
    reconciler.reconcile(wishes, &facts, &actions, &wake)
    askForPages(&actions, &wake)
    show(&actions, &wake)
    facts.makeRoom(&actions)
    if let (time, reason) = wake.next, time != timer {
      timer = time
      actions.append(PrefetchAction(.waitUntil(milliseconds: time), reason))
    }
  }

  /// The policy: the strategy, and the costs of items.
  public var policy: Policy { facts.policy }
  /// The engine's limits and assumptions.
  public var settings: PrefetchSettings { facts.settings }
  /// The engine's counts.
  public var counts: PrefetchCounts { facts.counts }

  /// The item that the person looks at.
  public var activeItem: String? { facts.viewer.active.map { facts.list[$0].id } }

  /// Whether the person is passing the active item, in a fling that stops elsewhere, so that nothing of it is
  /// loaded.
  package var passesActive: Bool { strategy.passesActive(facts) }

  /// Whether the person scrolls up.
  public var isGoingUp: Bool { facts.viewer.direction < 0 }

  /// The ids of the list's first and last items: a page below is the one below the last.
  public var ends: (first: String, last: String)? {
    facts.list.items.isEmpty
      ? nil : (facts.list[facts.list.first].id, facts.list[facts.list.end - 1].id)
  }

  /// The number of items in the list.
  public var itemCount: Int { facts.list.count }

  /// The number of held bytes of all files.
  public var heldBytes: Int { facts.files.heldBytes }

  /// The number of bytes held or in transfer for items that the person has neither looked at nor passed.
  public var speculativeBytes: Int { facts.speculativeBytes }

  /// The file that is loaded of one of an item's media: the chosen variant.
  public func chosenFile(of item: String, media: Int = 0) -> PrefetchFile? {
    guard let position = facts.list.position(of: item),
      facts.list[position].media.indices.contains(media)
    else { return nil }
    return facts.files[facts.list[position].media[media].slot].file
  }

  /// The held ranges of a file.
  public func held(_ key: String) -> [Range<Int>] {
    facts.files.slot(of: key).map { facts.files[$0].held.ranges } ?? []
  }

  /// The number of held bytes, and of all bytes, that start the loaded file of an item's first media; `nil`
  /// if the item is unknown or has no file.
  public func start(of item: String) -> (heldBytes: Int, neededBytes: Int)? {
    guard let position = facts.list.position(of: item), let media = facts.list[position].media.first
    else { return nil }
    let file = facts.files[media.slot]
    let cost = facts.startCost(of: file.file.load, at: position, facts.costs)
    let held =
      cost.pieces.isEmpty
      ? file.there.count(in: 0..<cost.minimumBytes)
      : cost.pieces.reduce(0) { $0 + file.there.count(in: $1) }
    return (held, cost.minimumBytes)
  }

  /// Whether the bytes that start the item are held.
  public func isReady(_ item: String) -> Bool {
    facts.list.position(of: item).map {
      facts.list[$0].isReady || facts.start(of: $0, facts.costs).isThere
    } ?? false
  }
}

/// The time at which the engine wants to be asked again, and why: the earliest of those given.
struct Wake {
  private(set) var next: (time: Int, reason: PrefetchReason)?

  mutating func at(_ time: Int, _ reason: PrefetchReason) {
    if let next, next.time <= time { return }
    next = (time, reason)
  }
}

/// Encodes the facts and the strategy's memory; a decoded engine continues unchanged.
extension PrefetchEngine: Codable {
  private enum CodingKeys: CodingKey {
    case facts, strategy, timer
  }

  /// Decodes an engine that `encode(to:)` wrote.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    facts = try values.decode(EngineFacts.self, forKey: .facts)
    strategy = try type(of: facts.policy.strategy.kind).init(
      from: values.superDecoder(forKey: .strategy))
    reconciler = Reconciler(facts.policy)
    timer = try values.decodeIfPresent(Int.self, forKey: .timer)
  }

  /// Encodes the facts, the strategy's memory and the timer.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(facts, forKey: .facts)
    try strategy.encode(to: values.superEncoder(forKey: .strategy))
    try values.encodeIfPresent(timer, forKey: .timer)
  }
}

extension PrefetchEngine: Equatable {
  /// Whether both engines know the same, and continue in the same way.
  public static func == (left: Self, right: Self) -> Bool {
    left.facts == right.facts && left.timer == right.timer
      && left.strategy.isEqual(to: right.strategy)
  }
}

/// Requests for pages at the ends of the list.
extension PrefetchEngine {
  mutating func askForPages(_ actions: inout [PrefetchAction], _ wake: inout Wake) {
    guard facts.network.isOnline, !facts.network.isInBackground, let active = facts.viewer.active
    else { return }
    guard facts.pages.retryAt <= facts.now else {
      return wake.at(facts.pages.retryAt, .retry(attempts: facts.pages.attempts))
    }
    if let distance = stopOutside(active) {
      return ask(.around(distance: distance), .stopOutside(distance: distance), &actions)
    }
    if facts.list[active].expiresAt.map({ $0 <= facts.now }) == true {
      ask(.around(distance: 0), .expired, &actions)
    }
    let isAtEnd = active == facts.list.end - 1
    if facts.pages.hasNext,
      let reason = isAtEnd ? .end : strategy.reasonForNextPage(facts, active: active)
    {
      ask(.below, reason, &actions)
    }
    let above = active - facts.list.first
    if facts.pages.hasPrevious,
      above <= max(facts.policy.trailing, 1)
        + (facts.viewer.direction < 0 ? facts.policy.leading : 0)
    {
      ask(.above, above == 0 ? .end : .itemsLeft(above), &actions)
    }
  }

  private mutating func ask(
    _ place: PrefetchPlace, _ reason: PrefetchReason, _ actions: inout [PrefetchAction]
  ) {
    guard !facts.pages.pending.contains(where: { $0.isSameEnd(as: place) }) else { return }
    facts.pages.pending.append(place)
    facts.counts.pages += 1
    actions.append(PrefetchAction(.askForPage(place), reason))
  }

  /// The distance to where a fling stops, if that is outside the list and the feed continues there.
  private func stopOutside(_ active: Int) -> Int? {
    guard strategy.followsFlings, facts.viewer.isFlung(facts.settings),
      let stop = facts.viewer.stopDistance,
      !facts.list.positions.contains(active + stop),
      stop < 0 ? facts.pages.hasPrevious : facts.pages.hasNext
    else { return nil }
    return stop
  }
}

/// What the screen shows of the active item: a placeholder until its bytes are held and its decoder has had
/// its time.
extension PrefetchEngine {
  mutating func show(_ actions: inout [PrefetchAction], _ wake: inout Wake) {
    guard let active = facts.viewer.active else { return }
    let costs = facts.costs
    facts.noteReadiness(active, costs, &actions)
    for distance in decodedDistances where facts.list.positions.contains(active + distance) {
      let position = active + distance
      facts.noteReadiness(position, costs, &actions)
      if facts.list[position].isReady, facts.list[position].decodesFrom == nil {
        facts.list[position].decodesFrom = facts.now
      }
    }
    guard facts.viewer.showing != .frame else { return }
    if !facts.list[active].isReady, facts.viewer.showing == .nothing {
      let (held, needed, _) = facts.start(of: active, costs)
      countLoader(active)
      return placeholder(active, .bytes(held: held, needed: needed), &actions)
    }
    guard facts.list[active].isReady, let decodesFrom = facts.list[active].decodesFrom else {
      return
    }
    let decoding = facts.isClip(active) ? facts.settings.decoderStartMilliseconds : 0
    if facts.now >= decodesFrom + decoding {
      facts.viewer.showing = .frame
      actions.append(
        PrefetchAction(.showFrame(item: facts.list[active].id), .decoded(milliseconds: decoding)))
    } else {
      if facts.viewer.showing == .nothing {
        placeholder(active, .decoded(milliseconds: facts.now - decodesFrom), &actions)
      }
      wake.at(decodesFrom + decoding, .decoding)
    }
  }

  private mutating func placeholder(
    _ position: Int, _ reason: PrefetchReason, _ actions: inout [PrefetchAction]
  ) {
    facts.viewer.showing = .placeholder
    actions.append(PrefetchAction(.showPlaceholder(item: facts.list[position].id), reason))
  }

  /// The distances of the items to decode: the active one, and those that are about to be active. A device
  /// that is hot or low on power decodes nothing that the person may not look at.
  private var decodedDistances: ClosedRange<Int> {
    let ahead = facts.network.isStressed ? 0 : strategy.decodedAheadItems(facts)
    return facts.viewer.direction > 0 ? 0...ahead : -ahead...0
  }

  private mutating func countLoader(_ position: Int) {
    guard !facts.list[position].media.isEmpty else { return }
    if facts.isClip(position) {
      facts.counts.videoLoaders += 1
    } else {
      facts.counts.imageLoaders += 1
    }
  }
}
