/// Threads for what would hold up an event loop, with a limit on the work that runs or waits.
///
/// Work may have a kind and a client. Those that wait take turns then (`TurnQueue`), and of a kind of which nothing runs
/// one piece may always run, beside as many as there are threads: so a kind waits for none of another, and a client for no
/// more than what runs of its kind and one piece of each other client.
///
/// The threads are the pool's own and no dispatch queue's: those have one thread for each core, and on one
/// core a piece of work that takes long, or waits, would hold up everything else that is queued anywhere
/// in the process, for a second at the least. A thread that has nothing to do stays for a while, since
/// more work is likely, and then ends. Of those, the one that worked last gets what comes next.
public final class WorkerPool: Sendable {
  /// A piece of work.
  public typealias Work = @Sendable () -> Void

  /// A piece of work of a kind.
  private struct Task: Sendable {
    let kind: Int
    /// Does it, and says what is left to be done when its place is free for another.
    let run: @Sendable () -> Work?
  }

  /// A thread that has nothing to do, and what it is given then.
  private typealias IdleThread = Monitor<Task?>

  private struct State: Sendable {
    /// How many pieces of work run at once, beside one of each kind of which nothing else runs.
    let places: Int
    var threads = 0
    var idle: [IdleThread] = []
    var running = 0
    var runningOfKind: [Int]
    /// What has no place any more, and is not yet done with.
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

    /// What waits and has a place, first of a kind of which nothing runs.
    mutating func popWaiting() -> Task? {
      if let task = waiting.popFirst(of: { runningOfKind[$0] == 0 }) { return task }
      return running < places ? waiting.popFirst(of: { _ in true }) : nil
    }
  }

  /// How long a thread waits for more work before it ends.
  private static let idleMilliseconds = 2_000

  private let state: Monitor<State>
  private let limit: Int

  /// - Parameters:
  ///   - threads: how many pieces of work run at once, beside one of each kind of which nothing else runs.
  ///   - limit: how many may run or wait.
  ///   - kinds: how many kinds of work there are.
  public init(threads: Int, limit: Int, kinds: Int = 1) {
    state = Monitor(State(places: threads, kinds: kinds))
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
    start(nil) {
      work()
      return nil
    }
  }

  /// Runs the work when it is its turn; `false` also where more waits of this kind for this client than there is room
  /// left: however much one asks for, there is room for others.
  public func run(_ turn: Turn, _ work: @escaping Work) -> Bool {
    start(turn) {
      work()
      return nil
    }
  }

  /// The same, for work whose outcome is told when its place is free: who hears of it may ask for the next.
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

  /// Waits until nothing runs or waits; what is given to it meanwhile is waited for, too.
  public func wait() { state.wait { $0.count + $0.ending == 0 ? () : nil } }

  /// Starts a thread; if the system gives none and no other will take what waits, that is dropped.
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

  /// What waits, or what comes while the thread is idle; nil where it is to end.
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
