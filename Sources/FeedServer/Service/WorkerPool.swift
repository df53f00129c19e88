import Dispatch
import Synchronization

/// Threads for what would hold up an event loop; so many pieces of work run or wait at the most.
///
/// Work waits in a queue of its own and not on threads: the system's are few, and shared.
final class WorkerPool: Sendable {
  private struct State {
    var running = 0
    var waiting: [@Sendable () -> Void] = []
  }

  private let queue = DispatchQueue(label: "lookahead.worker", attributes: .concurrent)
  private let state = Mutex(State())
  private let busy = DispatchGroup()
  private let threads: Int
  private let limit: Int

  /// - Parameters:
  ///   - threads: how many pieces of work run at once.
  ///   - limit: how many may run or wait.
  init(threads: Int, limit: Int) {
    self.threads = threads
    self.limit = limit
  }

  /// How many pieces of work run or wait.
  var count: Int { state.withLock { $0.running + $0.waiting.count } }

  /// Runs the work soon; `false` where too much waits already.
  func run(_ work: @escaping @Sendable () -> Void) -> Bool {
    let (isTaken, startsNow) = state.withLock { state in
      guard state.running + state.waiting.count < limit else { return (false, false) }
      guard state.running < threads else {
        state.waiting.append(work)
        return (true, false)
      }
      state.running += 1
      return (true, true)
    }
    if startsNow { start(work) }
    return isTaken
  }

  /// Waits until nothing runs or waits; what is given to it meanwhile is waited for, too.
  func wait() { busy.wait() }

  private func start(_ work: @escaping @Sendable () -> Void) {
    queue.async(group: busy) { [self] in
      var next: (@Sendable () -> Void)? = work
      while let work = next {
        work()
        next = state.withLock { state in
          guard !state.waiting.isEmpty else {
            state.running -= 1
            return nil
          }
          return state.waiting.removeFirst()
        }
      }
    }
  }
}
