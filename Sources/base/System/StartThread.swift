import CLinux
import Glibc

/// Holds a thread's work on its way through `pthread_create`.
private final class ThreadWork {
  let scheduling: Scheduling
  let work: @Sendable () -> Void

  init(_ scheduling: Scheduling, _ work: @escaping @Sendable () -> Void) {
    self.scheduling = scheduling
    self.work = work
  }

  func run() {
    // A thread has the slice of the one that started it otherwise.
    CurrentThread.schedule(scheduling)
    work()
  }
}

/// Runs `work` on a detached thread of its own (`pthread_create(3)`).
///
/// - Throws: `SystemError` where the system has no more threads.
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
}

/// How a thread shares its core with others that want it (`sched_setattr(2)`).
///
/// Linux from 6.12 on (EEVDF) gives a core at once to the thread that wants it for the shorter time, unless
/// that has had more than its share; earlier ones know no such time. What a nicer thread takes counts for
/// more, so that it has had its share sooner: that holds for every release.
public enum Scheduling: Sendable {
  /// As the system chooses: slices of some milliseconds.
  case usual
  /// A slice of a tenth of a millisecond: for threads that wait most of the time and are waited for.
  case prompt
  /// For long work that no request waits for: it gives way to the others. A slice of a tenth of a
  /// second, the longest that there is, and nice by 5, which is a third of the others' share of a core that
  /// all of them want at the same time.
  ///
  /// Such a thread should not yield: it would lose what is left of its slice (Linux 6.18).
  case background

  /// How long it works before another one gets its core; 0 for as the system chooses.
  public var sliceNanoseconds: UInt64 {
    switch self {
    case .usual: 0
    case .prompt: 100_000
    case .background: 100_000_000
    }
  }

  /// How nice it is at the least (`nice(2)`): threads that it starts are no less so.
  public var nice: Int32 {
    switch self {
    case .usual, .prompt: 0
    case .background: 5
    }
  }
}
