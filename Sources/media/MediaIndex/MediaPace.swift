import System

/// A limit of the share of one processor that runs may use. After each piece of work its thread rests, until the
/// processor time of the work and of the programs that it ran is no more than that share of the elapsed time.
package final class MediaPace: Sendable {
  private struct State: Sendable {
    var isStopped = false
    /// The remaining time to rest.
    var owedNanoseconds = 0
    var usedNanoseconds = 0
  }

  /// The minimum rest; shorter ones are combined.
  private static let leastRestNanoseconds = 5_000_000
  /// The maximum rest, in case a clock jumps.
  private static let longestRestNanoseconds = 600 * 1_000_000_000

  private let percent: Int
  private let state = Monitor(State())

  /// Creates a pace.
  ///
  /// - Parameter percent: the share of one processor, 1…100.
  package init(percent: Int) {
    precondition((1...100).contains(percent))
    self.percent = percent
  }

  /// Ends every rest and prevents further work.
  package func stop() {
    state.withLock { $0.isStopped = true }
    state.notify()
  }

  /// Whether the pace was stopped.
  package var isStopped: Bool { state.withLock { $0.isStopped } }

  /// The processor time used so far.
  package var usedNanoseconds: Int { state.withLock { $0.usedNanoseconds } }

  /// Runs the work, then rests for as long as the limit requires.
  package func work<Result>(_ body: () throws -> Result) rethrows -> Result {
    let (start, used) = (MonotonicClock.nanoseconds, Self.processorNanoseconds)
    defer { rest(used: Self.processorNanoseconds &- used, since: start) }
    return try body()
  }

  private static var processorNanoseconds: UInt64 {
    ProcessorTime.threadNanoseconds + ProcessorTime.childrenNanoseconds
  }

  private func rest(used: UInt64, since start: UInt64) {
    let used = Int(clamping: used)
    let took = Int(clamping: MonotonicClock.nanoseconds - start)
    let due = state.withLock { state -> Int in
      state.usedNanoseconds += used
      let owed = state.owedNanoseconds + used / percent * 100 - took
      state.owedNanoseconds = min(max(0, owed), Self.longestRestNanoseconds)
      return state.owedNanoseconds
    }
    guard due >= Self.leastRestNanoseconds else { return }
    let begin = MonotonicClock.nanoseconds
    let isStopped = state.wait(atMostMilliseconds: due / 1_000_000) { state in
      state.isStopped ? true : nil
    }
    guard isStopped == nil else { return }
    let rested = Int(clamping: MonotonicClock.nanoseconds - begin)
    state.withLock { $0.owedNanoseconds = max(0, $0.owedNanoseconds - rested) }
  }
}
