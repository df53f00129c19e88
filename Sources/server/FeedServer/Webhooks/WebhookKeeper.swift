import Catalog
import CoreMetrics
import Feed
import HTTP
import JSON
import Logging
import MediaProbe
import Observability
import SHA2
import Synchronization
import System

// The outbox is the sequence of changes itself (`ChangeStore.changes`). For each target the database stores
// the cursor up to which the target knows all changes and, before a message is sent, the cursor at its end.
// So a message has the same changes and the same id whenever and by whichever server it is sent again, and a
// target takes one row. A target that was away for longer than changes are kept is told so. Messages are
// signed as in Standard Webhooks, and sent by curl.

/// Settings of webhooks.
package struct WebhookSettings: Sendable {
  /// The targets.
  package var targets: [WebhookTarget] = []
  /// The maximum time for a target to answer.
  package var timeoutMilliseconds = 15_000
  /// The maximum pause before a failing target is tried again.
  package var retrySeconds = 3_600
  /// The interval between looks for changes.
  var lookMilliseconds = 200
  /// The time after which another server takes over if this one dies.
  var leaseMilliseconds = 15_000
  /// The pause after a first failure; each further failure doubles it.
  var firstRetryMilliseconds: Int64 = 1_000

  /// Creates settings without targets.
  package init() {}
}

extension WebhookSettings {
  /// Numbers that an operator can set for webhooks.
  package static let numbers: [SettableNumber<Self>] = [
    .init(
      "webhook-timeout-milliseconds", 1...600_000, \.timeoutMilliseconds,
      "Time for a webhook's target to answer."),
    .init(
      "webhook-retry-seconds", 1...Most.daySeconds, \.retrySeconds,
      "Maximum pause before a webhook's target that fails is tried again."),
  ]
}

/// Tells targets what changed: in order, at least once, and with the same id each time a message is sent. Of
/// the servers of a database, only the one that holds the lease does so.
final class WebhookKeeper: Sendable {
  private let store: any ExperimentStore & ChangeStore
  private let settings: WebhookSettings
  private let scratchFolder: String
  private let curl: String?
  private let logger: Logger
  private let holder = "\(UInt64.random(in: 0...UInt64.max))"
  /// The time until which the lease is held without asking, on the monotonic clock; 0 if it is not held.
  private let leased = Mutex<(until: UInt64, asked: UInt64)>((0, 0))
  private let hooks: [Hook]
  private let tasks = Mutex<[PeriodicTask]>([])
  private let cancellation = Cancellation()

  /// The name of the lease.
  static let lease = "webhooks"

  /// A target and what this server knows of it. Only its thread uses it, except for the counts.
  private final class Hook: Sendable {
    struct State {
      var saved: WebhookState?
      var isFailing = false
      var attempts = 0
      var failures = 0
      var messages = 0
      var resets = 0
    }
    let target: WebhookTarget
    let state = Mutex(State())

    init(_ target: WebhookTarget) { self.target = target }
  }

  init(
    _ store: any ExperimentStore & ChangeStore, _ settings: WebhookSettings, scratchFolder: String,
    _ logger: Logger
  ) {
    (self.store, self.settings, self.logger) = (store, settings, logger)
    self.scratchFolder = scratchFolder
    curl = settings.targets.isEmpty ? nil : MediaTools.installed().curl
    hooks = settings.targets.map(Hook.init)
  }

  /// - Throws: `SystemError` if the system has no thread.
  func start() throws {
    if !hooks.isEmpty, curl == nil {
      logger.error("webhooks are not sent: curl is not installed")
    }
    for hook in hooks {
      let task = PeriodicTask(firstPauseMilliseconds: { 0 }) { [self] in turn(hook) }
      try task.start()
      tasks.withLock { $0.append(task) }
    }
  }

  /// Stops; a server that continues sends an interrupted message again with the same id.
  func stop() {
    cancellation.cancel()
    for task in tasks.withLock({ $0 }) { task.stop() }
    // Each task holds this keeper.
    tasks.withLock { $0 = [] }
    if leased.withLock({ $0.until > 0 }) {
      _ = try? store.holdLease(
        Self.lease, holder: holder, milliseconds: 0, now: Self.now)
    }
  }

  func register(in registry: PrometheusRegistry) {
    guard !hooks.isEmpty else { return }
    func totals(
      _ name: String, _ help: String, _ count: @escaping @Sendable (Hook.State) -> Int
    ) {
      registry.totals(name, help: help) { [hooks] in
        hooks.map { ([("webhook", $0.target.name)], $0.state.withLock { count($0) }) }
      }
    }
    totals("lookahead_webhook_attempts_total", "Messages sent by this server.") {
      $0.attempts
    }
    totals("lookahead_webhook_failures_total", "Messages that the target did not accept.") {
      $0.failures
    }
    totals("lookahead_webhook_messages_total", "Messages that the target accepted.") {
      $0.messages
    }
    totals(
      "lookahead_webhook_resets_total",
      "Times that a target fell behind by more changes than are kept."
    ) { $0.resets }
    registry.gauges(
      "lookahead_webhook_lag_seconds",
      help: "Time for which the target has been behind, if this server notifies it."
    ) { [hooks] in
      hooks.map { hook in
        let since = hook.state.withLock { $0.saved?.behindSince }
        return (
          [("webhook", hook.target.name)], since.map { Int(max(0, Self.now - $0)) / 1_000 } ?? 0
        )
      }
    }
  }

