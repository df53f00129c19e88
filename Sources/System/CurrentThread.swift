import Glibc

/// The thread that calls.
public enum CurrentThread {
  /// Rests for so long (`nanosleep(2)`), or less where a signal comes.
  public static func rest(nanoseconds: UInt64) {
    var time = timespec(
      tv_sec: Int(clamping: nanoseconds / 1_000_000_000),
      tv_nsec: Int(nanoseconds % 1_000_000_000))
    nanosleep(&time, nil)
  }

  /// Lets others that wait for the core have it (`sched_yield(2)`).
  public static func yield() { sched_yield() }
}
