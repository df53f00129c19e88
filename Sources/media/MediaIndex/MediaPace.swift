import System

/// How much of one processor runs may take: after each piece of work its thread rests, until the processor time
/// that it took, with that of the programs that it ran, is no more than that share of all time.
package final class MediaPace: Sendable {
  private struct State: Sendable {
    var isStopped = false
    /// How long to rest yet.
    var owedNanoseconds = 0
    var usedNanoseconds = 0
  }

  /// Of shorter rests several are made one.
  private static let leastRestNanoseconds = 5_000_000
  /// A clock that jumps makes no thread rest for longer.
  private static let longestRestNanoseconds = 600 * 1_000_000_000

  private let percent: Int
  private let state = Monitor(State())

  /// - Parameter percent: of one processor, 1…100.
  package init(percent: Int) {
    precondition((1...100).contains(percent))
    self.percent = percent
  }

  /// Ends every rest, and lets no work begin.
  package func stop() {
    state.withLock { $0.isStopped = true }
    state.notify()
  }

  /// Whether nothing more is to be done.
  package var isStopped: Bool { state.withLock { $0.isStopped } }

  /// How long processors have worked so far.
  package var usedNanoseconds: Int { state.withLock { $0.usedNanoseconds } }

  /// Does it, and rests for as long as that calls for.
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
