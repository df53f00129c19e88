import Catalog
import CoreMetrics
import struct Feed.ByteText
import Logging
import Observability
import Reports
import Sockets
import Synchronization
import System

/// What limits reports.
package struct ReportSettings: Sendable {
  /// Of whom reports are taken.
  package enum Taken: String, CaseIterable, Sendable {
    /// Of all clients.
    case on
    /// Of clients that were given a page of the feed.
    case signed
    /// Of none.
    case off
  }

  /// Of whom reports are taken.
  package var taken = Taken.on
  /// By which tokens are signed that pages hand out: the first one signs, all are taken. Without one there are none,
  /// and `signed` takes nothing.
  package var keys: [[UInt8]] = []
  /// How long a token holds.
  package var tokenSeconds = 86_400
  /// How large a request with parts may be.
  package var bytes = 65_536
  /// How often a minute an address may report; 0 does not count.
  package var perMinute = 600
  /// As how many items what a session reports in an hour weighs at the most.
  package var sessionItems = 3_600
  /// How many parts wait to be written at the most.
  package var queue = 65_536
  /// How often they are written.
  package var flushMilliseconds = 1_000
  /// How many parts are remembered, so that one that comes again is not counted again.
  package var remembered = 2_000_000
  /// How many cells an hour has.
  package var cells = 1_000
  /// How many days cells are kept.
  package var days = 30
  /// Of fewer sessions nothing is shown.
  package var leastSessions = 50
  /// What the bill of bytes that were never seen is made out by.
  package var rates = Bill.Rates()
  /// How many items that parts tell more of wait to be written at the most; those beyond are passed over.
  package var queuedItems = 262_144
  /// How many different items are looked up for each write; those beyond are passed over.
  package var lookups = 2_000
  /// How often an hour an address tells of an item; 0 does not count.
  package var addressViews = 100
  /// How much of items is told apart.
  package var watching = WatchLimits()
  /// How often pages may change for what was learned of watching.
  package var publishSeconds = 600
  /// The views from which on an item's curve is made of its own views alone.
  package var leastViews = 200
  /// How long a decoder takes at the most for a first frame.
  package var decoderMilliseconds = 500
  /// Number of sessions of a thousand that are asked to share a recording; 0 asks none.
  package var recordPermille = 0
  /// Where that is kept.
  package var recordFolder: String?
  /// How many bytes that folder may hold.
  package var recordBytes = 64 << 20

  /// The defaults.
  package init() {}

  /// Of a thousand sessions, how many pages ask.
  var sharedPermille: Int { taken == .off || recordFolder == nil ? 0 : recordPermille }
}

extension ReportSettings {
  /// What an operator can set: reports.
  package static let numbers: [SettableNumber<Self>] = [
    .init(
      "report-token-seconds", 1...Most.tenYearsSeconds, \.tokenSeconds,
      "Time for which a page's token for reports is valid."),
    .init(
      "report-bytes", 256...(1 << 20), \.bytes,
      "Maximum length of a request with reports; a longer one gets 413."),
    .init(
      "reports-per-minute", 0...1_000_000, \.perMinute,
      "Maximum requests with reports a minute for each client address; 0 sets no limit."),
    .init(
      "report-session-items", 1...1_000_000, \.sessionItems,
      "Maximum weight, in items, of what a session reports in an hour; more gets 429."),
    .init(
      "report-queue", 1...1_000_000, \.queue,
      "Maximum number of reports that wait to be written; one more gets 503."),
    .init(
      "report-flush-milliseconds", 1...Most.dayMilliseconds, \.flushMilliseconds,
      "Interval at which reports are written."),
    .init(
      "remembered-reports", 0...100_000_000, \.remembered,
      "Number of counted reports to remember, so that repeats do not count."),
    .init(
      "report-cells", 1...100_000, \.cells,
      "Maximum number of kinds of sessions in an hour."),
    .init("report-days", 1...3_650, \.days, "Number of days for which reports are kept."),
    .init(
      "report-least-sessions", 1...1_000_000, \.leastSessions,
      "Minimum number of sessions for a group to be shown."),
    .init(
      "gigabyte-cents", 0...1_000_000, \.rates.gigabyteCents,
      "Price of a gigabyte in cents, for the bill."),
    .init(
      "month-sessions", 1...100_000, \.rates.monthSessions,
      "Sessions that a person has in a month, for the bill."),
    .init(
      "report-queue-items", 0...10_000_000, \.queuedItems,
      "Maximum number of items of reports that wait to be written; more are skipped."),
    .init(
      "report-lookups", 0...100_000, \.lookups,
      "Maximum number of items that are looked up each time reports are written."),
    .init(
      "report-address-views", 0...1_000_000, \.addressViews,
      "Maximum views of an item an hour from each client address; 0 sets no limit."),
    .init(
      "report-items", 0...10_000_000, \.watching.items,
      "Maximum number of items whose watch times are learned."),
    .init(
      "report-promises", 0...10_000_000, \.watching.promises,
      "Maximum number of promises in the ledger: a file's version on a network each."),
    .init(
      "report-halving-hours", 1...87_600, \.watching.halvingHours,
      "Number of hours in which the weight of a view halves."),
    .init(
      "report-publish-seconds", 1...Most.daySeconds, \.publishSeconds,
      "Minimum interval at which learned watch times change pages."),
    .init(
      "report-least-views", 1...1_000_000, \.leastViews,
      "Number of views from which an item's own curve is used alone."),
    .init(
      "decoder-milliseconds", 1...60_000, \.decoderMilliseconds,
      "Time for a decoder to show a first frame; a later one breaks its promise."),
    .init(
      "record-share", 0...1_000, \.recordPermille,
      "Number of sessions of a thousand that are asked to share a recording; 0 asks none."),
    .init(
      "record-bytes", (1 << 20)...Most.tebibyte, \.recordBytes,
      "Maximum size of --record-folder; beyond it, the oldest sessions are deleted."),
  ]
}

