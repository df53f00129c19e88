import Dispatch
import Synchronization

/// Threads for what would hold up an event loop; so many pieces of work wait at the most.
final class WorkerPool: Sendable {
  private let queue = DispatchQueue(label: "lookahead.worker", attributes: .concurrent)
  private let running: DispatchSemaphore
  private let waiting = Mutex(0)
  private let limit: Int

  /// - Parameters:
  ///   - threads: how many pieces of work run at once.
  ///   - limit: how many may run or wait.
  init(threads: Int, limit: Int) {
    running = DispatchSemaphore(value: threads)
    self.limit = limit
  }

  /// Runs the work soon; `false` where too much waits already.
  func run(_ work: @escaping @Sendable () -> Void) -> Bool {
    let isTaken = waiting.withLock { waiting in
      guard waiting < limit else { return false }
      waiting += 1
      return true
    }
    guard isTaken else { return false }
    queue.async { [self] in
      running.wait()
      work()
      running.signal()
      waiting.withLock { $0 -= 1 }
    }
    return true
  }
}
