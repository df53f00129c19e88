import Glibc

/// The time of day (`CLOCK_REALTIME`), as log lines take it.
public enum LogClock {
  /// Nanoseconds since 1970, UTC.
  public static var nanosecondsSince1970: Int {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