/// Adds up what clients report, and has the store write it every second.
///
/// Theory of operation. A part is checked and counted on the event loop, into a list that is bounded. A thread of the
/// collector's own takes the list and has the store add it in one transaction, together with hashes of the parts:
/// `ReportMemory` knows those, so that a part that comes again is counted once, whichever server had it and whether or
/// not that server was killed since. What is in memory alone, at most the parts of one flush, is lost with a killed
/// process. A list that could not be written stays, as long as there is room; then clients are told to come again.
///
/// Nothing of an address or a session is written. In memory, hashes of both are kept for an hour: of an address, to
/// know how many sessions of a cell it began; of a session, to bound what it adds.
final class ReportCollector: Sendable {
  /// A part that is not written yet, and what it says of items that are still to be looked up.
  private struct Waiting {
    var part: CountedPart
    let seen: [SeenItem]
  }

  private struct State {
    var waiting: [Waiting] = []
    /// Being written.
    var written: [Waiting] = []
    /// Items of both.
    var queuedItems = 0
    /// Those of both.
    var fingerprints: Set<UInt64> = []
    var memory: ReportMemory
    var shares = AddressShares()
    var sessions = SessionWeights()
    var items = ItemShares()
    var hour: Int
    /// When old reports were deleted, or the process began.
    var droppedHour: Int
    /// What was counted before this process is in the memory.
    var isLoaded = false
  }

  /// What became of a part.
  enum Outcome: String, CaseIterable {
    case counted, repeated
  }

  /// What became of an item that a part told more of.
  enum ItemOutcome: String, CaseIterable {
    case counted, passedOver
  }

  /// All that is asked of a store.
  typealias Store = FeedStore & MediaStore & ReportStore

  let settings: ReportSettings
  /// What was learned of how long people watch.
  let learner: WatchLearner
  /// What sessions share; nil where none is asked to.
  let recordings: SessionRecordings?
  private let store: any Store
  private let state: Mutex<State>
  private let hour: @Sendable () -> Int
  private let logger: Logger
  private let counters: [Outcome: Counter]
  private let itemCounters: [ItemOutcome: Counter]
  private let broken: Counter
  private let writes: Counter
  private let failures: Counter
  private let sessions: Counter
  private let items: Counter
  private let loaders: [Counter]
  private let bytes: [Counter]
  private let isFailing = Atomic(false)

