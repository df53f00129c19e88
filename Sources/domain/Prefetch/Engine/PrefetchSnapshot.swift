import Feed

/// The state at one moment of a client without an engine of its own: decisions depend on nothing else.
public struct PrefetchSnapshot: Hashable, Sendable {
  /// The bytes of a file that the client holds.
  public struct Held: Hashable, Sendable {
    /// The file's key.
    @ByBytes public var key: String
    /// The held ranges.
    public var ranges: [Range<Int>]
    /// The file's size, if the client has learned it.
    public var fileBytes: Int?

    /// Creates held bytes of a file.
    public init(key: String, ranges: [Range<Int>], fileBytes: Int? = nil) {
      self.key = key
      self.ranges = ranges
      self.fileBytes = fileBytes
    }
  }

  /// A running or paused transfer.
  public struct Running: Hashable, Sendable {
    /// The transfer's id, unique among the client's transfers.
    public var id: Int
    /// The item that the transfer is for.
    @ByBytes public var item: String
    /// The file's key.
    @ByBytes public var key: String
    /// The first byte that has not arrived.
    public var next: Int
    /// The offset behind the last byte; `nil` for a file's end that is unknown.
    public var end: Int?
    /// Whether the transfer is paused.
    public var isPaused: Bool

    /// Creates a transfer with these bytes yet to arrive.
    public init(
      id: Int, item: String, key: String, next: Int, end: Int?, isPaused: Bool = false
    ) {
      self.id = id
      self.item = item
      self.key = key
      self.next = next
      self.end = end
      self.isPaused = isPaused
    }
  }

  /// The policy: the strategy, and the costs of items.
  public var policy: Policy
  /// The engine's limits and assumptions.
  public var settings = PrefetchSettings()
  /// The time.
  public var atMilliseconds = 0
  /// The list's items, in order.
  public var items: [PrefetchItem] = []
  /// Whether the feed continues above the list.
  public var hasPrevious = false
  /// Whether the feed continues below the list.
  public var hasNext = false
  /// The bytes of files that the client holds.
  public var held: [Held] = []
  /// The transfers, in the order in which they were begun.
  public var transfers: [Running] = []
  /// The item that the person looks at; the first one if it is not in the list.
  @ByBytes public var active: String?
  /// The time for which the person has looked at it.
  public var activeMilliseconds = 0
  /// Whether the person scrolls up.
  public var isGoingUp = false
  /// The bandwidth that the client measured recently, in kilobits a second; `nil` for the one that the
  /// settings assume.
  public var downlinkKbps: Int?
  /// Events of the person, the network and the device that still hold, oldest first. The last one of each
  /// kind counts, but each measured bandwidth is a sample.
  public var conditions: [PrefetchEvent] = []

  /// Creates a state with a policy, and with nothing else known.
  public init(policy: Policy) { self.policy = policy }
}

extension PrefetchEngine {
  /// Creates an engine in this state; `decide()` returns its actions.
  ///
  /// Transfers and files that belong to no item are ignored.
  ///
  /// - Precondition: `snapshot.settings.problem` is nil.
  public init(_ snapshot: PrefetchSnapshot) {
    self.init(policy: snapshot.policy, settings: snapshot.settings)
    facts.arrive(at: snapshot)
  }

  /// Returns the actions for the present state, without an event.
  public mutating func decide() -> [PrefetchAction] {
    var actions: [PrefetchAction] = []
    plan(&actions)
    return actions
  }
}