  private static var now: Int64 { Int64(MonotonicClock.milliseconds) }

  /// Whether this server sends. Renews the lease three times within its length.
  private func holdsLease() throws -> Bool {
    try leased.withLock { leased in
      let now = MonotonicClock.milliseconds
      let length = UInt64(settings.leaseMilliseconds)
      guard leased.asked == 0 || now >= leased.asked + length / 3 else { return leased.until > now }
      leased.asked = now
      let holds = try store.holdLease(
        Self.lease, holder: holder, milliseconds: settings.leaseMilliseconds, now: Self.now)
      // Another server may have sent meanwhile: the states are read again.
      if leased.until <= now { for hook in hooks { hook.state.withLock { $0.saved = nil } } }
      leased.until = holds ? now + length : 0
      return holds
    }
  }

  /// Sends what is due.
  ///
  /// - Returns: the milliseconds until the next look.
  private func turn(_ hook: Hook) -> Int {
    guard let curl else { return settings.lookMilliseconds }
    do {
      guard try holdsLease() else { return settings.lookMilliseconds }
      var saved = try known(hook)
      if let next = saved.nextAttempt {
        let left = next - Self.now
        // A clock that was set back extends no pause.
        if left > 0, left <= Int64(settings.retrySeconds) * 1_000 {
          return Int(min(left, Int64(settings.lookMilliseconds)))
        }
      }
      guard let message = try begin(&saved, hook) else {
        return settings.lookMilliseconds
      }
      let refusal = send(message, of: saved, to: hook.target, curl)
      try end(saved, message, refusal, hook)
      return refusal == nil ? 0 : settings.lookMilliseconds
    } catch {
      hook.state.withLock { $0.saved = nil }
      let isNews = hook.state.withLock { state in
        defer { state.isFailing = true }
        return !state.isFailing
      }
      if isNews {
        logger.error(
          "cannot process a webhook: \(error)", metadata: ["webhook": "\(hook.target.name)"])
      }
      return 1_000
    }
  }

  /// The target's state in the database; for a new target, it begins with the current cursor.
  private func known(_ hook: Hook) throws -> WebhookState {
    if let saved = hook.state.withLock({ $0.saved }) { return saved }
    if let saved = try store.webhooks().first(where: { $0.name == hook.target.name }) {
      hook.state.withLock { $0.saved = saved }
      return saved
    }
    let now = try store.changes(after: nil, through: nil, limit: 1, withItems: false).next
    return try save(WebhookState(name: hook.target.name, position: now), hook)
  }

  /// Another server saved the state first; the next turn reads it.
  private struct Overtaken: Error {}

  private func save(_ state: WebhookState, _ hook: Hook) throws -> WebhookState {
    guard try store.save(state) else { throw Overtaken() }
    var saved = state
    saved.revision += 1
    hook.state.withLock { $0.saved = saved }
    return saved
  }

  private struct Message {
    /// The changes; empty for a reset.
    var changes: [StoreChange] = []
    var hasMore = false
  }

  /// The next message; `nil` if there is nothing new.
  private func begin(_ saved: inout WebhookState, _ hook: Hook) throws -> Message? {
    do {
      if saved.isReset, let end = saved.end {
        // The changes after the reset may be lost meanwhile, too.
        _ = try store.changes(after: end, through: nil, limit: 1, withItems: false)
        return Message()
      }
      let page = try store.changes(
        after: saved.position, through: saved.end, limit: hook.target.batch, withItems: false)
      if saved.end != nil { return Message(changes: page.changes) }
      guard !page.changes.isEmpty || page.hasMore else { return nil }
      saved.end = page.next
      saved.behindSince = saved.behindSince ?? Self.now
      saved = try save(saved, hook)
      return Message(changes: page.changes, hasMore: page.hasMore)
    } catch let error as ChangeCursorError {
      saved.end = try store.changes(after: nil, through: nil, limit: 1, withItems: false).next
      if !saved.isReset {
        hook.state.withLock { $0.resets += 1 }
        logger.warning(
          "a webhook fell behind the kept changes: telling it to copy everything again",
          metadata: ["webhook": "\(hook.target.name)", "reason": "\(error)"])
      }
      saved.isReset = true
      saved.behindSince = saved.behindSince ?? Self.now
      saved = try save(saved, hook)
      return Message()
    }
  }

  /// The reason why a target did not accept a message.
  private struct Refusal {
    let problem: String
    /// The pause that the target asks for.
    var seconds = 0
  }

