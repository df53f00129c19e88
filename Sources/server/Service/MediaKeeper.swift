import Catalog
import CoreMetrics
import struct Feed.ByteText
import Logging
import MediaFiles
import MediaIndex
import MediaProbe
import Observability
import Reports
import RowStore
import Synchronization
import System

/// Analyzes the files of the media root, and again and again the new and changed ones, on a thread of low
/// priority.
///
/// Of several servers of a database, one does so at a time: the one that holds the lock
/// (`DatabaseStore.lockMedia`). A failure is logged and does not stop the service.
final class MediaKeeper: Sendable {
  /// The result for a file that was read.
  enum Outcome: String, CaseIterable, Sendable {
    case probed, recognized, failed
  }

  /// The kinds of files after a round.
  enum Kind: String, CaseIterable, Sendable {
    case known, broken, other, waiting
  }

  private struct State {
    var task: PeriodicTask?
    var lock: (any Sendable)?
    var isStopped = false
    var rounds = 0
    /// The time of the next round, by the monotonic clock in milliseconds.
    var roundAt: UInt64 = 0
    /// The number of failed rounds in a row.
    var failures = 0
    var problem: String?
    var files: [Kind: Int] = [:]
    var endedSecondsSince1970 = 0
    /// The remarks that were logged, so that each is logged once.
    var said: Set<String> = []
  }

  /// The number of rounds after which all files are looked up in the database again: another program may have
  /// changed their facts, as `media add` of another media root does.
  private static let roundsBetweenLookups = 60
  /// The interval between looks for broken promises (`PromiseRecord`), whose files are analyzed again.
  private static let promiseMilliseconds = 2_000
  /// The maximum number of broken promises at once.
  private static let promisesAtOnce = 64
  /// The maximum number of files whose problems a round logs; the others are counted.
  private static let saidAtOnce = 20
  private static let rememberedWords = 10_000
  /// The maximum pause after failed rounds, which grows with each failure, in intervals.
  private static let longestPauseIntervals = 32

  private let indexer: MediaIndexer
  private let settings: MediaProbing
  private let store: any DatabaseStore
  private let logger: Logger
  private let pace: MediaPace
  private let memory = MediaMemory()
  private let cancellation = Cancellation()
  private let state = Mutex(State())
  private let outcomes: [Outcome: Counter]

  /// `nil` if the settings disable it.
  init?(
    _ settings: MediaProbing, _ storage: MediaStorage, store: any DatabaseStore,
    logger: Logger, figures: PrometheusRegistry
  ) {
    guard settings.cpuPercent > 0 else { return nil }
    self.settings = settings
    self.logger = logger
    self.store = store
    pace = MediaPace(percent: settings.cpuPercent)
    var decoding = settings.decoding
    decoding.cancellation = cancellation
    var indexer = MediaIndexer(
      storage, addresses: .served, store: store,
      probe: MediaProbe(settings: decoding, tools: settings.tools), jobs: 1)
    indexer.pace = pace
    indexer.memory = memory
    indexer.settlingMilliseconds = settings.settlingMilliseconds
    indexer.believesEmptyFolders = false
    self.indexer = indexer
    outcomes = figures.counters(
      "lookahead_media_looks_total", help: "Media files that were read.", of: Outcome.self)
    register(in: figures)
  }

  private func register(in registry: PrometheusRegistry) {
    for kind in Kind.allCases {
      registry.gauge(
        "lookahead_media_files", [("state", kind.rawValue)],
        help: "Files of the media root in the last scan; other: not media files."
      ) { self.state.withLock { $0.files[kind] ?? 0 } }
    }
    registry.gauge(
      "lookahead_media_round_timestamp_seconds",
      help:
        "Time of the last scan of all media files by this server; 0: never, another server may "
        + "scan."
    ) { self.state.withLock { $0.endedSecondsSince1970 } }
    registry.total(
      "lookahead_media_processor_seconds_total",
      help: "Processor time of probing media files, decoders included."
    ) { self.pace.usedNanoseconds / 1_000_000_000 }
  }

