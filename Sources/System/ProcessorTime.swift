import Glibc

/// How long processors have worked for somebody.
public enum ProcessorTime {
  /// For the thread that calls (`CLOCK_THREAD_CPUTIME_ID`).
  public static var threadNanoseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// For the children of this process that have ended (`getrusage(2)`).
  public static var childrenNanoseconds: UInt64 {
    var usage = rusage()
    getrusage(RUSAGE_CHILDREN.rawValue, &usage)
    return [usage.ru_utime, usage.ru_stime].reduce(0) { sum, time in
      sum + UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_usec) * 1_000
    }
  }
}
