import Glibc

/// Holds a thread's work on its way through `pthread_create`.
private final class ThreadWork {
  let work: @Sendable () -> Void

  init(_ work: @escaping @Sendable () -> Void) { self.work = work }
}

/// Runs `work` on a detached thread of its own (`pthread_create(3)`).
///
/// - Throws: `SocketError` where the system has no more threads.
public func startThread(_ work: @escaping @Sendable () -> Void) throws(SocketError) {
  let box = Unmanaged.passRetained(ThreadWork(work))
  var thread = pthread_t()
  let result = pthread_create(
    &thread, nil,
    { argument in
      if let argument {
        Unmanaged<ThreadWork>.fromOpaque(argument).takeRetainedValue().work()
      }
      return nil
    }, box.toOpaque())
  guard result == 0 else {
    box.release()
    throw SocketError(call: "pthread_create", purpose: "start a thread", code: result)
  }
  pthread_detach(thread)
}