  /// Starts.
  ///
  /// - Throws: `SystemError` if the system has no thread.
  func start() throws(SystemError) {
    if settings.tools.ffmpeg == nil {
      logger.notice(
        """
        ffmpeg is not installed: media files are probed for size, type and structure, but not \
        decoded, and have no placeholders
        """)
    }
    let task = PeriodicTask(
      scheduling: .background, firstPauseMilliseconds: { 0 }, { [self] in look() })
    state.withLock { $0.task = task }
    try task.start()
  }

  /// Cancels what is running, including decoders, and returns when nothing is.
  func stop() {
    cancellation.cancel()
    pace.stop()
    let task = state.withLock { state in
      state.isStopped = true
      defer { state.task = nil }
      return state.task
    }
    task?.stop()
    state.withLock { $0.lock = nil }
  }

  /// Analyzes files with broken promises, and starts a round through all files if one is due. Returns the
  /// milliseconds until the next look.
  private func look() -> Int {
    let now = MonotonicClock.milliseconds
    let wait = state.withLock { $0.roundAt > now ? Int($0.roundAt - now) : 0 }
    guard wait == 0 else {
      do {
        if state.withLock({ $0.lock != nil }) { try lookAgain() }
      } catch {
        if !pace.isStopped { logger.error("cannot probe media files again: \(error)") }
      }
      return min(wait, Self.promiseMilliseconds)
    }
    let pause = lookAtAll()
    state.withLock { $0.roundAt = MonotonicClock.milliseconds + UInt64(max(0, pause)) }
    return min(pause, Self.promiseMilliseconds)
  }

  /// Analyzes files again for which clients report that the known start is wrong, even if they look
  /// unchanged. Pages have the new facts from then on.
  private func lookAgain() throws {
    let keys = try store.promises(.broken, limit: Self.promisesAtOnce)
    guard !keys.isEmpty else { return }
    let urls = Set(keys.map { ByteText($0.url) }).sorted()
    let targets = urls.compactMap { MediaAddresses.served.segments(of: $0.text) }
      .map { MediaTarget.file($0) }
    var anew = indexer
    anew.isAnew = true
    anew.memory = nil
    let addition = try anew.run(
      targets, onRemark: { logger.warning("media file \($0)") }, onProgress: { _ in })
    // A file that is being written waits until it is complete.
    guard !pace.isStopped, addition.waiting == 0 else { return }
    try store.note(.confirmed, of: keys)
    logger.notice(
      "probed again media files whose starts did not show the first frame in time",
      metadata: [
        "files": .stringConvertible(urls.count), "probed": .stringConvertible(addition.probed),
        "failed": .stringConvertible(addition.failed),
      ])
  }

  /// Makes a round through all files. Returns the milliseconds until the next one.
  private func lookAtAll() -> Int {
    let interval = settings.intervalSeconds * 1_000
    do {
      guard try hasLock() else { return interval }
      let waits = try round()
      state.withLock { state in
        state.failures = 0
        state.problem = nil
      }
      // Files that are being written are read when they may be complete.
      return waits ? min(interval, max(settings.settlingMilliseconds, 100)) : interval
    } catch {
      // Facts that were not written are unknown.
      memory.forgetAll()
      guard !pace.isStopped else { return interval }
      let problem = "\(error)"
      let (isKnown, failures) = state.withLock { state in
        defer {
          state.problem = problem
          state.failures += 1
        }
        return (state.problem == problem, state.failures)
      }
      if !isKnown { logger.error("cannot probe media files: \(problem)") }
      return interval * min(1 << min(failures, 10), Self.longestPauseIntervals)
    }
  }

  private func hasLock() throws -> Bool {
    if state.withLock({ $0.lock != nil }) { return true }
    guard let lock = try store.lockMedia() else { return false }
    state.withLock { $0.lock = lock }
    return true
  }

