/// Repeats work on a thread of its own, with a pause before each time, until it is stopped.
public final class PeriodicTask: Sendable {
  private struct State {
    var isRunning = false
    var isStopping = false
  }

  private let state = Monitor(State())
  private let scheduling: Scheduling
  private let firstPauseMilliseconds: @Sendable () -> Int
  private let work: @Sendable () -> Int

  /// A task whose work returns the pause after it, in milliseconds.
  ///
  /// - Parameters:
  ///   - scheduling: how the thread shares its core.
  ///   - firstPauseMilliseconds: called on the task's thread when it starts.
  public init(
    scheduling: Scheduling = .usual, firstPauseMilliseconds: @escaping @Sendable () -> Int,
    _ work: @escaping @Sendable () -> Int
  ) {
    self.scheduling = scheduling
    self.firstPauseMilliseconds = firstPauseMilliseconds
    self.work = work
  }

  /// A task with the same pause before each time.
  public convenience init(
    pauseMilliseconds: Int, scheduling: Scheduling = .usual, _ work: @escaping @Sendable () -> Void
  ) {
    self.init(scheduling: scheduling, firstPauseMilliseconds: { pauseMilliseconds }) {
      work()
      return pauseMilliseconds
    }
  }

  /// Starts with the first pause. Call it once.
  ///
  /// - Throws: `SystemError` if the system cannot start a thread.
  public func start() throws(SystemError) {
    state.withLock { $0.isRunning = true }
    do throws(SystemError) {
      try startThread(scheduling: scheduling) { [self] in
        runUntilStopped()
        end()
      }
    } catch {
      end()
      throw error
    }
  }

  /// Stops the task; returns when the work is not running and will not run again.
  public func stop() {
    state.withLock { $0.isStopping = true }
    state.notify()
    state.wait { $0.isRunning ? nil : () }
  }

  private func runUntilStopped() {
    var pause = firstPauseMilliseconds()
    while state.wait(atMostMilliseconds: pause, until: { $0.isStopping ? () : nil }) == nil {
      pause = work()
    }
  }

  private func end() {
    state.withLock { $0.isRunning = false }
    state.notify()
  }
}
