import Synchronization
import System
import TestSupport
import Testing

@testable import MediaIndex

/// Work rests for what it took, and a rest can be ended.
@Suite struct MediaPaceTests {
  /// Keeps the processor busy for so long.
  private func burn(milliseconds: UInt64) {
    let end = ProcessorTime.threadNanoseconds + milliseconds * 1_000_000
    while ProcessorTime.threadNanoseconds < end {}
  }

  @Test func `of a share of a tenth nine tenths are rested`() {
    let pace = MediaPace(percent: 10)
    let start = MonotonicClock.nanoseconds
    for _ in 0..<4 { pace.work { burn(milliseconds: 10) } }
    let took = Int(MonotonicClock.nanoseconds - start)
    #expect(pace.usedNanoseconds >= 40_000_000)
    // No less; a busy machine takes longer.
    #expect(took >= pace.usedNanoseconds * 9)
  }

  @Test func `a rest ends when nothing more is to be done`() throws {
    let pace = MediaPace(percent: 1)
    let hasEnded = Monitor(false)
    try startThread {
      // More rest than this test may take.
      pace.work { burn(milliseconds: 1_000) }
      hasEnded.withLock { $0 = true }
      hasEnded.notify()
    }
    pace.stop()
    hasEnded.wait { $0 ? () : nil }
    #expect(pace.isStopped)
  }
}
