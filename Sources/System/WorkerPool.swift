import DequeModule

/// Threads for what would hold up an event loop; so many pieces of work run or wait at the most.
///
/// The threads are the pool's own and no dispatch queue's: those have one thread for each core, and on one
/// core a piece of work that takes long, or waits, would hold up everything else that is queued anywhere
/// in the process, for a second at the least. A thread that has nothing to do stays for a while, since
/// more work is likely, and then ends. Of those, the one that worked last gets what comes next.
public final class WorkerPool: Sendable {
  /// A piece of work.
  public typealias Work = @Sendable () -> Void

  /// A piece of work, and what is left to be done when its place is free for another.
  private typealias Task = @Sendable () -> Work?

  /// A thread that has nothing to do, and what it is given then.
  private typealias IdleThread = Monitor<Task?>

  private struct State {
    var threads = 0
    var idle: [IdleThread] = []
    var running = 0
    /// What has no place any more, and is not yet done with.
    var ending = 0
    var waiting: Deque<Task> = []

    var count: Int { running + waiting.count }
  }

  /// How long a thread waits for more work before it ends.
  private static let idleMilliseconds = 2_000

  private let state = Monitor(State())
  private let threads: Int
  private let limit: Int

  /// - Parameters:
  ///   - threads: how many pieces of work run at once.
  ///   - limit: how many may run or wait.
  public init(threads: Int, limit: Int) {
    self.threads = threads
    self.limit = limit
  }

  /// How many pieces of work run or wait.
  public var count: Int { state.withLock { $0.count } }

  private enum Arrival {
    case refused, waits
    case goesTo(IdleThread)
    case startsThread
  }

  /// Runs the work soon; `false` where too much waits already, or where the system has no thread for it.
  public func run(_ work: @escaping Work) -> Bool {
    start {
      work()
      return nil
    }
  }

  /// The same, for work whose outcome is told when its place is free: who hears of it may ask for the next.
  public func run<Outcome>(
    _ work: @escaping @Sendable () -> Outcome, telling tell: @escaping @Sendable (Outcome) -> Void
  ) -> Bool where Outcome: Sendable {
    start {
      let outcome = work()
      return { tell(outcome) }
    }
  }

  private func start(_ work: @escaping Task) -> Bool {
    let arrival = state.withLock { state -> Arrival in
      guard state.count < limit else { return .refused }
      if let idle = state.idle.popLast() {
        state.running += 1
        return .goesTo(idle)
      }
      state.waiting.append(work)
      guard state.threads < threads else { return .waits }
      state.threads += 1
      return .startsThread
    }
    switch arrival {
    case .refused: return false
    case .waits: return true
    case .goesTo(let idle):
      idle.withLock { $0 = work }
      idle.notify()
      return true
    case .startsThread: return startWorker()
    }
  }

  /// Waits until nothing runs or waits; what is given to it meanwhile is waited for, too.
  public func wait() { state.wait { $0.count + $0.ending == 0 ? () : nil } }

  /// Starts a thread; where there is none to be had and no other will take what waits, that is dropped.
  private func startWorker() -> Bool {
    do throws(SystemError) {
      try startThread { [self] in workUntilIdle() }
      return true
    } catch {
      let isDropped = state.withLock { state in
        state.threads -= 1
        guard state.threads == 0, !state.waiting.isEmpty else { return false }
        state.waiting.removeAll()
        return true
      }
      if isDropped { state.notify() }
      return !isDropped
    }
  }

  private func workUntilIdle() {
    let thread = IdleThread(nil)
    while let work = next(thread) {
      let rest = work()
      end { state in
        state.running -= 1
        if rest != nil { state.ending += 1 }
      }
      guard let rest else { continue }
      rest()
      end { $0.ending -= 1 }
    }
  }

  private func end(_ change: (inout State) -> Void) {
    let isIdle = state.withLock { state in
      change(&state)
      return state.count + state.ending == 0
    }
    // Nobody but `wait()` waits for this.
    if isIdle { state.notify() }
  }

  /// What waits, or what comes while the thread is idle; nil where it is to end.
  private func next(_ thread: IdleThread) -> Task? {
    let waiting = state.withLock { state -> Task? in
      guard let work = state.waiting.popFirst() else {
        state.idle.append(thread)
        return nil
      }
      state.running += 1
      return work
    }
    if let waiting { return waiting }
    if let work = thread.wait(atMostMilliseconds: Self.idleMilliseconds, until: Self.take) {
      return work
    }
    let ends = state.withLock { state in
      // A thread that is no longer among the idle ones was promised work, which is on its way.
      guard let index = state.idle.firstIndex(where: { $0 === thread }) else { return false }
      state.idle.remove(at: index)
      state.threads -= 1
      return true
    }
    return ends ? nil : thread.wait(until: Self.take)
  }

  private static func take(_ work: inout Task?) -> Task? {
    defer { work = nil }
    return work
  }
}
