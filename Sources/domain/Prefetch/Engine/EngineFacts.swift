import Feed

/// The facts that an engine knows: the list, the held bytes of each file, the transfers, the network, and
/// where the person is.
///
/// Only events change facts. Strategies read them; the `Reconciler` records the transfers that it begins and
/// stops.
struct EngineFacts: Equatable, Codable {
  let policy: Policy
  let settings: PrefetchSettings
  var counts = PrefetchCounts()
  var files = FileTable()
  var list = ItemList()
  var transfers: [Transfer] = []
  var lastTransfer = 0
  var network = NetworkState()
  var viewer = ViewerState()
  var pages = PageState()
  /// The last event's time and number.
  var now = 0
  var eventNumber = 0
  /// The number of held bytes up to which nothing is evicted, since the last eviction could not reach its
  /// aim.
  var evictionBytes = 0

  /// The latest time of an event; later times are replaced by it.
  static let lastMilliseconds = 1 << 52
  /// The greatest transfer id that a client reports. Transfers that begin later have greater ids, which JSON
  /// readers hold exactly, too.
  static let greatestTransfer = 1 << 52
  /// The playback time that a player buffers before it plays, and again after its buffer has run out
  /// (Media3's default).
  static let playerBufferMilliseconds = 1_000

  init(policy: Policy, settings: PrefetchSettings) {
    (self.policy, self.settings) = (policy, settings)
    network.measure(settings, quantilePercent: policy.strategy.kind.quantilePercent)
    viewer.history.begin(itemsPerMinute: policy.itemsPerMinute)
  }

  /// Applies an event.
  mutating func take(
    _ event: PrefetchEvent, atMilliseconds milliseconds: Int, _ actions: inout [PrefetchAction]
  ) {
    now = max(now, min(milliseconds, Self.lastMilliseconds))
    eventNumber += 1
    note(event, &actions)
  }

  /// The number of bytes held or in transfer for items that the person has neither looked at nor passed.
  var speculativeBytes: Int {
    transfers.reduce(files.speculativeBytes) {
      $0 + (isActive($1.slot) ? 0 : $1.bytesUnderWay)
    }
  }

  /// The rest of the session's budget; `nil` if the session has none.
  var budgetLeftBytes: Int? {
    settings.budgetBytes == 0 ? nil : max(0, settings.budgetBytes - counts.fetchedBytes)
  }

  /// The maximum number of bytes held and in transfer ahead of the person, and what restrains it.
  var allowance: (bytes: Int, restraint: PrefetchReason.Restraint?) {
    let allowance = network.allowance(settings)
    guard let left = budgetLeftBytes else { return allowance }
    let active = transfers.reduce(0) { $0 + (isActive($1.slot) ? $1.bytesUnderWay : 0) }
    let bytes = files.speculativeBytes + max(0, left - active)
    return bytes < allowance.bytes ? (bytes, .budget) : allowance
  }

  /// The playback position of the active clip.
  var playedMilliseconds: Int {
    viewer.playedMilliseconds + (viewer.playback == .playing ? now - viewer.playedAt : 0)
  }

  /// The time for which the active clip has not moved; 0 while it plays. A player that stalls for long needs
  /// more than expected, whatever the hints of the file say.
  var stoodMilliseconds: Int {
    viewer.playback == .playing ? 0 : now - viewer.playedAt
  }

  /// Selects this quality for these items' media, except where bytes were requested already and the next ones
  /// cannot come from another file.
  mutating func choose(_ choice: VariantLevel) {
    for position in choice.positions {
      for index in list[position].media.indices {
        let media = list[position].media[index]
        guard !media.isSettled || choice.switches && isSwitchable(media) else { continue }
        let level = position == viewer.active ? choice.activeLevel ?? choice.level : choice.level
        list[position].media[index].variant = present(level, of: media)
      }
    }
  }

