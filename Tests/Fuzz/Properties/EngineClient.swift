import Feed
import Prefetch

/// A client that does what an engine says, on a clock and files of its own, and holds each action against what
/// must be true of all of them, whatever the strategy.
struct EngineClient {
  /// A transfer that the engine has asked for and not ended.
  struct Running: Equatable {
    let transfer: PrefetchTransfer
    var next: Int
    var isPaused = false
    /// Behind the last byte it can bring.
    let end: Int
    var rest: Range<Int> { next..<max(next, end) }
  }

  var engine: PrefetchEngine
  var now = 1_000
  var running: [Int: Running] = [:]
  /// Transfers that were cancelled: what of them is still on the way may arrive.
  var cancelled: [Running] = []
  /// What the client has of each file: a bit for each byte.
  var held: [String: [Bool]] = [:]
  /// The files as they are, and what is said of them.
  var fileBytes: [String: Int] = [:]
  var knownBytes: [String: Int] = [:]
  var items: [String: PrefetchItem] = [:]
  var pages: [PrefetchPlace] = []
  var timer: Int?
  var isOnline = true
  var isMetered = false
  var isInBackground = false
  /// Whether the list moves faster than a person can look.
  var isFlung = false
  var savesData = false
  var isStressed = false
  /// Files of which a transfer failed, and when.
  var failures: [String: Int] = [:]
  /// Files that there are not.
  var gone: Set<String> = []
  /// Files that were evicted for want of room since the person, or the list, moved last.
  var evictedHere: Set<String> = []
  var lastTransfer = 0
  var shown: (item: String, hasFrame: Bool)?
  var problems: [String] = []
  /// All that the engine has said, to be held against another run.
  var log: [String] = []

  init(_ engine: PrefetchEngine) {
    self.engine = engine
  }

  /// What may be held and under way ahead of the person.
  var allowedBytes: Int {
    let settings = engine.settings
    return min(
      settings.speculativeBytes, settings.heldBytes / 2,
      savesData ? settings.saveDataSpeculativeBytes : .max,
      isMetered ? settings.meteredSpeculativeBytes : .max,
      isStressed ? settings.stressSpeculativeBytes : .max)
  }

  /// Tells the engine, and does what it says.
  @discardableResult
  mutating func tell(_ event: PrefetchEvent) -> [PrefetchAction] {
    switch event {
    case .bytesArrived, .transferFinished, .sizeLearned, .timerFired, .bandwidthMeasured,
      .playbackMoved:
      break
    default: evictedHere = []
    }
    let activeBefore = engine.activeItem
    let heldBefore = engine.heldBytes
    let actions = engine.handle(event, atMilliseconds: now)
    if engine.activeItem != activeBefore { shown = nil }
    if case .activeChanged = event { shown = engine.activeItem == activeBefore ? shown : nil }
    for action in actions {
      log.append("\(now) \(action.kind): \(action.reason)")
      perform(action, event, heldBefore)
    }
    check(event)
    return actions
  }

  mutating func problem(_ words: String) {
    problems.append("at \(now): \(words)")
  }

  /// Whether the transfer is for what the person looks at.
  func isActive(_ transfer: PrefetchTransfer) -> Bool {
    guard let active = engine.activeItem, let item = items[active] else { return false }
    return item.media.contains { $0.files.contains { $0.key == transfer.key } }
  }

  func isSpeculative(_ running: Running) -> Bool {
    !running.isPaused && !isActive(running.transfer)
  }

  // MARK: What the engine says

