import Glibc

/// The time of day (`CLOCK_REALTIME`), as log lines take it.
public enum LogClock {
  /// Nanoseconds since 1970, UTC; a clock beyond what they can tell (1677 to 2262) stands still there.
  public static var nanosecondsSince1970: Int {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return nanosecondsSince1970(of: time)
  }

  static func nanosecondsSince1970(of time: timespec) -> Int {
    let (seconds, isTooFar) = time.tv_sec.multipliedReportingOverflow(by: 1_000_000_000)
    let (nanoseconds, isTooFarToo) = seconds.addingReportingOverflow(time.tv_nsec)
    guard isTooFar || isTooFarToo else { return nanoseconds }
    return time.tv_sec < 0 ? .min : .max
  }
}