  /// The level, or if that file is gone, the next one that exists, smaller files first.
  private func present(_ level: Int, of media: MediaState) -> Int {
    let level = min(level, media.slots.count - 1)
    func isThere(_ level: Int) -> Bool { !files[media.slots[level]].isGone }
    return (level..<media.slots.count).first(where: isThere) ?? (0..<level).last(where: isThere)
      ?? level
  }

  /// Whether the next bytes may come from another file: the files have chunks in common, and none of them is
  /// in transfer.
  func isSwitchable(_ media: MediaState) -> Bool {
    media.slots.count > 1 && files[media.slot].hasCommonChunks
      && !transfers.contains { !$0.isPaused && media.slots.contains($0.slot) }
  }
}

/// The changes that each event makes.
extension EngineFacts {
  private mutating func note(_ event: PrefetchEvent, _ actions: inout [PrefetchAction]) {
    switch event {
    case .pageArrived(let place, let items, let hasPrevious, let hasNext):
      pageArrived(place, items, hasPrevious, hasNext, &actions)
    case .pageFailed(let place, let retryAfter):
      pages.pending.removeAll { $0.isSameEnd(as: place) }
      pages.attempts += 1
      pages.retryAt = retryTime(pages.attempts, retryAfter)
    case .itemsRemoved(let ids):
      let gone = Set(ids.map(ByteText.init))
      arrange(list.items.filter { !gone.contains($0.id) })
    case .itemsReordered(let ids):
      var seen: Set<ByteText> = []
      arrange(
        ids.compactMap { id in
          guard seen.insert(ByteText(id)).inserted else { return nil }
          return list.position(of: id).map { list[$0] }
        })
    case .activeChanged(let id):
      let position = list.position(of: id)
      viewer.awaited = position == nil ? id : nil
      if let position { activate(position) }
    case .scrolled(let speed, let stop): scrolled(speed, stop)
    case .bytesFound(let key, let ranges):
      let slot = fileSlot(key)
      for range in ranges { _ = hold(range, of: slot, &actions) }
      limitLooseFiles(&actions)
    case .bytesArrived(let id, let key, let range): bytesArrived(id, key, range, &actions)
    case .sizeLearned(let key, let bytes):
      if let slot = files.slot(of: key) { sizeLearned(slot, bytes) }
    case .transferFinished(let id): finished(id)
    case .transferFailed(let id, let failure): failed(id, failure, &actions)
    case .bandwidthMeasured(let kilobits, let roundTrip):
      network.note(
        kilobitsPerSecond: kilobits, roundTripMilliseconds: roundTrip, at: now)
      network.measure(settings, quantilePercent: policy.strategy.kind.quantilePercent)
    case .playbackMoved(let milliseconds, let playback):
      let played = min(max(milliseconds, 0), Self.lastMilliseconds)
      // A clip that is reported again as not moving at the same position has not moved since then.
      let stoodHere = viewer.playback != .playing && played == viewer.playedMilliseconds
      if playback == .playing || !stoodHere { viewer.playedAt = now }
      viewer.playedMilliseconds = played
      viewer.playback = playback
      if playback != .playing { viewer.hasStood = true }
      notePlayback()
    case .networkChanged(let isOnline, let isMetered):
      if isMetered != network.isMetered || (isOnline && !network.isOnline) {
        network.forget()
        network.measure(settings, quantilePercent: policy.strategy.kind.quantilePercent)
        // Requests that failed on the old network may succeed on this one.
        pages.retryAt = now
        files.retryAll()
      }
      network.isOnline = isOnline
      network.isMetered = isMetered
    case .saveDataChanged(let saves): network.savesData = saves
    case .stressChanged(let isStressed): network.isStressed = isStressed
    case .backgroundChanged(let isInBackground): network.isInBackground = isInBackground
    case .memoryWarned: evict(toBytes: files.heldBytes / 4, .memoryWarning, &actions)
    // Handled by the engine.
    case .timerFired: break
    }
  }