extension EngineFacts {
  /// Applies a client's state at one moment.
  fileprivate mutating func arrive(at snapshot: PrefetchSnapshot) {
    let since = max(0, min(snapshot.atMilliseconds, Self.lastMilliseconds))
    var ignored: [PrefetchAction] = []
    tellBandwidth(of: snapshot)
    take(
      .pageArrived(
        .anew, items: snapshot.items, hasPrevious: snapshot.hasPrevious,
        hasNext: snapshot.hasNext), atMilliseconds: since, &ignored)
    for held in snapshot.held where files.slot(of: held.key) != nil {
      if let bytes = held.fileBytes {
        take(.sizeLearned(key: held.key, bytes: bytes), atMilliseconds: since, &ignored)
      }
      take(.bytesFound(key: held.key, held.ranges), atMilliseconds: since, &ignored)
    }
    for running in snapshot.transfers { take(running) }
    // Whether the active clip was waited for depends on the file that is loaded.
    settleVariants()
    let active = snapshot.active.flatMap { list.position(of: $0) } ?? viewer.active
    if let active { look(at: active) }
    // This sets up a state, and is not the person's way: nothing was counted, nothing learned.
    counts = PrefetchCounts()
    // Negative if the client gives no time.
    viewer.activeSince = since - max(0, min(snapshot.activeMilliseconds, Self.lastMilliseconds))
    (viewer.direction, viewer.lastStep) = snapshot.isGoingUp ? (-1, -1) : (1, 1)
    for event in snapshot.conditions { take(event, atMilliseconds: since, &ignored) }
    // Repeated, since it was measured on the present network, not on one before.
    tellBandwidth(of: snapshot)
    if snapshot.conditions.contains(where: \.tellsPlayback) {
      if viewer.playback != .waiting { viewer.showing = .frame }
      noteMissedTime(at: since)
    }
    // As far as is known, the bytes that start the active item were held when the person came to it.
    if let active = viewer.active, start(of: active, costs).isThere {
      list[active].decodesFrom = viewer.activeSince
    }
  }

  private mutating func tellBandwidth(of snapshot: PrefetchSnapshot) {
    guard let kilobits = snapshot.downlinkKbps else { return }
    network.tell(kilobitsPerSecond: kilobits)
    network.measure(settings, quantilePercent: policy.strategy.kind.quantilePercent)
  }

  /// Records that the clip was waited for, or stalled, while the person looked at it and it did not play.
  private mutating func noteMissedTime(at now: Int) {
    let missed =
      now - viewer.activeSince - settings.decoderStartMilliseconds - viewer.playedMilliseconds
    guard missed > Self.leastMissedMilliseconds else { return }
    viewer.hasStood = true
    if viewer.playback != .playing { viewer.playedAt = now - missed }
  }

  /// The missed time up to which the clip counts as playing: a player needs as much to begin.
  private static var leastMissedMilliseconds: Int { 250 }

  /// Settles each media with held bytes or a transfer on one file: the one with a running transfer of chunks,
  /// else the best one whose whole start is held, else the best one with any bytes.
  private mutating func settleVariants() {
    let costs = costs
    for position in list.positions {
      for index in list[position].media.indices where list[position].media[index].slots.count > 1 {
        let slots = list[position].media[index].slots
        let begun = slots.indices.filter { variant in
          files[slots[variant]].held.count > 0 || transfers.contains { $0.slot == slots[variant] }
        }
        guard let first = begun.first else { continue }
        let started = begun.first { variant in
          let file = files[slots[variant]]
          let cost = costs.cost(of: file.file.load)
          let pieces = cost.pieces.isEmpty ? [0..<cost.minimumBytes] : cost.pieces
          return pieces.allSatisfy { file.held.contains($0) }
        }
        let running = slots.indices.first { variant in
          files[slots[variant]].hasCommonChunks
            && transfers.contains { $0.slot == slots[variant] && !$0.isPaused }
        }
        list[position].media[index].variant = running ?? started ?? first
        list[position].media[index].isSettled = true
      }
    }
  }

  private mutating func take(_ running: PrefetchSnapshot.Running) {
    lastTransfer = max(lastTransfer, min(running.id, Self.greatestTransfer))
    guard let slot = files.slot(of: running.key), let position = list.position(of: running.item),
      running.next >= 0
    else { return }
    let limit = files[slot].file.load.bytes ?? Transfer.unknownEnd
    let end = min(running.end ?? Transfer.unknownEnd, limit)
    guard running.next < end else { return }
    var transfer = Transfer(
      id: running.id, slot: slot, item: running.item, position: position, next: running.next,
      end: end,
      countedEnd: end == Transfer.unknownEnd
        ? max(running.next, costs.cost(of: files[slot].file.load).minimumBytes) : end)
    transfer.isPaused = running.isPaused
    transfers.append(transfer)
  }
}

extension PrefetchEvent {
  fileprivate var tellsPlayback: Bool {
    if case .playbackMoved = self { true } else { false }
  }
}