  /// - Parameter hour: a clock in hours since 1970.
  init(
    _ store: any Store, _ settings: ReportSettings, _ registry: PrometheusRegistry,
    _ logger: Logger, hour: @escaping @Sendable () -> Int = { WallClock.secondsSince1970 / 3600 }
  ) {
    (self.store, self.settings, self.logger, self.hour) = (store, settings, logger, hour)
    learner = WatchLearner(store, settings)
    recordings = SessionRecordings(settings, registry, logger)
    let now = hour()
    state = Mutex(
      State(memory: ReportMemory(limit: settings.remembered), hour: now, droppedHour: now))
    counters = registry.counters(
      "lookahead_reports_total", help: "Parts that clients reported.", of: Outcome.self)
    itemCounters = registry.counters(
      "lookahead_report_items_total",
      help:
        "Items with details in parts; passedOver: too many to look up, or repeated too often.",
      of: ItemOutcome.self)
    registry.describe(
      "lookahead_broken_promises_total",
      help: "Files whose start was withdrawn because it did not show the first frame in time.")
    broken = Counter(label: "lookahead_broken_promises_total", factory: registry)
    registry.describe(
      "lookahead_report_writes_total", help: "Writes of reports.")
    registry.describe("lookahead_report_failures_total", help: "Failed writes of reports.")
    writes = Counter(label: "lookahead_report_writes_total", factory: registry)
    failures = Counter(label: "lookahead_report_failures_total", factory: registry)
    let (itemName, loaderName, byteName) = (
      "lookahead_reported_items_total", "lookahead_reported_loaders_total",
      "lookahead_reported_bytes_total"
    )
    let sessionName = "lookahead_reported_sessions_total"
    registry.describe(sessionName, help: "Started sessions, as clients reported.")
    sessions = Counter(label: sessionName, factory: registry)
    registry.describe(itemName, help: "Viewed items, as clients reported.")
    registry.describe(loaderName, help: "Shown loaders, as clients reported.")
    registry.describe(byteName, help: "Loaded bytes by their use, as clients reported.")
    items = Counter(label: itemName, factory: registry)
    loaders = LoaderKind.allCases.map {
      Counter(label: loaderName, dimensions: [("kind", "\($0.name)")], factory: registry)
    }
    bytes = ByteFate.allCases.map {
      Counter(label: byteName, dimensions: [("fate", "\($0.name)")], factory: registry)
    }
  }

  func register(in registry: PrometheusRegistry) {
    registry.gauge(
      "lookahead_reports_waiting", help: "Reported parts that are not written yet."
    ) { [self] in state.withLock { $0.waiting.count + $0.written.count } }
    registry.gauge(
      "lookahead_gigabyte_cents", help: "Price of a gigabyte in cents, for the bill."
    ) { [self] in settings.rates.gigabyteCents }
    registry.gauge(
      "lookahead_reports_remembered", help: "Counted parts that are remembered, to skip repeats."
    ) { [self] in state.withLock { $0.memory.count } }
  }

  /// A part, and where it is counted.
  struct Entry {
    let fingerprint: UInt64
    /// A hash of the session.
    let session: Int
    /// What the session calls itself.
    let sessionName: ByteText
    let key: ReportCellKey
    let cell: ReportCell
    /// The items that it tells more of.
    var seen: [SeenItem] = []
    /// What the session shares.
    var log: [UInt8]?
  }

  /// Counts parts, all of them or none; those that were counted before are passed over.
  ///
  /// - Parameter address: a hash of the client's address.
  /// - Throws: `Problem` 429 where a session adds more than a session can, 503 where too much waits.
  func count(_ entries: [Entry], from address: Int) throws(Problem) {
    let hour = hour()
    var (repeated, passedOver) = (0, 0)
    var counted = ReportFigures()
    var begun = 0
    var shared: [[UInt8]] = []
    let problem = state.withLock { state -> Problem? in
      if state.hour != hour {
        state.hour = hour
        state.shares = AddressShares()
        state.sessions = SessionWeights()
        state.items = ItemShares()
        state.memory.forget(before: hour - ReportMemory.hours)
      }
      var new: [Entry] = []
      var seen: Set<UInt64> = []
      for entry in entries {
        if state.fingerprints.contains(entry.fingerprint)
          || state.memory.contains(entry.fingerprint) || !seen.insert(entry.fingerprint).inserted
        {
          repeated += 1
        } else {
          new.append(entry)
        }
      }
      guard state.waiting.count + state.written.count + new.count <= settings.queue else {
        return Problem(.overloaded, .serviceUnavailable, "Too many reports wait to be written.")
      }
      guard state.sessions.admit(new, limit: settings.sessionItems) else {
        var problem = Problem(
          .tooManyRequests, .tooManyRequests,
          "The session reports more in an hour than the weight of \(settings.sessionItems) items.")
        problem.retryAfterSeconds = 3_600
        return problem
      }
      for entry in new {
        var part = CountedPart(
          fingerprint: entry.fingerprint, key: entry.key, cell: entry.cell)
        if part.cell.sessions > 0 {
          part.cell.sessionsOfOneAddress = state.shares.note(address, in: entry.key)
        }
        counted.add(part.cell.figures)
        begun += part.cell.sessions
        state.fingerprints.insert(part.fingerprint)
        let room = settings.queuedItems - state.queuedItems
        let seen = entry.seen.prefix(max(0, room)).filter {
          state.items.admit(
            $0.id, session: entry.session, address: address, addressLimit: settings.addressViews)
        }
        state.queuedItems += seen.count
        passedOver += entry.seen.count - seen.count
        state.waiting.append(Waiting(part: part, seen: seen))
        if let log = entry.log { shared.append(log) }
      }
      return nil
    }
    if let problem { throw problem }
    itemCounters[.passedOver]?.increment(by: passedOver)
    counters[.repeated]?.increment(by: repeated)
    counters[.counted]?.increment(by: entries.count - repeated)
    for log in shared { recordings?.take(log) }
    sessions.increment(by: begun)
    items.increment(by: counted.items)
    for (counter, count) in zip(loaders, counted.loaders.counts) { counter.increment(by: count) }
    for (counter, count) in zip(bytes, counted.bytes.counts) { counter.increment(by: count) }
  }