  /// The time of the next attempt after this many failures: after the delay that the server gave, or one that
  /// doubles with each failure.
  func retryTime(_ attempts: Int, _ said: Int?) -> Int {
    let doubled = settings.retryMilliseconds << min(max(attempts, 1) - 1, 20)
    return now
      + (said.map { min(max($0, 0), Self.lastMilliseconds) }
        ?? min(doubled, settings.retryLimitMilliseconds))
  }

  // MARK: The person's position

  /// Makes another item active. The items between are passed, and no longer ahead.
  mutating func activate(_ position: Int) {
    guard let old = viewer.active, old != position else { return }
    viewer.hasScrolled = true
    let direction = position > old ? 1 : -1
    viewer.history.note(isTurn: direction != viewer.lastStep, from: viewer.lastStep)
    viewer.history.note(stepItems: abs(position - old))
    (viewer.direction, viewer.lastStep) = (direction, direction)
    if let stop = viewer.stopDistance { viewer.stopDistance = stop - (position - old) }
    viewer.history.note(dwellMilliseconds: now - viewer.activeSince, ofClip: isClip(old))
    endStanding()
    look(at: position)
    for passed in min(old, position)...max(old, position) { settle(passed) }
  }

  mutating func look(at position: Int?) {
    viewer.active = position
    viewer.activeSince = now
    viewer.playedMilliseconds = 0
    viewer.playedAt = now
    viewer.playback = .playing
    viewer.showing = .nothing
    viewer.hasStood = activeClip.map { !hasHead($0) } ?? false
    viewer.standing = nil
    viewer.moves += 1
    guard position != nil else { return }
    counts.viewedItems += 1
  }

  private mutating func settle(_ position: Int) {
    for media in list[position].media {
      for slot in media.slots { files.settle(slot, direction: viewer.direction) }
    }
  }

  private mutating func scrolled(_ speed: Int, _ stop: Int?) {
    viewer.milliitemsPerSecond = min(max(speed, -1_000_000_000), 1_000_000_000)
    viewer.stopDistance = speed == 0 ? nil : stop.map { min(max($0, -1_000_000), 1_000_000) }
    viewer.moves += 1
    guard speed != 0 else { return }
    viewer.direction = speed > 0 ? 1 : -1
    viewer.hasScrolled = true
  }

  /// Whether the item at a position plays.
  func isClip(_ position: Int) -> Bool {
    list[position].media.first.map { files[$0.slots[0]].file.load.kind.plays } ?? false
  }

  /// Whether the file belongs to the active item.
  func isActive(_ slot: Int) -> Bool {
    guard let active = viewer.active else { return false }
    return list[active].media.contains { $0.slots.contains(slot) }
  }

  // MARK: Understated starts

  /// Records that a player waits for the active clip, or that the clip has stalled at its beginning. If the
  /// bytes that should suffice are held, the clip needs more than its hint says.
  private mutating func notePlayback() {
    let isWaiting = viewer.playback == .waiting
    guard isWaiting || viewer.playback == .paused, viewer.playedMilliseconds == 0 else {
      return endStanding()
    }
    if viewer.standing?.isWaiting == isWaiting { return }
    endStanding()
    guard let slot = activeClip else { return }
    viewer.standing = ViewerState.Standing(
      isWaiting: isWaiting, bytes: files[slot].there.prefix, at: now)
  }

  /// Records, before further bytes of a file arrive, that the held ones were not enough for the stalled clip.
  /// A player takes a while to notice bytes.
  private mutating func noteStanding(_ slot: Int) {
    guard let standing = viewer.standing, slot == activeClip,
      now - standing.at >= Self.noticeMilliseconds, let needed = saidBytes(for: standing, slot)
    else { return }
    viewer.standing?.percent = max(standing.percent, Self.percent(standing.bytes, of: needed))
    viewer.standing?.bytes = files[slot].there.prefix
    viewer.standing?.at = now
  }

  private static let noticeMilliseconds = 40

