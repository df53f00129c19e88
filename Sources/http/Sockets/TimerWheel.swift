import CLinux
import Glibc
import System

/// A hashed timing wheel: deadlines in slots of `tickMilliseconds`, in constant time each.
///
/// It is coarse on purpose: an entry is returned up to one tick after its time, and an entry beyond the
/// wheel's span is returned early, for its owner to insert it again.
struct TimerWheel: Sendable {
  static let tickMilliseconds: UInt64 = 32
  private static let slotCount: UInt64 = 2048

  private var slots = [[Registration]](repeating: [], count: Int(slotCount))
  private var count = 0
  /// The last tick that was removed.
  private var currentTick: UInt64
  /// No slot before this tick has an entry.
  private var firstTick = UInt64.max

  init(nowMilliseconds: UInt64) { currentTick = nowMilliseconds / Self.tickMilliseconds }

  /// Inserts an entry, and returns the tick at which it will be removed.
  mutating func insert(_ registration: Registration, atMilliseconds time: UInt64) -> UInt64 {
    let wanted = time / Self.tickMilliseconds + 1
    let tick = min(max(wanted, currentTick + 1), currentTick + Self.slotCount - 1)
    slots[Int(tick % Self.slotCount)].append(registration)
    count += 1
    firstTick = min(firstTick, tick)
    return tick
  }

  /// The time until an entry may be due, in milliseconds; nil if there is none.
  func waitMilliseconds(nowMilliseconds now: UInt64) -> UInt64? {
    guard count > 0 else { return nil }
    let due = firstTick * Self.tickMilliseconds
    return due > now ? due - now : 0
  }

  /// Removes the due entries, and returns each with its tick.
  mutating func advance(toMilliseconds now: UInt64) -> [(entry: Registration, tick: UInt64)] {
    let last = now / Self.tickMilliseconds
    defer { currentTick = max(currentTick, last) }
    guard last >= firstTick else { return [] }
    var due: [(entry: Registration, tick: UInt64)] = []
    var tick = firstTick
    while tick <= last, count > 0 {
      let slot = Int(tick % Self.slotCount)
      for entry in slots[slot] { due.append((entry, tick)) }
      count -= slots[slot].count
      slots[slot] = []
      tick += 1
    }
    firstTick = count == 0 ? .max : nextTick(from: tick)
    return due
  }

  private func nextTick(from tick: UInt64) -> UInt64 {
    var tick = tick
    while slots[Int(tick % Self.slotCount)].isEmpty { tick += 1 }
    return tick
  }
}

/// A descriptor that becomes readable at a moment, to the nanosecond (`timerfd_create(2)`): for times for
/// which the timing wheel of `EventLoop` is too coarse.
///
/// The value is only the descriptor's number. Its owner calls `close` once.
public struct PreciseTimer: Sendable {
  /// The descriptor, to be registered at a loop for reading.
  public let descriptor: Int32

  /// A timer that is not set.
  public init() throws(SystemError) {
    descriptor = try retrying("timerfd_create", "make a timer") {
      timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC) | Int32(TFD_NONBLOCK))
    }
  }

  /// Sets the timer to a moment of `MonotonicClock`, which may have passed; nil for never. An earlier moment
  /// no longer makes it readable.
  public func set(toNanoseconds time: UInt64?) throws(SystemError) {
    var value = itimerspec()
    // All zeros would mean never.
    if let time {
      value.it_value.tv_sec = Int(clamping: time / 1_000_000_000)
      value.it_value.tv_nsec = max(1, Int(time % 1_000_000_000))
    }
    try retrying("timerfd_settime", "set a timer") {
      timerfd_settime(descriptor, Int32(TFD_TIMER_ABSTIME), &value, nil)
    }
  }

  /// `close(2)`
  public func close() { _ = Glibc.close(descriptor) }
}
