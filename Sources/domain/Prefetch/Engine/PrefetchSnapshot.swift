import Feed

/// All that a client without an engine of its own knows at one moment: what is decided of it alone.
public struct PrefetchSnapshot: Hashable, Sendable {
  /// What the client has of a file.
  public struct Held: Hashable, Sendable {
    /// The file's key.
    @ByBytes public var key: String
    /// Which bytes.
    public var ranges: [Range<Int>]
    /// How many it has in all, where the client has learned that.
    public var fileBytes: Int?

    /// Bytes of a file.
    public init(key: String, ranges: [Range<Int>], fileBytes: Int? = nil) {
      self.key = key
      self.ranges = ranges
      self.fileBytes = fileBytes
    }
  }

  /// A transfer that runs or rests.
  public struct Running: Hashable, Sendable {
    /// Its own among the client's transfers.
    public var id: Int
    /// The item that it is for.
    @ByBytes public var item: String
    /// The file's key.
    @ByBytes public var key: String
    /// The first byte that has not arrived.
    public var next: Int
    /// Behind its last byte; `nil` where it goes to the file's end, wherever that is.
    public var end: Int?
    /// Whether it rests.
    public var isPaused: Bool

    /// A transfer of which these bytes have yet to arrive.
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

  /// The strategy, and what items cost by it.
  public var policy: Policy
  /// What bounds the engine.
  public var settings = PrefetchSettings()
  /// The time.
  public var atMilliseconds = 0
  /// The list, in its order.
  public var items: [PrefetchItem] = []
  /// Whether the feed goes on above it.
  public var hasPrevious = false
  /// Whether the feed goes on below it.
  public var hasNext = false
  /// What the client has.
  public var held: [Held] = []
  /// What is under way, in the order in which it was begun.
  public var transfers: [Running] = []
  /// The item that the person looks at; the first where it is not in the list.
  @ByBytes public var active: String?
  /// For how long they have.
  public var activeMilliseconds = 0
  /// Whether they scroll up.
  public var isGoingUp = false
  /// The bandwidth that the client has measured lately, in kilobits a second; `nil` for the settings', which is assumed.
  public var downlinkKbps: Int?
  /// Events of the person, the network and the device that hold now, the oldest first: of the same kind the last counts, but
  /// each measured bandwidth is a sample.
  public var conditions: [PrefetchEvent] = []

  /// A moment of which no more is known.
  public init(policy: Policy) { self.policy = policy }
}

extension PrefetchEngine {
  /// An engine that has come to this moment; `decide()` says what is to be done.
  ///
  /// Of a transfer or a file that no item has, nothing is taken.
  ///
  /// - Precondition: `snapshot.settings.problem` is nil.
  public init(_ snapshot: PrefetchSnapshot) {
    self.init(policy: snapshot.policy, settings: snapshot.settings)
    facts.arrive(at: snapshot)
  }

  /// What is to be done now, without anything having happened.
  public mutating func decide() -> [PrefetchAction] {
    var actions: [PrefetchAction] = []
    plan(&actions)
    return actions
  }
}

extension EngineFacts {
  /// Takes in what a client knows at one moment.
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
    // Whether the active clip was waited for is asked of the file that is loaded.
    settleVariants()
    let active = snapshot.active.flatMap { list.position(of: $0) } ?? viewer.active
    if let active { look(at: active) }
    // An arrangement, not a person's way: nothing was counted, nothing learned.
    counts = PrefetchCounts()
    // Before the client's own time began where it gives none.
    viewer.activeSince = since - max(0, min(snapshot.activeMilliseconds, Self.lastMilliseconds))
    (viewer.direction, viewer.lastStep) = snapshot.isGoingUp ? (-1, -1) : (1, 1)
    for event in snapshot.conditions { take(event, atMilliseconds: since, &ignored) }
    // It was measured on the network that there is, not on one before.
    tellBandwidth(of: snapshot)
    if snapshot.conditions.contains(where: \.tellsPlayback) {
      if viewer.playback != .waiting { viewer.showing = .frame }
      noteMissedTime(at: since)
    }
    // What starts the active item was there when they came to it, as far as is known.
    if let active = viewer.active, start(of: active, costs).isThere {
      list[active].decodesFrom = viewer.activeSince
    }
  }

  private mutating func tellBandwidth(of snapshot: PrefetchSnapshot) {
    guard let kilobits = snapshot.downlinkKbps else { return }
    network.tell(kilobitsPerSecond: kilobits)
    network.measure(settings, quantilePercent: policy.strategy.kind.quantilePercent)
  }

  /// While the person looked at the clip and it did not play, it was waited for, or stood.
  private mutating func noteMissedTime(at now: Int) {
    let missed =
      now - viewer.activeSince - settings.decoderStartMilliseconds - viewer.playedMilliseconds
    guard missed > Self.leastMissedMilliseconds else { return }
    viewer.hasStood = true
    if viewer.playback != .playing { viewer.playedAt = now - missed }
  }

  /// Less is what a player needs to begin.
  private static var leastMissedMilliseconds: Int { 250 }

  /// Of a media of which something is held or under way, that file goes on to be loaded: the best one of which all
  /// that starts it is held, else the best one of which anything is.
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