  /// Writes what waits, takes in what other servers wrote, and deletes what is too old once an hour. For one thread.
  func flush() {
    recordings?.flush()
    write()
    drop()
    do {
      try learner.publishIfDue(at: hour())
    } catch {
      // Pages go on as they are.
      logger.warning("cannot publish learned watch times: \(error)")
    }
  }

  private func write() {
    guard state.withLock({ !$0.waiting.isEmpty }), load() else { return }
    let hour = hour()
    let (parts, last, oldest) = state.withLock { state in
      // What another server counted meanwhile is left out here, or by the store.
      state.written = state.waiting.filter { !state.memory.contains($0.part.fingerprint) }
      state.waiting = []
      return (state.written, state.memory.lastBatch, state.memory.oldestBatch)
    }
    guard !parts.isEmpty else { return }
    do {
      let counted = try lookUp(parts)
      let batches = try store.add(
        counted, at: hour, after: last, forgettingBefore: oldest, cellsPerHour: settings.cells,
        of: settings.watching)
      state.withLock { state in
        for batch in batches { state.memory.take(batch) }
        state.written = []
        state.fingerprints = Set(state.waiting.lazy.map(\.part.fingerprint))
        state.queuedItems = state.waiting.reduce(0) { $0 + $1.seen.count }
      }
      itemCounters[.counted]?.increment(by: counted.reduce(0) { $0 + $1.views.count })
      test(Set(counted.flatMap(\.promises.keys)))
      writes.increment()
      if isFailing.exchange(false, ordering: .relaxed) {
        logger.notice("reports are written again")
      }
    } catch {
      state.withLock { state in
        state.waiting = state.written + state.waiting
        state.written = []
      }
      note(error)
    }
  }

  /// The parts with what they say of items: how clips were watched, and which promises held.
  ///
  /// - Throws: what the store throws.
  private func lookUp(_ parts: [Waiting]) throws -> [CountedPart] {
    var known: [ByteText: SeenFacts?] = [:]
    var passedOver = 0
    func facts(_ id: String) throws -> SeenFacts? {
      if let facts = known[ByteText(id)] { return facts }
      guard known.count < settings.lookups else {
        passedOver += 1
        return nil
      }
      let facts = try store.item(withID: id).flatMap { SeenFacts($0) }
      known[ByteText(id)] = .some(facts)
      return facts
    }
    let counted = try parts.map { waiting in
      var part = waiting.part
      let tellsFrames = waiting.seen.contains { $0.frameMilliseconds != nil }
      for seen in waiting.seen {
        guard let facts = try facts(seen.id) else { continue }
        if let view = facts.view(seen) { part.views.append(view) }
        let promise = facts.promise(
          seen, on: part.key.network, tellsFrames: tellsFrames,
          decoderMilliseconds: settings.decoderMilliseconds)
        guard let (key, isKept) = promise else { continue }
        part.promises[key, default: PromiseCounts()].add(
          isKept ? PromiseCounts(kept: 1) : PromiseCounts(late: 1))
      }
      return part
    }
    itemCounters[.passedOver]?.increment(by: passedOver)
    return counted
  }

