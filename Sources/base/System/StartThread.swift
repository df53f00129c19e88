import CLinux
import Glibc

/// The work of a thread, on its way through `pthread_create`.
private final class ThreadWork {
  let scheduling: Scheduling
  let work: @Sendable () -> Void

  init(_ scheduling: Scheduling, _ work: @escaping @Sendable () -> Void) {
    self.scheduling = scheduling
    self.work = work
  }

  func run() {
    // By default, a thread inherits the slice of the thread that starts it.
    CurrentThread.schedule(scheduling)
    work()
  }
}

/// Runs `work` on a detached thread of its own (`pthread_create(3)`).
///
/// - Throws: `SystemError` if the system has no more threads.
public func startThread(
  scheduling: Scheduling = .usual, _ work: @escaping @Sendable () -> Void
) throws(SystemError) {
  let box = Unmanaged.passRetained(ThreadWork(scheduling, work))
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

/// The calling thread.
public enum CurrentThread {
  /// Sleeps for this time (`nanosleep(2)`), or less if a signal arrives.
  public static func rest(nanoseconds: UInt64) {
    var time = timespec(
      tv_sec: Int(clamping: nanoseconds / 1_000_000_000),
      tv_nsec: Int(nanoseconds % 1_000_000_000))
    nanosleep(&time, nil)
  }

  /// Sets how this thread shares its core, and how threads do that it starts without another scheduling. If
  /// the system does not allow it, nothing changes.
  public static func schedule(_ scheduling: Scheduling) {
    _ = lookahead_set_scheduling(scheduling.sliceNanoseconds, scheduling.nice)
  }
}

/// How a thread shares its core with other threads that want it (`sched_setattr(2)`).
///
/// From 6.12 on, Linux (EEVDF) gives a core at once to the thread with the shorter slice, unless that has had
/// more than its share; earlier releases have no slices. In every release the time of a nicer thread counts
/// for more, so that it uses up its share sooner.
public enum Scheduling: Sendable {
  /// The system's choice: slices of some milliseconds.
  case usual
  /// A slice of 0.1 ms: for threads that mostly wait, and that others wait for.
  case prompt
  /// For long work that no request waits for, and which gives way to other threads. A slice of 0.1 s, the
  /// longest there is, and a nice value of 5, which is a third of the others' share of a core that all of
  /// them want at the same time.
  ///
  /// Such a thread should not yield, as it would lose the rest of its slice (Linux 6.18).
  case background

  /// The time that it runs before another thread gets its core; 0 for the system's choice.
  public var sliceNanoseconds: UInt64 {
    switch self {
    case .usual: 0
    case .prompt: 100_000
    case .background: 100_000_000
    }
  }

  /// The minimum nice value (`nice(2)`); threads that it starts have at least the same.
  public var nice: Int32 {
    switch self {
    case .usual, .prompt: 0
    case .background: 5
    }
  }
}
