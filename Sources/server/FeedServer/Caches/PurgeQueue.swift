/// The keys still to purge from one cache: pure; callers pass the time in milliseconds.
///
/// Theory of operation. A key waits until a batch has taken it and the cache has answered. A key that was purged for
/// a change is purged once more a while later: an answer that a server had made before the change may have reached
/// the cache after the first purge, and nothing else would remove it. The queue never holds more than
/// `maximumKeys` keys; beyond that, the key of all answers replaces them.
struct PurgeQueue {
  private struct Wait {
    var since: UInt64
    /// Whether this is the second purge.
    var isRepetition: Bool
  }

  /// The maximum number of keys before the key of all answers replaces them.
  let maximumKeys: Int
  /// The delay of a key's second purge; 0: no second purge.
  private(set) var againMilliseconds: Int
  private var waiting: [String: Wait] = [:]
  private var sending: [String: Wait] = [:]
  /// The times at which keys are due for the second time.
  private var again: [String: UInt64] = [:]
  /// The number of times that there were too many keys.
  private(set) var overflows = 0

  /// The maximum size of one request's keys, unless it has a single key: caches take lines of 8 KB.
  static let batchBytes = 4_096

  init(maximumKeys: Int, againMilliseconds: Int) {
    self.maximumKeys = maximumKeys
    self.againMilliseconds = againMilliseconds
  }

  /// The number of keys to purge for the first time.
  var count: Int {
    waiting.count { !$0.value.isRepetition } + sending.count { !$0.value.isRepetition }
  }

  /// The time since which the oldest of them has been waiting.
  var oldest: UInt64? {
    let all = [waiting, sending].flatMap { $0.values.filter { !$0.isRepetition } }
    return all.map(\.since).min()
  }

  /// The time since which the oldest of the keys being sent has been waiting.
  var oldestSent: UInt64? { sending.values.filter { !$0.isRepetition }.map(\.since).min() }

  /// The time at which the next keys are due; `nil` if there are none.
  var due: UInt64? { waiting.isEmpty ? again.values.min() : waiting.values.map(\.since).min() }

  /// Adds keys to purge, because of a change seen at this time.
  mutating func add(_ keys: some Collection<String>, at now: UInt64) {
    for key in keys { wait(key, Wait(since: now, isRepetition: false)) }
    bound()
  }

  /// The keys to send now. The caller must follow with `succeeded` or `failed`.
  mutating func next(at now: UInt64) -> [String] {
    for (key, time) in again where time <= now {
      again[key] = nil
      wait(key, Wait(since: time, isRepetition: true))
    }
    bound()
    return take()
  }

  /// Makes the pending second purges due now, and schedules no others.
  mutating func end() {
    for (key, time) in again { wait(key, Wait(since: time, isRepetition: true)) }
    again = [:]
    againMilliseconds = 0
    bound()
  }

  private mutating func take() -> [String] {
    var bytes = 0
    let oldest = waiting.sorted { ($0.value.since, $0.key) < ($1.value.since, $1.key) }
    for (key, wait) in oldest {
      bytes += key.utf8.count + 1
      if bytes > Self.batchBytes, !sending.isEmpty { break }
      sending[key] = wait
      waiting[key] = nil
    }
    return sending.keys.sorted()
  }

  /// The cache has purged the keys that it was sent.
  mutating func succeeded(at now: UInt64) {
    if againMilliseconds > 0 {
      for (key, wait) in sending where !wait.isRepetition {
        again[key] = now + UInt64(againMilliseconds)
      }
    }
    sending = [:]
    if again.count > maximumKeys || again[CacheKey.all] != nil {
      again = [CacheKey.all: again.values.max() ?? now]
    }
  }

  /// The cache has not purged the keys that it was sent, or the outcome is unknown.
  mutating func failed() {
    for (key, wait) in sending { self.wait(key, wait) }
    sending = [:]
    bound()
  }

  private mutating func wait(_ key: String, _ new: Wait) {
    guard let known = waiting[key] else { return waiting[key] = new }
    // A key that changed again while its first purge was being sent has been waiting since the first change.
    waiting[key] = Wait(
      since: min(known.since, new.since),
      isRepetition: known.isRepetition && new.isRepetition)
  }

  /// Replaces all keys by the key of all answers, if it is among them or they are too many.
  private mutating func bound() {
    let isOver = waiting.count > maximumKeys
    guard isOver || waiting[CacheKey.all] != nil, waiting.count > 1 else { return }
    if isOver { overflows += 1 }
    let since = waiting.values.map(\.since).min() ?? 0
    let isRepetition = waiting.values.allSatisfy(\.isRepetition)
    waiting = [CacheKey.all: Wait(since: since, isRepetition: isRepetition)]
  }
}