  /// Withdraws the hints of files whose promises broke: they are looked into again (`MediaKeeper`).
  private func test(_ keys: Set<PromiseKey>) {
    guard !keys.isEmpty else { return }
    do {
      let keys = keys.sorted(by: PromiseKey.precedes)
      let networks = Set(keys.map { ByteText($0.network) }).sorted()
      let all = zip(networks, try store.promises(networks.map { .all(network: $0.text) }))
      let pools = Dictionary(uniqueKeysWithValues: all.map { ($0, $1?.all ?? PromiseCounts()) })
      let found = zip(keys, try store.promises(keys)).filter { key, record in
        record?.isBroken(
          beside: pools[key.network] ?? PromiseCounts(), least: settings.leastSessions) == true
      }
      guard !found.isEmpty else { return }
      try store.note(.broken, of: found.map(\.0))
      try store.forget(Set(found.map { ByteText($0.0.url) }).sorted().map(\.text))
      broken.increment(by: found.count)
      for case (let key, let record?) in found {
        logger.warning(
          "withdrew a file's start: it does not show the first frame in time",
          metadata: [
            "url": .string(key.url), "version": .string(key.version),
            "network": .string(key.network), "late": .stringConvertible(record.recent.late),
            "of": .stringConvertible(record.recent.total),
          ])
      }
    } catch {
      note(error)
    }
  }

  /// Takes in what was counted before, once.
  ///
  /// - Returns: whether it is known.
  private func load() -> Bool {
    if state.withLock({ $0.isLoaded }) { return true }
    do {
      let batches = try store.reportBatches()
      state.withLock { state in
        for batch in batches { state.memory.take(batch) }
        state.isLoaded = true
      }
      return true
    } catch {
      note(error)
      return false
    }
  }

  private func note(_ error: any Error) {
    failures.increment()
    if !isFailing.exchange(true, ordering: .relaxed) {
      logger.error("cannot write reports: \(error)")
    }
  }

  private func drop() {
    let hour = hour()
    let isDue = state.withLock { state in
      defer { state.droppedHour = hour }
      return state.droppedHour != hour
    }
    guard isDue else { return }
    do {
      try store.dropReports(
        before: hour - settings.days * 24, fingerprintsBefore: hour - ReportMemory.hours,
        of: settings.watching)
    } catch {
      logger.error("cannot delete old reports: \(error)")
    }
  }
}

/// How many sessions of a cell began at an address, as far as there is room.
private struct AddressShares {
  private struct Place: Hashable {
    let key: ReportCellKey
    let address: Int
  }

  private var sessions: [Place: Int] = [:]
  private var most: [ReportCellKey: Int] = [:]

  /// How many places are kept: sessions beyond count for none.
  private static let limit = 100_000

  /// Notes a session.
  ///
  /// - Returns: by how much the greatest number of sessions of an address has grown: 0 or 1.
  mutating func note(_ address: Int, in key: ReportCellKey) -> Int {
    let place = Place(key: key, address: address)
    guard sessions[place] != nil || sessions.count < Self.limit else { return 0 }
    let count = sessions[place, default: 0] + 1
    sessions[place] = count
    guard count > most[key, default: 0] else { return 0 }
    most[key] = count
    return 1
  }
}

/// What sessions have reported in this hour, as far as there is room.
private struct SessionWeights {
  private var weights: [Int: Int] = [:]

  /// How many sessions are kept: those beyond are not bounded.
  private static let limit = 200_000
  /// Bytes that weigh as an item.
  private static let itemBytes = 10_000_000
  /// Requests that weigh as an item.
  private static let itemRequests = 10

  /// As how many items a part weighs: whatever it has most of. A part without anything weighs as one.
  private static func weight(_ figures: ReportFigures) -> Int {
    max(
      1, figures.items, figures.loaders.total, figures.stalls, figures.bytes.total / itemBytes,
      (figures.requests + figures.plans) / itemRequests)
  }

  /// Counts what entries weigh, or nothing where a session has too much.
  mutating func admit(_ entries: [ReportCollector.Entry], limit: Int) -> Bool {
    var added: [Int: Int] = [:]
    for entry in entries {
      added[entry.session, default: 0] += Self.weight(entry.cell.figures)
    }
    guard added.allSatisfy({ weights[$0, default: 0] + $1 <= limit }) else { return false }
    for (session, weight) in added
    where weights[session] != nil || weights.count < Self.limit {
      weights[session, default: 0] += weight
    }
    return true
  }
}
