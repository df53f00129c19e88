import CLinux
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

  /// Shares its core from now on as this says, and so do threads that are made without being told otherwise.
  /// Where the system does not allow to choose, nothing changes.
  public static func schedule(_ scheduling: Scheduling) {
    _ = lookahead_set_scheduling(scheduling.sliceNanoseconds, scheduling.nice)
  }

  /// Lets others that wait for the core have it (`sched_yield(2)`).
  public static func yield() { sched_yield() }
}
