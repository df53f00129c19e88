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
