import CLinux
import Glibc

/// How long a thread works before another one gets its core.
///
/// Linux gives the core to the thread that wants it for the shorter time, as soon as it wants it, unless it
/// has had more than its share (EEVDF, 6.12 and later; `sched_setattr(2)`). Earlier ones treat all alike.
public enum TimeSlice: Sendable {
  /// As the system chooses: some milliseconds.
  case usual
  /// A tenth of a millisecond: for threads that wait most of the time and are waited for.
  case short

  /// How long that is; 0 for as the system chooses.
  public var nanoseconds: UInt64 {
    switch self {
    case .usual: 0
    case .short: 100_000
    }
  }
}

/// Holds a thread's work on its way through `pthread_create`.
private final class ThreadWork {
  let timeSlice: TimeSlice
  let work: @Sendable () -> Void

  init(_ timeSlice: TimeSlice, _ work: @escaping @Sendable () -> Void) {
    self.timeSlice = timeSlice
    self.work = work
  }

  func run() {
    // A thread has the slice of the one that started it otherwise. Where the system does not allow to
    // choose it, nothing else changes.
    _ = lookahead_set_time_slice(timeSlice.nanoseconds)
    work()
  }
}

/// Runs `work` on a detached thread of its own (`pthread_create(3)`).
///
/// - Throws: `SystemError` where the system has no more threads.
public func startThread(
  timeSlice: TimeSlice = .usual, _ work: @escaping @Sendable () -> Void
) throws(SystemError) {
  let box = Unmanaged.passRetained(ThreadWork(timeSlice, work))
  var thread = pthread_t()
  let result = pthread_create(
    &thread, nil,
    { argument in
      if let argument {
        Unmanaged<ThreadWork>.fromOpaque(argument).takeRetainedValue().run()
      }
      return nil
    }, box.toOpaque())
  guard result == 0 else {
    box.release()
    throw SystemError(call: "pthread_create", purpose: "start a thread", code: result)
  }
  pthread_detach(thread)
}
