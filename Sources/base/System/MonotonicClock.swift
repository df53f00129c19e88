import Glibc

/// Time that never goes back (`CLOCK_MONOTONIC`).
public enum MonotonicClock {
  /// Nanoseconds since some moment in the past.
  public static var nanoseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Milliseconds since some moment in the past.
  public static var milliseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
  }
}

/// Calendar time (`CLOCK_REALTIME`).
public enum WallClock {
  /// The current time, to the clock's tick.
  public static var now: Moment {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &time)
    return Moment(time)
  }

  /// The current time, in the clock's full resolution. It takes a system call on machines without a fast
  /// clock.
  public static var exactNow: Moment {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Moment(time)
  }

  /// Seconds since 1970.
  public static var secondsSince1970: Int { now.secondsSince1970 }
}

/// A moment in the form of clocks and file systems, with their full range: nanoseconds since 1970 in one
/// number would end in the year 2262.
public struct Moment: Sendable, Hashable, Comparable {
  /// Whole seconds since 1970, rounded down; negative before.
  public let secondsSince1970: Int
  /// The nanoseconds beyond them.
  public let nanoseconds: Int

  /// A moment with these parts.
  public init(secondsSince1970: Int, nanoseconds: Int = 0) {
    self.secondsSince1970 = secondsSince1970
    self.nanoseconds = nanoseconds
  }

  /// The moment in the system's form.
  public init(_ time: timespec) {
    self.init(secondsSince1970: time.tv_sec, nanoseconds: time.tv_nsec)
  }

  /// Nanoseconds since 1970 in one number, clamped to what that can hold (1677 to 2262).
  public var nanosecondsSince1970: Int {
    let (whole, isTooFar) = secondsSince1970.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, isTooFarToo) = whole.addingReportingOverflow(nanoseconds)
    guard isTooFar || isTooFarToo else { return sum }
    return secondsSince1970 < 0 ? .min : .max
  }

  /// Whether the left one is earlier.
  public static func < (left: Moment, right: Moment) -> Bool {
    (left.secondsSince1970, left.nanoseconds) < (right.secondsSince1970, right.nanoseconds)
  }

  /// Whether at least this many seconds have passed since the other moment; never if the end of the range
  /// comes first.
  public func isAtLeast(seconds: Int, after other: Moment) -> Bool {
    let (due, overflow) = other.secondsSince1970.addingReportingOverflow(seconds)
    if overflow { return false }
    return self >= Moment(secondsSince1970: due, nanoseconds: other.nanoseconds)
  }
}
