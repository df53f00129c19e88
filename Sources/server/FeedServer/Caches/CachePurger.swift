// Answers made from the database have keys (`CacheKey`): those of their feeds, of their item, and of all
// answers.
// `CachePurger` reads the store's version as `FeedEvents` does, asks what changed since
// (`FeedStore.changes`), and adds the keys of the changes (`changedKeys`) to each cache's `PurgeQueue`, which
// is pure and bounded, and purges each key a second time after a while. A thread for each cache sends the
// purges (`FrontCache`). Each server purges what it has seen itself, at the same times of the wall clock as
// the others, so that no server needs to know how far another one is. `docker/varnish` is the other half: an
// answer that was being fetched when a purge came is stale when it arrives. `Tests/front` races the two, and
// `docs/scale.md` lists the guarantees.

import Catalog
import Logging
import Observability
import System

/// Settings of purges: the caches in front, and when and how the server tells them what changed.
struct PurgeSettings: Sendable {
  let field: CacheKeyField
  let targets: [HTTPTarget]
  let intervalMilliseconds: Int
  let againMilliseconds: Int
  let timeoutMilliseconds: Int
  let maximumKeys: Int
}

/// Purges changed answers from caches in front, whichever process made the change.
///
/// Theory of operation. One thread reads the store's version, often and at almost no cost, as `FeedEvents`
/// does. When the version has changed, the thread asks what changed, and adds the keys to each cache's queue;
/// then it waits for the interval, so that many changes are one purge. Each cache has a thread that sends its
/// queue, so that an unresponsive cache delays neither other caches nor writes.
///
/// Each server purges for itself: once it has seen a change, all its answers have it. So its own purges cover
/// what a cache received from it before and may still be storing, and no server needs to know how far another
/// one is. A server that starts does not know what changed before, and purges everything.
final class CachePurger: Sendable {
  private let store: any FeedStore
  private let caches: [FrontCache]
  private let intervalMilliseconds: UInt64
  private let isEnding = Monitor(false)
  private let threads: WorkerPool
  private let followers = WorkerPool(threads: 1, limit: 1)
  private let logger: Logger

  /// The interval between reads of the store's version, a number in memory.
  private static let lookMilliseconds = 5

  init(
    _ store: any FeedStore, _ settings: PurgeSettings, _ registry: PrometheusRegistry,
    _ logger: Logger
  ) {
    self.store = store
    self.logger = logger
    intervalMilliseconds = UInt64(settings.intervalMilliseconds)
    threads = WorkerPool(threads: settings.targets.count, limit: settings.targets.count)
    registry.describe("lookahead_purges_total", help: "Purges that were sent to caches.")
    registry.describe(
      "lookahead_purge_delay_seconds",
      help: "Time from a change to the cache's answer to its purge.")
    let caches = settings.targets.map { FrontCache($0, settings, registry, logger) }
    self.caches = caches
    registry.gauges(
      "lookahead_purge_waiting_keys", help: "Keys that are not yet purged from a cache."
    ) { caches.map { ($0.dimensions, $0.waitingKeys) } }
    registry.gauges(
      "lookahead_purge_oldest_milliseconds",
      help: "Time for which the oldest of these keys has been waiting."
    ) { caches.map { ($0.dimensions, $0.oldestMilliseconds) } }
    registry.total(
      "lookahead_purge_overflows_total",
      help: "Times that too many keys waited, so that everything was purged."
    ) { caches.reduce(0) { $0 + $1.overflows } }
  }

  /// Starts, with a purge of everything.
  func start() {
    let seen = store.version
    for cache in caches {
      cache.add([CacheKey.all], at: MonotonicClock.milliseconds)
      if !threads.run({ cache.run() }) { logger.error("no thread is available to purge a cache") }
    }
    if !followers.run({ [self] in follow(from: seen) }) {
      logger.error("no thread is available to find the keys to purge")
    }
  }

  /// Sends the queued keys once, and ends; call it when the server answers no more requests.
  func stop() {
    isEnding.withLock { $0 = true }
    isEnding.notify()
    followers.wait()
    for cache in caches { cache.end() }
    threads.wait()
  }

  /// The time until the wall clock shows the next multiple of the interval: under many writes, all servers
  /// purge at the same times, and caches fetch a page once for the purges of all servers.
  private var pauseMilliseconds: UInt64 {
    guard intervalMilliseconds > 0 else { return 0 }
    let moment = WallClock.exactNow
    let milliseconds = moment.secondsSince1970 % 86_400 * 1_000 + moment.nanoseconds / 1_000_000
    return intervalMilliseconds - UInt64(max(0, milliseconds)) % intervalMilliseconds
  }

  private func follow(from version: StoreVersion) {
    var seen = version
    var changedAt: UInt64?
    var next: UInt64 = 0
    while true {
      let isLast =
        isEnding.wait(atMostMilliseconds: Self.lookMilliseconds) { $0 ? true : nil } ?? false
      let now = MonotonicClock.milliseconds
      // Read before the changes: the next look finds what changes meanwhile.
      let version = store.version
      if version != seen {
        changedAt = changedAt ?? now
        if isLast || now >= next {
          next = now + pauseMilliseconds
          if purge(since: seen, changedAt ?? now) { (seen, changedAt) = (version, nil) }
        }
      }
      if isLast { return }
    }
  }

  /// - Returns: `false` if the store could not say what changed.
  private func purge(since version: StoreVersion, _ changedAt: UInt64) -> Bool {
    do {
      let keys = try store.changedKeys(since: version)
      if !keys.isEmpty { for cache in caches { cache.add(keys, at: changedAt) } }
      return true
    } catch {
      logger.error("cannot read the keys to purge from caches: \(error)")
      return false
    }
  }
}
