/// Does something again and again on a thread of its own, with a pause before each time, until it is
/// stopped.
public final class PeriodicTask: Sendable {
  private struct State {
    var isRunning = false
    var isStopping = false
  }

  private let state = Monitor(State())
  private let scheduling: Scheduling
  private let firstPauseMilliseconds: @Sendable () -> Int
  private let work: @Sendable () -> Int

  /// Work that says how long to pause after it.
  ///
  /// - Parameters:
  ///   - scheduling: how it shares its core.
  ///   - firstPauseMilliseconds: asked on the task's thread when it starts.
  public init(
    scheduling: Scheduling = .usual, firstPauseMilliseconds: @escaping @Sendable () -> Int,
    _ work: @escaping @Sendable () -> Int
  ) {
    self.scheduling = scheduling
    self.firstPauseMilliseconds = firstPauseMilliseconds
    self.work = work
  }

  /// Work with the same pause before each time.
  public convenience init(
    pauseMilliseconds: Int, scheduling: Scheduling = .usual, _ work: @escaping @Sendable () -> Void
  ) {
    self.init(scheduling: scheduling, firstPauseMilliseconds: { pauseMilliseconds }) {
      work()
      return pauseMilliseconds
    }
  }

  /// Begins with the first pause. To be called once.
  ///
  /// - Throws: `SystemError` where the system has no thread for it.
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

  /// Returns when the work is not running and will not again.
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
