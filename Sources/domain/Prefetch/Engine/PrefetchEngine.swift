import Feed

/// Decides what of a feed is loaded, when and why: events in, actions out, each with its reason in numbers and words.
///
/// Theory of operation. There are three parts, and the engine holds no plans:
///
/// - *Facts* (`EngineFacts`): the list, what is held of each file, what is under way, the network, where the person
///   is. Only events change them.
/// - The *strategy* (`PrefetchStrategy`) reads the facts and lists what it wants, in order (`Want`). That becomes
///   ranges of files (`Wish`). It has parameters and a memory of its own, and cannot change a fact.
/// - The *reconciler* (`Reconciler`) brings what runs in line with the wishes: it stops what is not wished, and begins
///   what is neither held nor under way, within the limits (`PrefetchSettings`). What must hold of every strategy
///   holds there alone (`EnginePropertyTests`).
///
/// Ours, `expected-wait`, draws futures (`Futures`: how long items are looked at, where the person turns) from random
/// numbers kept in its memory, and asks in each what one more step of waiting would cost (`ExpectedWait`); that is held
/// against the price of bytes that may turn out not to be needed. `docs/engine.md` has the strategies and their
/// numbers.
///
/// The engine does no I/O and reads no clock; from the same events at the same times follow the same actions. Its state
/// is bounded, and can be encoded: what is decoded of it goes on as if nothing had been.
public struct PrefetchEngine: Sendable {
  /// What is known.
  var facts: EngineFacts
  /// The policy's strategy, and what it remembers.
  private var strategy: any PrefetchStrategy
  private let reconciler: Reconciler
  /// What `waitUntil` named last.
  private var timer: Int?

  /// The latest time that events have; later ones are taken for it.
  public static let lastMilliseconds = EngineFacts.lastMilliseconds
  /// The greatest id that a client's own transfers may have.
  public static let greatestTransfer = EngineFacts.greatestTransfer

  /// An engine that knows nothing yet.
  ///
  /// - Precondition: `settings.problem` is nil.
  public init(policy: Policy, settings: PrefetchSettings = PrefetchSettings()) {
    precondition(settings.problem == nil, "a setting is outside of its range")
    facts = EngineFacts(policy: policy, settings: settings)
    strategy = policy.strategy.kind
    reconciler = Reconciler(policy)
    strategy.begin(facts)
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
    if case .timerFired = event { timer = nil }
    facts.take(event, atMilliseconds: milliseconds, &actions)
    plan(&actions)
    return actions
  }

  /// Brings what runs in line with the facts.
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

  /// The strategy, and what it rests on.
  public var policy: Policy { facts.policy }
  /// What bounds the engine.
  public var settings: PrefetchSettings { facts.settings }
  /// What it counted.
  public var counts: PrefetchCounts { facts.counts }

  /// The item that the person looks at.
  public var activeItem: String? { facts.viewer.active.map { facts.list[$0].id } }

  /// Whether the active item is passed, and nothing of it is loaded: in a fling that stops elsewhere.
  package var passesActive: Bool { strategy.passesActive(facts) }

  /// Whether the person scrolls up.
  public var isGoingUp: Bool { facts.viewer.direction < 0 }

  /// The ids of the list's ends: a page below is the one below the last of its items.
  public var ends: (first: String, last: String)? {
    facts.list.items.isEmpty
      ? nil : (facts.list[facts.list.first].id, facts.list[facts.list.end - 1].id)
  }

  /// How many items the list has.
  public var itemCount: Int { facts.list.count }

  /// How many bytes of all files are held.
  public var heldBytes: Int { facts.files.heldBytes }

  /// The number of bytes that are held or in transfer for items that the person has neither looked at nor passed.
  public var speculativeBytes: Int { facts.speculativeBytes }

  /// The file that is loaded of one of an item's media: the variant that was chosen.
  public func chosenFile(of item: String, media: Int = 0) -> PrefetchFile? {
    guard let position = facts.list.position(of: item),
      facts.list[position].media.indices.contains(media)
    else { return nil }
    return facts.files[facts.list[position].media[media].slot].file
  }

  /// What is held of a file.
  public func held(_ key: String) -> [Range<Int>] {
    facts.files.slot(of: key).map { facts.files[$0].held.ranges } ?? []
  }

  /// Of the file that is loaded of an item's first media: how many of the bytes that start it are held, and how many
  /// there are; nil where the item is not known, or has no file.
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

  /// Whether what starts the item is there.
  public func isReady(_ item: String) -> Bool {
    facts.list.position(of: item).map {
      facts.list[$0].isReady || facts.start(of: $0, facts.costs).isThere
    } ?? false
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

/// Encoded are the facts and what the strategy remembers; decoded, an engine goes on as if nothing had been.
extension PrefetchEngine: Codable {
  private enum CodingKeys: CodingKey {
    case facts, strategy, timer
  }

  /// What `encode(to:)` wrote.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    facts = try values.decode(EngineFacts.self, forKey: .facts)
    strategy = try type(of: facts.policy.strategy.kind).init(
      from: values.superDecoder(forKey: .strategy))
    reconciler = Reconciler(facts.policy)
    timer = try values.decodeIfPresent(Int.self, forKey: .timer)
  }

  /// Writes the facts and what the strategy remembers.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(facts, forKey: .facts)
    try strategy.encode(to: values.superEncoder(forKey: .strategy))
    try values.encodeIfPresent(timer, forKey: .timer)
  }
}

extension PrefetchEngine: Equatable {
  /// Whether they know the same, and go on in the same way.
  public static func == (left: Self, right: Self) -> Bool {
    left.facts == right.facts && left.timer == right.timer
      && left.strategy.isEqual(to: right.strategy)
  }
}

/// The ends of the list.
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

  /// How far off a fling stops, where that is not in the list and the feed goes on there.
  private func stopOutside(_ active: Int) -> Int? {
    guard strategy.followsFlings, facts.viewer.isFlung(facts.settings),
      let stop = facts.viewer.stopDistance,
      !facts.list.positions.contains(active + stop),
      stop < 0 ? facts.pages.hasPrevious : facts.pages.hasNext
    else { return nil }
    return stop
  }
}

/// What of the active item is on the screen: a placeholder until its bytes are there and its decoder has had
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

  /// Which items are decoded: the active one, and those that are about to be. A device that is hot or short of power
  /// decodes nothing that may not be looked at.
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