  private mutating func perform(
    _ action: PrefetchAction, _ event: PrefetchEvent, _ heldBefore: Int
  ) {
    if String(describing: action.reason).isEmpty { problem("an action without words") }
    if case .expectedWait(_, _, _, _, let worth, let price) = action.reason, worth < price {
      problem("\(action.kind) for less than its price: \(action.reason)")
    }
    switch action.kind {
    case .fetch(let transfer): fetch(transfer)
    case .cancel(let id):
      guard let ended = running.removeValue(forKey: id) else {
        return problem("cancels \(id), which does not run")
      }
      cancelled.append(ended)
      if cancelled.count > 8 { cancelled.removeFirst() }
    case .pause(let id):
      if running[id]?.isPaused != false { problem("pauses \(id), which does not run") }
      running[id]?.isPaused = true
    case .resume(let id):
      if running[id]?.isPaused != true { problem("resumes \(id), which does not rest") }
      running[id]?.isPaused = false
    case .askForPage(let place):
      if pages.contains(where: { Self.isSame($0, place) }) { problem("asks for \(place) twice") }
      pages.append(place)
    case .showPlaceholder(let item):
      if item != engine.activeItem || shown?.item == item { problem("placeholder of \(item)") }
      shown = (item, false)
    case .showFrame(let item):
      if item != engine.activeItem || shown?.hasFrame == true { problem("frame of \(item)") }
      shown = (item, true)
    case .ready(let item): if items[item] == nil { problem("\(item) is ready, and nobody's") }
    case .evict(let key, let range): evict(key, range, action.reason, event, heldBefore)
    case .waitUntil(let time):
      if time <= now { problem("waits until \(time), which is past") }
      timer = time
    }
  }

  private mutating func fetch(_ transfer: PrefetchTransfer) {
    if engine.passesActive, transfer.priority != .ahead {
      problem("\(transfer) is loaded of an item that is passed")
    }
    if transfer.id <= lastTransfer { problem("transfer \(transfer.id) is not new") }
    lastTransfer = max(lastTransfer, transfer.id)
    if !isOnline || isInBackground { problem("loads with nobody there, or no network") }
    let item = items[transfer.item]
    // Of a file that was long out of the list, what an answer told is forgotten; what its page says is not.
    if transfer.end == nil, item?.media[transfer.media].files[transfer.variant].load.bytes == nil {
      knownBytes[transfer.key] = nil
    }
    let known = knownBytes[transfer.key]
    if transfer.end == nil, let known {
      problem("\(transfer.key) of \(known) bytes is asked for to its end")
    }
    if let end = transfer.end, known == nil, held[transfer.key].map({ !$0[end] }) ?? true,
      !running.values.contains(where: { $0.transfer.key == transfer.key && $0.next == end })
    {
      problem("\(transfer.key) of unknown size is asked for to \(end), where nothing is")
    }
    if evictedHere.contains(transfer.key), !isActive(transfer) {
      problem("\(transfer) was evicted just now")
    }
    let end = transfer.end ?? max(fileBytes[transfer.key] ?? 0, transfer.start)
    if transfer.end.map({ $0 > (known ?? .max) || $0 <= transfer.start }) == true {
      problem("\(transfer.start)..<\(end) is not within \(transfer.key) of \(known ?? -1)")
    }
    let overlapping = running.values.filter {
      $0.transfer.key == transfer.key
        && $0.next < (transfer.end ?? .max) && transfer.start < ($0.transfer.end ?? .max)
    }
    if !overlapping.isEmpty { problem("\(transfer) overlaps \(overlapping)") }
    let bits = held[transfer.key] ?? []
    if bits[min(transfer.start, bits.count)..<min(end, bits.count)].contains(true) {
      problem("\(transfer) asks for what is there")
    }
    if let expiry = item?.expiresAtMilliseconds, expiry <= now {
      problem("\(transfer.item) has expired")
    }
    if item?.media[transfer.media].files[transfer.variant].key != transfer.key {
      problem("\(transfer) names another file")
    }
    let loads = running.values.contains { !$0.isPaused && isActive($0.transfer) }
    if !isActive(transfer), mustLoadActive, !loads {
      problem("\(transfer) goes before what the person waits for")
    }
    running[transfer.id] = Running(transfer: transfer, next: transfer.start, end: end)
    if !isActive(transfer), engine.speculativeBytes > allowedBytes {
      problem("\(engine.speculativeBytes) bytes ahead, of \(allowedBytes)")
    }
  }

