import Catalog
import CoreMetrics
import Experiments
import Feed
import FeedServer
import Logging
import Observability
import RowStore
import Synchronization
import System

/// Searches for better policies at night, in the lab: on the one server of a database that holds the lease,
/// for one part of a feed after another.
///
/// The lab runs in a process of its own, `lookahead tune`, which reads the database and writes nothing: it
/// has low priority and limits of time and memory, and ends with the server, or when the lease is lost. The
/// holder of the lease writes its result in one transaction, and only if no other step was taken on the same
/// sessions meanwhile. So a killed run leaves nothing but a line in the log.
final class TuneKeeper: Sendable {
  /// The result of a run.
  enum Outcome: String, CaseIterable, Sendable {
    case suggested, started, kept, failed
  }

  private struct State {
    var tasks: [PeriodicTask] = []
    var isStopped = false
    /// The run, and its deadline, by the monotonic clock in milliseconds.
    var run: (cancellation: Cancellation, deadline: UInt64)?
    /// The time at which the lease was last held, by the monotonic clock.
    var heldAt: UInt64 = 0
    /// Whether a look is running, which needs the lease.
    var isLooking = false
    /// Whether the lease was taken and not yet given back.
    var isHolding = false
    var retries = TuningRetries()
  }

  private let settings: TuningSettings
  private let location: StoreLocation
  private let store: any DatabaseStore
  private let intervalMilliseconds: Int
  private let logger: Logger
  private let holder = "\(UInt64.random(in: 0...UInt64.max))"
  private let state = Mutex(State())
  private let outcomes: [Outcome: CoreMetrics.Counter]
  private let processorMilliseconds = Atomic(0)

  private static let lease = "tuning"
  /// The length of the lease, and the interval of its renewal, several times within that length.
  private static let (leaseMilliseconds, renewMilliseconds) = (90_000, 20_000)
  /// The length of the night, within which a run begins.
  private static let nightHours = 6
  /// The number of intervals until the next look if nothing is due.
  private static let restIntervals = 5
  private static let outputBytes = 1 << 20

  /// `nil` if the settings disable the search.
  ///
  /// - Parameter intervalSeconds: the interval between looks for due parts; 0 leaves them to other servers.
  init?(
    _ settings: TuningSettings, intervalSeconds: Int, of location: StoreLocation,
    store: any DatabaseStore, logger: Logger, figures: PrometheusRegistry
  ) {
    guard settings.mode != .off, intervalSeconds > 0 else { return nil }
    (self.settings, self.location, self.store, self.logger) = (settings, location, store, logger)
    intervalMilliseconds = 1_000 * intervalSeconds
    outcomes = figures.counters(
      "lookahead_tuning_runs_total", help: "Searches for a better policy in the lab.",
      of: Outcome.self)
    figures.gauge("lookahead_tuning_running", help: "1 while the lab searches for a better policy.")
    {
      self.state.withLock { $0.run == nil ? 0 : 1 }
    }
    figures.total(
      "lookahead_tuning_processor_seconds_total",
      help: "Processor time of searches for better policies."
    ) { self.processorMilliseconds.load(ordering: .relaxed) / 1_000 }
  }

  /// Starts.
  ///
  /// - Throws: `SystemError` if the system has no thread.
  func start() throws(SystemError) {
    let (interval, rest) = (intervalMilliseconds, intervalMilliseconds * Self.restIntervals)
    let tasks = [
      PeriodicTask(scheduling: .background, firstPauseMilliseconds: { interval }) { [self] in
        look() ? interval : rest
      },
      PeriodicTask(
        pauseMilliseconds: min(interval, Self.renewMilliseconds), scheduling: .background
      ) { [self] in watch() },
    ]
    state.withLock { $0.tasks = tasks }
    for task in tasks { try task.start() }
  }

  /// Cancels what is running, and returns when nothing is.
  func stop() {
    let tasks = state.withLock { state in
      state.isStopped = true
      state.run?.cancellation.cancel()
      return state.tasks
    }
    for task in tasks { task.stop() }
    _ = try? hold(milliseconds: 0)
  }

