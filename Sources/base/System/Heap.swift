import CLinux
import Glibc

/// The C library's heap (malloc(3)).
public enum Heap {
  /// The freed memory that each part of the heap keeps: more than the answers that an event loop makes before
  /// it writes them. With the system's 128 KiB, a page of encoded items took a third more processor time, for
  /// page faults.
  private static let keptBytes: Int32 = 4 << 20
  /// The size from which a block comes from the system, and goes back to it: only few answers are as large.
  private static let mappedBytes: Int32 = 1 << 20

  /// Adapts the heap to a server, before it starts other threads (mallopt(3)).
  ///
  /// The heap has as many parts as event loops, since a part reuses only what was freed in it: with a part for
  /// each thread, bodies that workers compressed did not get the memory of the bodies that they replaced in
  /// the cache, which took 29 MB more.
  ///
  /// A variable of the environment that sets one of these takes precedence.
  public static func adapt(eventLoops: Int) {
    guard getenv("GLIBC_TUNABLES") == nil else { return }
    for (variable, option, value) in [
      ("MALLOC_TRIM_THRESHOLD_", M_TRIM_THRESHOLD, keptBytes),
      ("MALLOC_MMAP_THRESHOLD_", M_MMAP_THRESHOLD, mappedBytes),
      ("MALLOC_ARENA_MAX", M_ARENA_MAX, Int32(clamping: eventLoops)),
    ] where getenv(variable) == nil {
      _ = mallopt(option, value)
    }
  }
}