  /// - Returns: `nil` if the target accepted it.
  private func send(
    _ message: Message, of saved: WebhookState, to target: WebhookTarget, _ curl: String
  ) -> Refusal? {
    // Later changes have replaced all changes of the message, and have messages of their own.
    if message.changes.isEmpty, !saved.isReset { return nil }
    let time = WallClock.exactNow.secondsSince1970
    let body = Self.body(message.changes, of: saved, at: time)
    do throws(RemoteError) {
      let answer = try target.post.send(
        body, fields: target.fields(id: Self.id(of: saved), timestamp: time, body: body),
        curl: curl, timeMilliseconds: settings.timeoutMilliseconds, scratchFolder: scratchFolder,
        cancellation: cancellation)
      if (200..<300).contains(answer.status) { return nil }
      var refusal = Refusal(problem: "it answered \(answer.status)")
      if Self.statusesWithRetryAfter.contains(answer.status) {
        refusal.seconds = answer.retryAfter.flatMap { Self.seconds($0, from: time) } ?? 0
      }
      return refusal
    } catch {
      guard case .privateAddress(let host, let address) = error else {
        return Refusal(problem: "\(error)")
      }
      return Refusal(
        problem:
          "the host \(host) has the private address \(address); --webhook-allow-private allows it")
    }
  }

  /// Too Many Requests (RFC 6585 section 4), Service Unavailable.
  private static let statusesWithRetryAfter = [429, 503]

  /// The seconds in `Retry-After`: a number, or those until a date (RFC 9110 section 10.2.3).
  static func seconds(_ retryAfter: String, from now: Int) -> Int? {
    if !retryAfter.isEmpty, retryAfter.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      // A number that overflows means a long time.
      return Int(retryAfter) ?? .max
    }
    return HTTPDate.parse(retryAfter, nowSecondsSince1970: now).map { max(0, $0 - now) }
  }

  /// The same id for the same changes, whenever and by whichever server they are sent.
  static func id(of saved: WebhookState) -> String {
    let content = "\(saved.name) \(saved.position.text) \(saved.end?.text ?? "") \(saved.isReset)"
    let digits = Array("0123456789abcdef".utf8)
    let hash = SHA256.hash(Array(content.utf8)).prefix(16)
      .flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return "msg_" + String(decoding: hash, as: UTF8.self)
  }

  static func body(_ changes: [StoreChange], of saved: WebhookState, at time: Int) -> [UInt8] {
    var writer = JSONWriter(capacity: 256 + 64 * changes.count)
    writer.object { writer in
      writer.member("type", saved.isReset ? "reset" : "changes")
      writer.member("timestamp", Timestamp(microseconds: Int64(time) * 1_000_000).rfc3339)
      writer.object("data") { writer in
        if !saved.isReset { writer.changes(changes) }
        writer.member("next", (saved.end ?? saved.position).text)
      }
    }
    return writer.bytes
  }

  private func end(
    _ sent: WebhookState, _ message: Message, _ refusal: Refusal?, _ hook: Hook
  ) throws {
    let problem = refusal?.problem
    // A message that the stop of this server cut off is no failure of the target.
    if problem != nil, cancellation.isCancelled { return }
    var saved = sent
    let now = Self.now
    if let refusal, let problem {
      saved.failures += 1
      (saved.lastFailure, saved.lastProblem) = (now, String(problem.prefix(200)))
      saved.nextAttempt =
        now + pauseMilliseconds(after: saved.failures, atLeastSeconds: refusal.seconds)
    } else {
      saved.position = saved.end ?? saved.position
      (saved.end, saved.isReset, saved.nextAttempt, saved.failures) = (nil, false, nil, 0)
      saved.lastSuccess = now
      if !message.hasMore { saved.behindSince = nil }
    }
    let wasFailing = hook.state.withLock { state in
      state.attempts += 1
      if problem == nil { state.messages += 1 } else { state.failures += 1 }
      defer { state.isFailing = problem != nil }
      return state.isFailing
    }
    let about: Logger.Metadata = [
      "webhook": "\(hook.target.name)", "origin": "\(hook.target.post.origin)",
    ]
    if let problem, !wasFailing {
      logger.warning("a webhook's target does not accept messages: \(problem)", metadata: about)
    } else if problem == nil, wasFailing {
      logger.notice("a webhook's target accepts messages again", metadata: about)
    }
    _ = try save(saved, hook)
  }

  /// The pause doubles with each failure, minus up to half of it at random, so that targets are not tried all
  /// at once. It is at least as long as the target asks for, within `retrySeconds`.
  private func pauseMilliseconds(after failures: Int, atLeastSeconds wanted: Int) -> Int64 {
    let longest = Int64(settings.retrySeconds) * 1_000
    let pause = min(longest, settings.firstRetryMilliseconds << min(failures - 1, 30))
    let least = Int64(min(wanted, settings.retrySeconds)) * 1_000
    return max(least, Int64.random(in: pause / 2...max(1, pause)))
  }
}
