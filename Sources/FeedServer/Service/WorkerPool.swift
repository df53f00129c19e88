import Dispatch
import Sockets
import Synchronization

/// Threads for what would hold up an event loop; so many pieces of work run or wait at the most.
///
/// The threads are the pool's own and no dispatch queue's: those have one thread for each core, and on one
/// core a piece of work that takes long, or waits, would hold up everything else that is queued anywhere
/// in the process, for a second at the least. A thread that has nothing to do stays for a while, since
/// more work is likely, and then ends.
final class WorkerPool: Sendable {
  /// A piece of work.
  typealias Work = @Sendable () -> Void

  private struct State {
    var threads = 0
    /// How many of them wait for work and are promised none.
    var idle = 0
    var running = 0
    var waiting: [Work] = []
  }

  /// How long a thread waits for more work before it ends.
  private static let idleMilliseconds = 2_000

  private let state = Mutex(State())
  private let arrivals = DispatchSemaphore(value: 0)
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

  private enum Arrival {
    case refused, waits
    case wakesThread, startsThread
  }

  /// Runs the work soon; `false` where too much waits already, or where the system has no thread for it.
  func run(_ work: @escaping Work) -> Bool {
    let arrival = state.withLock { state -> Arrival in
      guard state.running + state.waiting.count < limit else { return .refused }
      state.waiting.append(work)
      busy.enter()
      if state.idle > 0 {
        state.idle -= 1
        return .wakesThread
      }
      guard state.threads < threads else { return .waits }
      state.threads += 1
      return .startsThread
    }
    switch arrival {
    case .refused: return false
    case .waits: return true
    case .wakesThread:
      arrivals.signal()
      return true
    case .startsThread: return startWorker()
    }
  }

  /// Waits until nothing runs or waits; what is given to it meanwhile is waited for, too.
  func wait() { busy.wait() }

  /// Starts a thread; where there is none to be had and no other will take what waits, that is dropped.
  private func startWorker() -> Bool {
    do throws(SocketError) {
      try startThread { [self] in workUntilIdle() }
      return true
    } catch {
      let dropped = state.withLock { state in
        state.threads -= 1
        defer { if state.threads == 0 { state.waiting = [] } }
        return state.threads == 0 ? state.waiting.count : 0
      }
      for _ in 0..<dropped { busy.leave() }
      return dropped == 0
    }
  }

  private func workUntilIdle() {
    while true {
      let work = state.withLock { state -> Work? in
        guard !state.waiting.isEmpty else {
          state.idle += 1
          return nil
        }
        state.running += 1
        return state.waiting.removeFirst()
      }
      if let work {
        work()
        state.withLock { $0.running -= 1 }
        busy.leave()
      } else if !waitForWork() {
        return
      }
    }
  }

  /// Whether there may be work now; `false` where the thread is to end.
  private func waitForWork() -> Bool {
    let patience = DispatchTime.now() + .milliseconds(Self.idleMilliseconds)
    if arrivals.wait(timeout: patience) == .success { return true }
    let ends = state.withLock { state in
      // Every thread that waits is idle or was promised work, whose signal is on its way.
      guard state.idle > 0 else { return false }
      state.idle -= 1
      state.threads -= 1
      return true
    }
    if !ends { arrivals.wait() }
    return !ends
  }
}
