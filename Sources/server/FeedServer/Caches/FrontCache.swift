import CoreMetrics
import Logging
import Observability
import System

/// A cache in front, and the keys still to purge from it.
final class FrontCache: Sendable {
  private struct State {
    var queue: PurgeQueue
    /// The time before which nothing is sent, because the last purge failed.
    var retryAt: UInt64 = 0
    var isEnding = false
  }

  private enum Step { case send([String]), end }

  private let target: HTTPTarget
  private let settings: PurgeSettings
  private let state: Monitor<State>
  private let done: Counter
  private let failed: Counter
  private let delay: Timer
  private let logger: Logger

  /// The pause after a first failure; each further failure doubles it.
  private static let firstPauseMilliseconds: UInt64 = 100
  private static let longestPauseMilliseconds: UInt64 = 10_000
  private static let idleMilliseconds: UInt64 = 60_000

  init(
    _ target: HTTPTarget, _ settings: PurgeSettings, _ registry: PrometheusRegistry,
    _ logger: Logger
  ) {
    self.target = target
    self.settings = settings
    self.logger = logger
    state = Monitor(
      State(
        queue: PurgeQueue(
          maximumKeys: settings.maximumKeys, againMilliseconds: settings.againMilliseconds)))
    func counter(_ outcome: String) -> Counter {
      Counter(
        label: "lookahead_purges_total",
        dimensions: [("cache", target.authority), ("outcome", outcome)], factory: registry)
    }
    (done, failed) = (counter("done"), counter("failed"))
    delay = Timer(
      label: "lookahead_purge_delay_seconds", dimensions: [("cache", target.authority)],
      factory: registry)
  }

  /// The dimensions of its series in `/metrics`.
  var dimensions: [(String, String)] { [("cache", target.authority)] }
  /// The number of waiting keys.
  var waitingKeys: Int { state.withLock { $0.queue.count } }
  /// The number of times that there were too many keys.
  var overflows: Int { state.withLock { $0.queue.overflows } }
  /// The time for which the oldest key has been waiting.
  var oldestMilliseconds: Int {
    let oldest = state.withLock { $0.queue.oldest }
    return oldest.map { Int(clamping: MonotonicClock.milliseconds - $0) } ?? 0
  }

  /// Adds keys to purge, because of a change seen at this time.
  func add(_ keys: some Collection<String>, at now: UInt64) {
    state.withLock { $0.queue.add(keys, at: now) }
    state.notify()
  }

  /// Lets `run()` send the waiting keys and the pending second purges once, and then return; a failure ends
  /// it, too.
  func end() {
    state.withLock { state in
      state.isEnding = true
      state.queue.end()
    }
    state.notify()
  }

  /// Sends the due purges until `end()`; on a thread of its own.
  func run() {
    var pause: UInt64 = 0
    while case .send(let keys) = next() {
      let problem = send(keys)
      let now = MonotonicClock.milliseconds
      if let problem {
        failed.increment()
        if pause == 0 {
          logger.error(
            "cannot purge a cache, will retry: \(problem)",
            metadata: ["cache": "\(target)"])
        }
        pause = min(
          max(2 * pause, Self.firstPauseMilliseconds), Self.longestPauseMilliseconds)
        let isOver = state.withLock { state in
          state.queue.failed()
          state.retryAt = now + pause
          return state.isEnding
        }
        if isOver { return }
      } else {
        if pause > 0 {
          logger.notice("purging a cache works again", metadata: ["cache": "\(target)"])
        }
        pause = 0
        done.increment()
        let oldest = state.withLock { state in
          defer { state.queue.succeeded(at: now) }
          return state.queue.oldestSent
        }
        if let oldest { delay.recordMilliseconds(Int64(clamping: now - oldest)) }
      }
    }
  }

  /// Purges the keys. Returns what is wrong; `nil` if nothing is.
  private func send(_ keys: [String]) -> String? {
    let fields = [(name: settings.field.name, value: settings.field.value(keys))]
    do {
      let status = try HTTPQuestion(target, method: "PURGE", fields: fields)
        .ask(timeoutMilliseconds: settings.timeoutMilliseconds)
      return (200...299).contains(status) ? nil : "status \(status)"
    } catch {
      return "\(error)"
    }
  }

  private func next() -> Step {
    while true {
      let now = MonotonicClock.milliseconds
      let due = state.withLock { max($0.queue.due ?? .max, $0.retryAt) }
      let pause = min(due - min(due, now), Self.idleMilliseconds)
      let step = state.wait(atMostMilliseconds: Int(pause)) { state -> Step? in
        let now = MonotonicClock.milliseconds
        guard state.isEnding || now >= state.retryAt else { return nil }
        let keys = state.queue.next(at: now)
        return keys.isEmpty ? (state.isEnding ? .end : nil) : .send(keys)
      }
      if let step { return step }
    }
  }
}
