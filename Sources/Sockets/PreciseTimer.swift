import CLinux
import Glibc
import System

/// A descriptor that is readable from a moment on, to the nanosecond (`timerfd_create(2)`): for what the
/// timing wheel of `EventLoop` is too coarse.
///
/// The value is only the descriptor's number: whoever made it calls `close` once.
public struct PreciseTimer: Sendable {
  /// To be registered at a loop, for reading.
  public let descriptor: Int32

  /// A timer that is not set.
  public init() throws(SystemError) {
    descriptor = try retrying("timerfd_create", "make a timer") {
      timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC) | Int32(TFD_NONBLOCK))
    }
  }

  /// Sets it to a moment of `MonotonicClock`, which may have passed; nil for never. It is not readable any
  /// more for an earlier one.
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
