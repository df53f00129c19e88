/// Threads for work that would block an event loop, with a limit on the work that runs or waits.
///
/// Work may have a kind and a client. Waiting work is then taken in turns (`TurnQueue`), and one piece of
/// work of a kind may always run if no other of that kind does, besides as many as there are threads. So a
/// kind does not wait for other kinds, and a client waits only for the running work of its kind and for one
/// piece of each other client.
///
/// The threads are the pool's own instead of a dispatch queue's: that has one thread for each core, and on
/// one core a piece of work that takes long, or waits, would delay everything else that is queued anywhere in
/// the process, by at least a second. An idle thread stays for a while, since more work is likely, and then
/// ends. The idle thread that worked last gets the next work.
public final class WorkerPool: Sendable {
  /// A piece of work.
  public typealias Work = @Sendable () -> Void

  /// A piece of work of a kind.
  private struct Task: Sendable {
    let kind: Int
    /// Does the work, and returns what is left to be done once its place is free.
    let run: @Sendable () -> Work?
  }

  /// An idle thread, and the work that it is given.
  private typealias IdleThread = Monitor<Task?>

  private struct State: Sendable {
    /// The number of pieces of work that run at once, besides one of each kind of which no other runs.
    let places: Int
    var threads = 0
    var idle: [IdleThread] = []
    var running = 0
    var runningOfKind: [Int]
    /// The number of pieces of work that gave up their place and are not finished.
    var ending = 0
    var waiting: TurnQueue<Task>

    init(places: Int, kinds: Int) {
      self.places = places
      runningOfKind = Array(repeating: 0, count: kinds)
      waiting = TurnQueue(kinds: kinds)
    }

    var count: Int { running + waiting.count }
    var maximumThreads: Int { places + runningOfKind.count - 1 }

    func hasPlace(for kind: Int) -> Bool { running < places || runningOfKind[kind] == 0 }

    mutating func begin(_ task: Task) {
      running += 1
      runningOfKind[task.kind] += 1
    }

    mutating func end(_ task: Task) {
      running -= 1
      runningOfKind[task.kind] -= 1
    }

    /// Takes waiting work for which there is a place, first of a kind of which nothing runs.
    mutating func popWaiting() -> Task? {
      if let task = waiting.popFirst(of: { runningOfKind[$0] == 0 }) { return task }
      return running < places ? waiting.popFirst(of: { _ in true }) : nil
    }
  }

  /// The time that an idle thread waits for more work before it ends.
  private static let idleMilliseconds = 2_000

  private let state: Monitor<State>
  private let limit: Int

  /// A pool without threads, which starts them as work comes.
  ///
  /// - Parameters:
  ///   - threads: the number of pieces of work that run at once, besides one of each kind of which no other
  ///     runs.
  ///   - limit: the maximum number that run or wait.
  ///   - kinds: the number of kinds of work.
  public init(threads: Int, limit: Int, kinds: Int = 1) {
    state = Monitor(State(places: threads, kinds: kinds))
    self.limit = limit
  }

  /// The number of pieces of work that run or wait.
  public var count: Int { state.withLock { $0.count } }

  private enum Arrival {
    case refused, waits
    case goesTo(IdleThread)
    case startsThread
  }

  /// Runs the work soon; `false` if too much work waits already, or if the system cannot start a thread.
  public func run(_ work: @escaping Work) -> Bool {
    start(nil) {
      work()
      return nil
    }
  }

  /// Runs the work when its turn comes; `false` also if as much work of this kind already waits for this
  /// client as there is room left, so that one client leaves room for others.
  public func run(_ turn: Turn, _ work: @escaping Work) -> Bool {
    start(turn) {
      work()
      return nil
    }
  }

  /// The same, for work whose outcome is told once its place is free, so that the receiver can submit the
  /// next piece.
  public func run<Outcome>(
    _ work: @escaping @Sendable () -> Outcome, telling tell: @escaping @Sendable (Outcome) -> Void
  ) -> Bool where Outcome: Sendable {
    start(nil) {
      let outcome = work()
      return { tell(outcome) }
    }
  }

  private func start(_ turn: Turn?, _ work: @escaping @Sendable () -> Work?) -> Bool {
    let task = Task(kind: turn?.kind ?? 0, run: work)
    let arrival = state.withLock { state -> Arrival in
      let room = limit - state.count
      guard room > 0 else { return .refused }
      if let turn, state.waiting.count(of: turn) >= room { return .refused }
      let hasPlace = state.hasPlace(for: task.kind)
      if hasPlace, let idle = state.idle.popLast() {
        state.begin(task)
        return .goesTo(idle)
      }
      state.waiting.append(task, turn ?? Turn(kind: 0, client: 0))
      guard hasPlace, state.threads < state.maximumThreads else { return .waits }
      state.threads += 1
      return .startsThread
    }
    switch arrival {
    case .refused: return false
    case .waits: return true
    case .goesTo(let idle):
      idle.withLock { $0 = task }
      idle.notify()
      return true
    case .startsThread: return startWorker()
    }
  }

  /// Waits until nothing runs or waits, including work that is submitted meanwhile.
  public func wait() { state.wait { $0.count + $0.ending == 0 ? () : nil } }

  /// Starts a thread. If the system cannot, and no other thread will take the waiting work, that work is
  /// dropped.
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
    while let task = next(thread) {
      let rest = task.run()
      end { state in
        state.end(task)
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
    // Only `wait()` waits for this.
    if isIdle { state.notify() }
  }

  /// Waiting work, or work that arrives while the thread is idle; nil if the thread has to end.
  private func next(_ thread: IdleThread) -> Task? {
    let waiting = state.withLock { state -> Task? in
      guard let task = state.popWaiting() else {
        state.idle.append(thread)
        return nil
      }
      state.begin(task)
      return task
    }
    if let waiting { return waiting }
    if let work = thread.wait(atMostMilliseconds: Self.idleMilliseconds, until: Self.take) {
      return work
    }
    let ends = state.withLock { state in
      // A thread that is no longer in `idle` was promised work, which will arrive.
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
