import Catalog
import CoreMetrics
import struct Feed.ByteText
import Logging
import Observability
import Reports
import Sockets
import Synchronization
import System

/// Settings and limits of reports.
package struct ReportSettings: Sendable {
  /// The clients whose reports the server accepts.
  package enum Taken: String, CaseIterable, Sendable {
    /// All clients.
    case on
    /// Clients that received a page of the feed.
    case signed
    /// No clients.
    case off
  }

  /// The clients whose reports the server accepts.
  package var taken = Taken.on
  /// The keys of the tokens that pages hand out: the first key signs, all keys verify. Without a key there
  /// are no tokens, and `signed` accepts no reports.
  package var keys: [[UInt8]] = []
  /// The time for which a token is valid.
  package var tokenSeconds = 86_400
  /// The maximum size of a request with parts.
  package var bytes = 65_536
  /// The maximum reports of an address in a minute; 0 for no limit.
  package var perMinute = 600
  /// The maximum weight, in items, of what a session reports in an hour.
  package var sessionItems = 3_600
  /// The maximum number of parts that wait to be written.
  package var queue = 65_536
  /// The interval between writes.
  package var flushMilliseconds = 1_000
  /// The number of parts that are remembered, so that a repeated part is not counted again.
  package var remembered = 2_000_000
  /// The maximum number of cells of an hour.
  package var cells = 1_000
  /// The number of days for which cells are kept.
  package var days = 30
  /// The minimum number of sessions for a result to be shown.
  package var leastSessions = 50
  /// The rates by which the bill of bytes that were never seen is calculated.
  package var rates = Bill.Rates()
  /// The maximum number of waiting items with details in parts; those beyond are skipped.
  package var queuedItems = 262_144
  /// The maximum number of different items that are looked up for each write; those beyond are skipped.
  package var lookups = 2_000
  /// The maximum reports of an address about an item in an hour; 0 for no limit.
  package var addressViews = 100
  /// The limits of what is learned of watching.
  package var watching = WatchLimits()
  /// The minimum time between changes of pages because of learned watch times.
  package var publishSeconds = 600
  /// The number of views from which an item's curve is made from its own views alone.
  package var leastViews = 200
  /// The maximum time of a decoder for a first frame.
  package var decoderMilliseconds = 500
  /// Number of sessions of a thousand that are asked to share a recording; 0 asks none.
  package var recordPermille = 0
  /// The folder of recordings; `nil` for none.
  package var recordFolder: String?
  /// The maximum bytes in that folder.
  package var recordBytes = 64 << 20

  /// Creates the defaults.
  package init() {}

  /// The number of sessions of a thousand that pages ask for a recording.
  var sharedPermille: Int { taken == .off || recordFolder == nil ? 0 : recordPermille }
}

extension ReportSettings {
  /// The numbers that an operator can set for reports.
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

/// Adds up what clients report, and writes it to the store every second.
///
/// Theory of operation. The event loop checks and counts a part, and appends it to a bounded list. The
/// collector's own thread takes the list and adds it to the store in one transaction, together with hashes of
/// the parts: `ReportMemory` knows those, so that a repeated part is counted once, whichever server had it
/// and whether or not that server was killed since. A killed process loses what is only in memory, at most
/// the parts of one flush. A list that could not be written stays while there is room; then clients are told
/// to come again.
///
/// Nothing of an address or a session is written. In memory, hashes of both are kept for an hour: of an
/// address, to know how many sessions of a cell it began; of a session, to bound what it adds.
final class ReportCollector: Sendable {
  /// A part that is not yet written, and what it reports about items that are still to be looked up.
  private struct Waiting {
    var part: CountedPart
    let seen: [SeenItem]
  }

  private struct State {
    var waiting: [Waiting] = []
    /// The parts that are being written.
    var written: [Waiting] = []
    /// The number of items of both.
    var queuedItems = 0
    /// The fingerprints of both.
    var fingerprints: Set<UInt64> = []
    var memory: ReportMemory
    var shares = AddressShares()
    var sessions = SessionWeights()
    var items = ItemShares()
    var hour: Int
    /// The hour in which old reports were last deleted, or the process began.
    var droppedHour: Int
    /// Whether the memory has what was counted before this process.
    var isLoaded = false
  }

  /// The result for a part.
  enum Outcome: String, CaseIterable {
    case counted, repeated
  }

  /// The result for an item with details in a part.
  enum ItemOutcome: String, CaseIterable {
    case counted, passedOver
  }

  /// The store's interfaces that the collector needs.
  typealias Store = FeedStore & MediaStore & ReportStore

  let settings: ReportSettings
  /// Learns watch times.
  let learner: WatchLearner
  /// The recordings that sessions share; `nil` if no session is asked to.
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

  /// A part, and the cell in which it is counted.
  struct Entry {
    let fingerprint: UInt64
    /// A hash of the session.
    let session: Int
    /// The session's own name.
    let sessionName: ByteText
    let key: ReportCellKey
    let cell: ReportCell
    /// The items about which it has details.
    var seen: [SeenItem] = []
    /// The recording that the session shares.
    var log: [UInt8]?
  }

  /// Counts parts, all of them or none; skips those that were counted before.
  ///
  /// - Parameter address: a hash of the client's address.
  /// - Throws: `Problem` 429 if a session adds more than its limit, 503 if too much waits.
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

  /// Writes what waits, applies what other servers wrote, and deletes old reports once an hour. For one
  /// thread.
  func flush() {
    recordings?.flush()
    write()
    drop()
    do {
      try learner.publishIfDue(at: hour())
    } catch {
      // Pages stay as they are.
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

  /// The parts with what they report about items: how users watched clips, and which promises were kept.
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

  /// Withdraws the hints of files whose promises were broken: `MediaKeeper` analyzes these files again.
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

  /// Loads what was counted before, once.
  ///
  /// - Returns: whether it is loaded.
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

/// The number of sessions of a cell that began at an address, while there is room.
private struct AddressShares {
  private struct Place: Hashable {
    let key: ReportCellKey
    let address: Int
  }

  private var sessions: [Place: Int] = [:]
  private var most: [ReportCellKey: Int] = [:]

  /// The maximum number of places: sessions beyond are not counted.
  private static let limit = 100_000

  /// Counts a session.
  ///
  /// - Returns: the growth of the greatest number of sessions of an address: 0 or 1.
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

/// The weights of what sessions have reported in this hour, while there is room.
private struct SessionWeights {
  private var weights: [Int: Int] = [:]

  /// The maximum number of sessions: those beyond are not bounded.
  private static let limit = 200_000
  /// The number of bytes with the weight of an item.
  private static let itemBytes = 10_000_000
  /// The number of requests with the weight of an item.
  private static let itemRequests = 10

  /// The weight of a part, in items: the greatest of its numbers; 1 for a part without anything.
  private static func weight(_ figures: ReportFigures) -> Int {
    max(
      1, figures.items, figures.loaders.total, figures.stalls, figures.bytes.total / itemBytes,
      (figures.requests + figures.plans) / itemRequests)
  }

  /// Adds the weights of the entries, or nothing if a session would exceed its limit.
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