  /// Ends the record of a stall: the clip shows or moves, or the person has left it.
  private mutating func endStanding() {
    if let slot = activeClip { noteStanding(slot) }
    guard let standing = viewer.standing else { return }
    viewer.standing = nil
    if standing.percent >= 100 {
      return viewer.starts.note(standing.percent + StartHistory.stepPercent)
    }
    guard viewer.playback == .playing, let slot = activeClip,
      let needed = saidBytes(for: standing, slot)
    else { return }
    // The clip began with about as many bytes as its hint says.
    if Self.percent(files[slot].there.prefix, of: needed) <= 100 + StartHistory.stepPercent {
      viewer.starts.note(100)
    }
  }

  /// The number of bytes that, by the hint, show the clip or let it move.
  private func saidBytes(for standing: ViewerState.Standing, _ slot: Int) -> Int? {
    let load = files[slot].file.load
    return standing.isWaiting
      ? load.timing?.headBytes
      : load.bytes(throughMilliseconds: Self.playerBufferMilliseconds)
  }

  private static func percent(_ bytes: Int, of needed: Int) -> Int {
    min(bytes, 1 << 40) * 100 / max(1, needed)
  }

  /// The file of the active item, if that is one clip whose start is known.
  private var activeClip: Int? {
    guard let active = viewer.active, list[active].media.count == 1 else { return nil }
    let slot = list[active].media[0].slot
    return files[slot].file.load.timing?.isStartable == true ? slot : nil
  }

  /// Whether the bytes of a clip's first frame are held.
  private func hasHead(_ slot: Int) -> Bool {
    let load = files[slot].file.load
    return files[slot].there.prefix >= corrected(load.timing?.headBytes ?? 0, of: load)
  }

  /// The number of bytes to load of a clip for this number, which is raised if the hints of other clips were
  /// too low.
  func corrected(_ bytes: Int, of load: MediaLoad) -> Int {
    guard viewer.starts.percent > 100, load.kind.plays, load.timing?.isStartable == true else {
      return bytes
    }
    return min(bytes * viewer.starts.percent / 100, max(bytes, load.bytes ?? bytes))
  }

  // MARK: Bytes

  /// The slot of a file, which is added if unknown: held bytes may be reported before the file's page.
  private mutating func fileSlot(_ key: String) -> Int {
    files.slot(of: key)
      ?? files.add(PrefetchFile(key: key, load: MediaLoad(kind: .image)), at: eventNumber)
  }

  /// Records held bytes as far as they lie within the file.
  ///
  /// - Returns: the number of new bytes.
  private mutating func hold(
    _ range: Range<Int>, of slot: Int, _ actions: inout [PrefetchAction]
  ) -> Int {
    let end = files[slot].file.load.bytes ?? RecordLimits.fileBytes
    let range = range.clamped(to: 0..<max(end, 0))
    files[slot].touched = eventNumber
    if let new = files.hold(range, of: slot) { return new }
    // There would be more ranges than are kept: neither the client nor the engine keeps these bytes.
    actions.append(
      PrefetchAction(
        .evict(key: files[slot].file.key, range),
        .full(heldBytes: files.heldBytes, limitBytes: settings.heldBytes)))
    return 0
  }

  private mutating func bytesArrived(
    _ id: Int, _ key: String, _ range: Range<Int>, _ actions: inout [PrefetchAction]
  ) {
    let range = range.clamped(to: 0..<RecordLimits.fileBytes)
    guard let slot = files.slot(of: key) else {
      // The file has been forgotten: without this action its bytes would never be evicted.
      actions.append(PrefetchAction(.evict(key: key, range), .gone))
      return
    }
    noteStanding(slot)
    let new = hold(range, of: slot, &actions)
    counts.fetchedBytes += new
    files[slot].attempts = 0
    if !isActive(slot), files[slot].references > 0 {
      files.speculate(new, on: slot, direction: viewer.direction)
    }
    guard let index = transfers.firstIndex(where: { $0.id == id }) else {
      counts.cancelledBytes += new
      return
    }
    guard transfers[index].slot == slot, range.lowerBound <= transfers[index].next else { return }
    let next = transfers[index].next
    let isEnd = range.upperBound >= transfers[index].end
    let askedAt = isEnd && !transfers[index].hasBegun ? transfers[index].askedAt : nil
    transfers[index].next = max(next, range.upperBound)
    transfers[index].hasBegun = true
    network.noteArrival(
      transfers: transfers.reduce(0) { $0 + ($1.hasBegun && !$1.isPaused ? 1 : 0) })
    if isEnd { transfers.remove(at: index) }
    noteArrival(of: max(0, range.upperBound - next), askedAt: askedAt, isEnd: isEnd)
  }

