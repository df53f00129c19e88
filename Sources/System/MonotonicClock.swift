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

/// Time as calendars have it (`CLOCK_REALTIME`).
public enum WallClock {
  /// Now, as exact as the clock's tick.
  public static var now: Moment {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &time)
    return Moment(time)
  }

  /// Now, as exact as the clock can be asked: a system call costs more where the machine has no fast one.
  public static var exactNow: Moment {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Moment(time)
  }

  /// Seconds since 1970.
  public static var secondsSince1970: Int { now.secondsSince1970 }
}
