import Glibc

/// A value that threads share and can wait for: a lock and a condition.
///
/// All waiting threads are woken: `pthread_cond_signal` may wake none (glibc's bug 25847, up to 2.40), and
/// few threads wait for a value here.
///
/// It uses pthread's primitives instead of the standard `Mutex`: that has no condition, and the thread
/// sanitizer of this toolchain (Swift 6.3 on Linux) reports a race for any contended `Mutex`.
///
/// `@unchecked Sendable`: `value` is only accessed while `mutex` is held, and mutex and condition have memory
/// of their own, which never moves.
public final class Monitor<Value: Sendable>: @unchecked Sendable {
  @usableFromInline let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  @usableFromInline var value: Value

  /// A monitor of this value.
  public init(_ value: Value) {
    self.value = value
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    condition.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Calls `body` with exclusive access to the value.
  @inlinable
  public func withLock<Result, Failure>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }

  /// Wakes the waiting threads, which check the value again.
  public func notify() { pthread_cond_broadcast(condition) }

  /// Calls `body` now and after each `notify()` until it gives a result, which is returned.
  public func wait<Result>(until body: (inout Value) -> Result?) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&value) { return result }
      pthread_cond_wait(condition, mutex)
    }
  }

  /// The same, but returns `nil` if this many milliseconds have passed without a result.
  public func wait<Result>(
    atMostMilliseconds limit: Int, until body: (inout Value) -> Result?
  ) -> Result? {
    var deadline = timespec()
    clock_gettime(CLOCK_MONOTONIC, &deadline)
    let nanoseconds = deadline.tv_nsec + limit % 1000 * 1_000_000
    deadline.tv_sec += limit / 1000 + nanoseconds / 1_000_000_000
    deadline.tv_nsec = nanoseconds % 1_000_000_000
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&value) { return result }
      if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT { return body(&value) }
    }
  }
}