  private mutating func noteArrival(of bytes: Int, askedAt: Int?, isEnd: Bool) {
    let isMeasured = network.noteArrival(
      of: bytes, askedAt: askedAt, isEnd: isEnd, isBusy: isLoading, at: now)
    if isMeasured {
      network.measure(settings, quantilePercent: policy.strategy.kind.quantilePercent)
    }
  }

  /// Whether a transfer is running.
  private var isLoading: Bool { transfers.contains { !$0.isPaused } }

  /// Records that a transfer is about to run.
  mutating func noteBegin() { if !isLoading { network.noteBegin() } }

  private mutating func sizeLearned(_ slot: Int, _ bytes: Int) {
    let bytes = min(max(bytes, 0), RecordLimits.fileBytes)
    guard files[slot].file.load.bytes != bytes else { return }
    // The timing was of a file of another size.
    if files[slot].file.load.bytes != nil {
      files[slot].file.load.timing = nil
      files.separate(slot)
    }
    files[slot].file.load.bytes = bytes
    files.drop(bytes..<Int.max, of: slot)
    endTransfers(of: slot, at: bytes)
  }

  /// Ends transfers of the file at its end.
  mutating func endTransfers(of slot: Int, at bytes: Int) {
    guard transfers.contains(where: { $0.slot == slot && $0.end > bytes }) else { return }
    for index in transfers.indices where transfers[index].slot == slot {
      transfers[index].end = min(transfers[index].end, bytes)
      transfers[index].countedEnd = min(transfers[index].countedEnd, bytes)
    }
    transfers.removeAll { $0.slot == slot && $0.next >= $0.end }
  }

  private mutating func finished(_ id: Int) {
    guard let index = transfers.firstIndex(where: { $0.id == id }) else { return }
    let transfer = transfers.remove(at: index)
    if transfer.end == Transfer.unknownEnd {
      noteArrival(of: 0, askedAt: nil, isEnd: true)
      sizeLearned(transfer.slot, transfer.next)
    } else {
      // A complete transfer is no longer in `transfers`: this one brought less than requested.
      retryLater(transfer.slot, nil)
    }
  }

  private mutating func failed(
    _ id: Int, _ failure: TransferFailure, _ actions: inout [PrefetchAction]
  ) {
    guard let index = transfers.firstIndex(where: { $0.id == id }) else { return }
    let slot = transfers.remove(at: index).slot
    switch failure {
    case .network: retryLater(slot, nil)
    case .busy(let retryAfter):
      retryLater(slot, retryAfter)
      files[slot].busyUntil = files[slot].retryAt
    case .gone:
      files[slot].isGone = true
      // Its media may have another file.
      for position in list.positions {
        for (index, media) in list[position].media.enumerated() where media.slot == slot {
          list[position].media[index].variant = present(media.variant, of: media)
        }
      }
    case .changed:
      forget(slot, .changed, &actions)
      files[slot].file.load.bytes = nil
      files[slot].file.load.timing = nil
      files.separate(slot)
      // Other transfers request a file that no longer exists.
      for other in transfers where other.slot == slot {
        actions.append(PrefetchAction(.cancel(transfer: other.id), .changed))
      }
      transfers.removeAll { $0.slot == slot }
      retryLater(slot, nil)
    }
  }

  private mutating func retryLater(_ slot: Int, _ said: Int?) {
    files[slot].attempts += 1
    files[slot].busyUntil = nil
    files[slot].retryAt = retryTime(files[slot].attempts, said)
  }
}