  private mutating func evict(
    _ key: String, _ range: Range<Int>, _ reason: PrefetchReason, _ event: PrefetchEvent,
    _ heldBefore: Int
  ) {
    var isAsked = false
    switch reason {
    case .memoryWarning: isAsked = event == .memoryWarned
    case .full: isAsked = heldBefore + 100_000 > engine.settings.heldBytes || rangesAreMany(key)
    case .files: isAsked = true
    case .gone: if case .bytesArrived(_, key, range) = event { isAsked = true }
    case .changed: if case .transferFailed(_, .changed) = event { isAsked = true }
    default: break
    }
    if !isAsked { problem("evicts \(key) because of \(reason)") }
    if case .full = reason, !rangesAreMany(key) { evictedHere.insert(key) }
    for byte in range where byte < held[key]?.count ?? 0 { held[key]?[byte] = false }
  }

  private func rangesAreMany(_ key: String) -> Bool {
    engine.held(key).count >= ByteRangeSet.rangeLimit
  }

  // MARK: What must be true after each event

  /// Whether something of the active item has to be under way.
  private var mustLoadActive: Bool {
    guard isOnline, !isInBackground, !engine.passesActive, let active = engine.activeItem,
      let item = items[active], !engine.isReady(active),
      item.expiresAtMilliseconds.map({ $0 > now }) ?? true
    else { return false }
    // None of its files has failed lately: then the engine waits.
    return !item.media.isEmpty
      && item.media.allSatisfy { media in
        media.files.allSatisfy { file in
          failures[file.key].map { now - $0 > engine.settings.retryLimitMilliseconds } ?? true
            && !gone.contains(file.key) && !isWhole(file.key)
        }
      }
  }

  private func isWhole(_ key: String) -> Bool {
    guard let known = knownBytes[key] else { return false }
    return held[key]?.prefix(known).allSatisfy { $0 } ?? (known == 0)
  }

  private mutating func check(_ event: PrefetchEvent) {
    if case .scrolled(let speed, _) = event {
      isFlung = abs(speed) >= engine.settings.flingMilliitemsPerSecond
    }
    if engine.passesActive, !isFlung { problem("the active item is passed by a person at rest") }
    let moving = running.values.filter { !$0.isPaused }
    if moving.count > engine.settings.parallelTransfers { problem("\(moving.count) run at once") }
    if running.count - moving.count > engine.settings.pausedTransfers {
      problem("\(running.count - moving.count) rest at once")
    }
    if !moving.isEmpty, !isOnline || isInBackground { problem("\(moving.count) run unseen") }
    if mustLoadActive, !moving.contains(where: { isActive($0.transfer) }) {
      problem("nothing loads \(engine.activeItem ?? ""), which the person waits for: \(event)")
    }
    if moving.contains(where: isSpeculative), engine.speculativeBytes > allowedBytes {
      problem("\(engine.speculativeBytes) bytes are ahead, of \(allowedBytes)")
    }
    for running in moving where event == .timerFired && engine.itemCount > 0 {
      // One item that has the file is still good.
      let isGood = items.values.contains { item in
        item.expiresAtMilliseconds.map { $0 > now } ?? true
          && item.media.contains { $0.files.contains { $0.key == running.transfer.key } }
      }
      if !isGood { problem("\(running.transfer) runs beyond its time") }
    }
  }

  /// What is held is what the engine takes to be held.
  mutating func checkHeld() {
    for (key, bits) in held {
      var ranges: [Range<Int>] = []
      for (byte, isHeld) in bits.enumerated() where isHeld {
        if let last = ranges.last, last.upperBound == byte {
          ranges[ranges.count - 1] = last.lowerBound..<byte + 1
        } else {
          ranges.append(byte..<byte + 1)
        }
      }
      if engine.held(key) != ranges {
        problem("\(key): the engine holds \(engine.held(key)), there is \(ranges)")
      }
    }
  }

  static func isSame(_ left: PrefetchPlace, _ right: PrefetchPlace) -> Bool {
    switch (left, right) {
    case (.anew, .anew), (.below, .below), (.above, .above), (.around, .around): true
    default: false
    }
  }
}
