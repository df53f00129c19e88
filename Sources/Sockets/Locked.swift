import Glibc

/// A value that threads share, behind a `pthread_mutex_t`.
///
/// The standard library's `Mutex` does the same, but its slow path is invisible to the thread
/// sanitizer of this toolchain (Swift 6.3 on Linux), which then reports a race for any contended
/// `Mutex`, even in a program of ten lines. The sanitizer knows pthread's.
///
/// `@unchecked Sendable`: `value` is only reached while `mutex` is held, and both live in memory of
/// their own that moves for nobody.
final class Locked<Value: Sendable>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var value: Value

  init(_ value: Value) {
    self.value = value
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(&value)
  }
}