  private func hold(milliseconds: Int = leaseMilliseconds) throws -> Bool {
    let isHeld = try store.holdLease(
      Self.lease, holder: holder, milliseconds: milliseconds,
      now: Int64(MonotonicClock.milliseconds))
    state.withLock { state in
      if isHeld { state.heldAt = MonotonicClock.milliseconds }
      state.isHolding = isHeld && milliseconds > 0
    }
    return isHeld
  }

  /// Gives back the lease if it is held and not needed. If the database is busy, `watch` does so later:
  /// otherwise other servers would wait for the lease to expire.
  private func release() {
    guard state.withLock({ $0.isHolding && !$0.isLooking }) else { return }
    _ = try? hold(milliseconds: 0)
  }

  /// While the lab runs, renews the lease, and cancels the run if the lease is lost or the time is over.
  /// Otherwise gives back a lease that a look could not.
  private func watch() {
    guard let run = state.withLock({ $0.run }) else { return release() }
    let now = MonotonicClock.milliseconds
    var isLost = now >= run.deadline
    do {
      isLost = try !hold() || isLost
    } catch {
      // A database that is busy for a while does not end the lease.
      let heldAt = state.withLock { $0.heldAt }
      isLost = isLost || now - heldAt >= UInt64(Self.leaseMilliseconds - Self.renewMilliseconds)
    }
    if isLost { run.cancellation.cancel() }
  }

  private var isNight: Bool {
    (WallClock.secondsSince1970 / 3_600 % 24 - settings.hour + 24) % 24 < Self.nightHours
  }

  /// Tunes the parts that are due.
  ///
  /// - Returns: whether a part was due, or may be soon.
  private func look() -> Bool {
    state.withLock { $0.isLooking = true }
    defer {
      state.withLock { $0.isLooking = false }
      release()
    }
    guard isNight else { return true }
    do {
      guard try !due().parts.isEmpty else { return false }
      guard try hold() else { return true }
      // The previous holder of the lease may have tuned the parts.
      let (parts, plan) = try due()
      for part in parts where !state.withLock({ $0.isStopped }) {
        guard try hold() else { return true }
        tune(part, plan)
      }
    } catch {
      if !state.withLock({ $0.isStopped }) {
        logger.error("cannot search for a better policy: \(error)")
      }
    }
    return true
  }

  /// The parts to tune now, and the plan that they are from.
  private func due() throws -> (parts: [TuningPart], plan: TuningPlan) {
    let hour = WallClock.secondsSince1970 / 3_600
    let plan = try TuningPlan(store, atHour: hour)
    let now = MonotonicClock.milliseconds
    let parts = plan.parts.filter { $0.sessionsPerDay >= settings.sessions }
      .prefix(settings.parts).filter { part in
        part.isDue(plan.history, atHour: hour)
          && state.withLock { $0.retries.isDue(part, at: now) }
      }
    return (parts, plan)
  }

  private func tune(_ part: TuningPart, _ plan: TuningPlan) {
    let since = MonotonicClock.milliseconds
    var fields: Logger.Metadata = [
      "feed": .string(part.feed), "network": .string(part.network ?? ""),
      "sessionsPerDay": .stringConvertible(part.sessionsPerDay),
    ]
    logger.notice("searching for a better policy", metadata: fields)
    let cancellation = Cancellation()
    let isStopped = state.withLock { state in
      state.run = (cancellation, since + UInt64(settings.seconds) * 1_000)
      return state.isStopped
    }
    if isStopped { cancellation.cancel() }
    defer { state.withLock { $0.run = nil } }
    do {
      let outcome = try child(part).run(cancellation: cancellation)
      processorMilliseconds.add(outcome.processorMilliseconds, ordering: .relaxed)
      fields["seconds"] = .stringConvertible((MonotonicClock.milliseconds - since) / 1_000)
      fields["processorSeconds"] = .stringConvertible(outcome.processorMilliseconds / 1_000)
      fields["memoryBytes"] = .stringConvertible(outcome.peakMemoryBytes)
      guard case .exited(0) = outcome.end,
        let answers = TuningAnswer.answers(json: outcome.output)
      else {
        throw TuningFailure(
          words: "\(outcome.end): \(String(decoding: outcome.errors.suffix(500), as: UTF8.self))")
      }
      // Only the current holder writes.
      guard try hold() else { throw TuningFailure(words: "another server searches for it") }
      for answer in answers { try write(answer, part, plan, fields) }
    } catch {
      if state.withLock({ $0.isStopped }) { return }
      state.withLock { $0.retries.failed(part, at: MonotonicClock.milliseconds) }
      outcomes[.failed]?.increment()
      fields["problem"] = .string("\(error)")
      logger.error("the search for a better policy failed", metadata: fields)
    }
  }

