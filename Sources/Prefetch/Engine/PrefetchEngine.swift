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

import Feed

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