  /// - Returns: whether files wait.
  private func round() throws -> Bool {
    let rounds = state.withLock { state in
      state.rounds += 1
      return state.rounds
    }
    if rounds % Self.roundsBetweenLookups == 0 { memory.forgetAllButFailures() }
    var words = Words(limit: Self.saidAtOnce)
    let all = try run([.folder([])], &words)
    // An empty root may be an absent mount: its files are then not taken for missing.
    let named =
      all.files + all.waiting > 0 ? try run([.namedByPosts], &words) : MediaAddition()
    guard !pace.isStopped else { return false }
    if words.passedOver > 0 {
      logger.warning("media files: \(words.passedOver) more are broken or missing")
    }
    state.withLock { state in
      state.files = [
        .known: all.probed + all.recognized + all.unchanged, .broken: all.failed,
        .other: all.passedOver, .waiting: all.waiting,
      ]
      state.endedSecondsSince1970 = WallClock.secondsSince1970
    }
    let (probed, recognized) = (all.probed + named.probed, all.recognized + named.recognized)
    if probed + recognized + all.forgotten + named.forgotten > 0 {
      logger.notice(
        "media files probed",
        metadata: [
          "probed": .stringConvertible(probed), "recognized": .stringConvertible(recognized),
          "forgotten": .stringConvertible(all.forgotten + named.forgotten),
          "known": .stringConvertible(all.probed + all.recognized + all.unchanged),
        ])
    }
    return all.waiting + named.waiting > 0
  }

  /// The number of remarks that a round may still log, and the number of omitted ones.
  private struct Words {
    var limit: Int
    var passedOver = 0
  }

  private func run(_ targets: [MediaTarget], _ words: inout Words) throws -> MediaAddition {
    var counted = MediaAddition()
    let addition = try indexer.run(
      targets, onRemark: { remark in say(remark, &words) },
      onProgress: { progress in
        count(progress, since: counted)
        counted = progress
      })
    count(addition, since: counted)
    return addition
  }

  private func count(_ progress: MediaAddition, since last: MediaAddition) {
    outcomes[.probed]?.increment(by: progress.probed - last.probed)
    outcomes[.recognized]?.increment(by: progress.recognized - last.recognized)
  }

  private func say(_ remark: MediaRemark, _ words: inout Words) {
    let text = remark.description
    let isNew = state.withLock { state in
      if state.said.count >= Self.rememberedWords { state.said = [] }
      return state.said.insert(text).inserted
    }
    guard isNew else { return }
    if case .problem = remark { outcomes[.failed]?.increment() }
    guard words.limit > 0 else {
      if case .problem = remark { words.passedOver += 1 }
      return
    }
    words.limit -= 1
    switch remark {
    case .problem: logger.warning("media file \(text)")
    case .note, .plan: logger.info("media file \(text)")
    }
  }
}

/// Settings for analyzing the files of a media root.
package struct MediaProbing: Sendable, Hashable {
  /// The share of one processor for that, in percent; 0 disables it.
  package var cpuPercent = 25
  /// The time from one round through all files to the next.
  package var intervalSeconds = 60
  /// The time since its last change for which a file waits, as a program may still be writing it.
  package var settlingMilliseconds = 5_000
  /// The limits of decoding a file.
  package var decoding = ProbeSettings()
  /// The programs that decode.
  package var tools = MediaTools.installed()

  /// Creates the defaults.
  package init() {}
}

extension MediaProbing {
  /// Numbers that an operator can set for media files.
  package static let numbers: [SettableNumber<Self>] = [
    .init(
      "media-probe-cpu-percent", 0...100, \.cpuPercent,
      "Share of one processor for probing new media files; 0 probes none."),
    .init(
      "media-probe-interval-seconds", 1...Most.daySeconds, \.intervalSeconds,
      "Interval at which the media root is scanned for new and changed files."),
  ]
}