  private func write(
    _ answer: TuningAnswer, _ part: TuningPart, _ plan: TuningPlan, _ fields: Logger.Metadata
  ) throws {
    let kind: ExperimentStep.Kind =
      answer.against == nil ? .kept : settings.mode == .auto ? .started : .suggested
    let inForce = try store.snapshot().policyBook.policy(
      feed: part.feed, network: part.profiles[0])
    let trial = try answer.trial(inForce: inForce)
    // The feed may have other parts by now.
    let newest = NewestStep(of: plan.history, feed: trial.feed, network: trial.network)
    let id = try store.add(trial, kind, after: newest, at: .now)
    outcomes[kind == .kept ? .kept : kind == .started ? .started : .suggested]?.increment()
    var fields = fields
    fields["experiment"] = .stringConvertible(id)
    fields["policy"] = .string(trial.setting.name)
    fields["reason"] = .string(trial.reason)
    logger.notice("experiment \(kind.rawValue)", metadata: fields)
  }

  private func child(_ part: TuningPart) -> ChildProcess {
    var limits = ChildProcess.Limits(
      timeMilliseconds: settings.seconds * 1_000, memoryBytes: settings.memoryBytes,
      outputBytes: Self.outputBytes)
    // SQLite readers write files beside the database: what they look up, and their positions.
    limits.fileBytes = .max
    limits.nice = settings.nice
    var isFile = false
    if case .sqlite = location { isFile = true }
    // Uses other viewers and positions each night: the same ones would give the same errors every night.
    let seed =
      settings.environment.contains { $0.hasPrefix("LOOKAHEAD_SEED=") }
      ? [] : ["--seed=\(WallClock.secondsSince1970 / 86_400)"]
    return ChildProcess(
      path: settings.program,
      // The feed's name is part of the argument, so it may begin with any character.
      arguments: [
        "tune", "--feed=\(part.feed)", "--format=json", "--jobs=\(settings.jobs)",
      ] + (part.network.map { ["--network=\($0)"] } ?? []) + seed,
      environment: settings.environment, limits: limits, hasNetwork: !isFile)
  }
}

/// The reason why a search failed.
private struct TuningFailure: Error, CustomStringConvertible {
  let words: String
  var description: String { words }
}

/// The times at which parts with a failed run are tried again. A part is identified by feed and network: its
/// sessions change all the time.
struct TuningRetries {
  private struct Key: Hashable {
    let feed: ByteText
    let network: ByteText?

    init(_ part: TuningPart) {
      feed = ByteText(part.feed)
      network = part.network.map { ByteText($0) }
    }
  }

  static let pauseMilliseconds: UInt64 = 3_600_000
  /// The times, by the monotonic clock.
  private var retryAt: [Key: UInt64] = [:]

  /// Whether the part has not failed, or long enough ago.
  func isDue(_ part: TuningPart, at now: UInt64) -> Bool { retryAt[Key(part)] ?? 0 <= now }

  mutating func failed(_ part: TuningPart, at now: UInt64) {
    retryAt = retryAt.filter { $0.value > now }
    retryAt[Key(part)] = now + Self.pauseMilliseconds
  }
}
