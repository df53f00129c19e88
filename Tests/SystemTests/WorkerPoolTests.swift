import Dispatch
import Synchronization
import System
import TestSupport
import Testing

@testable import System

/// Work on threads of the pool's own.
@Suite struct WorkerPoolTests {
  private final class Counts: Sendable {
    let running = Atomic(0)
    let most = Atomic(0)
    let done = Atomic(0)
  }

  @Test(arguments: TestRandom.seeds)
  func `so much runs at once and no more, and all that was taken is done`(seed: UInt64) {
    var random = TestRandom(seed)
    for _ in 0..<20 {
      let threads = random.number(1...6)
      let limit = threads + random.number(0...20)
      let pool = WorkerPool(threads: threads, limit: limit)
      let counts = Counts()
      var taken = 0
      for _ in 0..<200 {
        let isTaken = pool.run {
          let now = counts.running.add(1, ordering: .relaxed).newValue
          counts.most.max(now, ordering: .relaxed)
          counts.running.subtract(1, ordering: .relaxed)
          counts.done.add(1, ordering: .relaxed)
        }
        taken += isTaken ? 1 : 0
      }
      pool.wait()
      #expect(counts.done.load(ordering: .relaxed) == taken, TestRandom.replay)
      #expect(counts.most.load(ordering: .relaxed) <= threads, TestRandom.replay)
      #expect(taken >= limit || taken == 200, TestRandom.replay)
    }
  }

  @Test func `one more than may wait is refused`() {
    let pool = WorkerPool(threads: 2, limit: 3)
    let gate = DispatchSemaphore(value: 0)
    for _ in 0..<3 { #expect(pool.run { gate.wait() }) }
    #expect(!pool.run {} && pool.count == 3)
    for _ in 0..<3 { gate.signal() }
    pool.wait()
    #expect(pool.run {})
    pool.wait()
  }

  /// A dispatch queue's threads are as many as there are cores.
  @Test
  func `who is told of an outcome finds the place free, and the pool waits for the telling`() {
    let pool = WorkerPool(threads: 1, limit: 1)
    let told = Monitor(0)
    // Each is asked for by who was told of the one before.
    @Sendable func next(_ number: Int) -> Bool {
      pool.run {
        number
      } telling: { number in
        let isTaken = number == 1_000 || next(number + 1)
        told.withLock { $0 += isTaken ? 1 : 0 }
      }
    }
    #expect(next(1))
    pool.wait()
    #expect(told.withLock { $0 } == 1_000)
  }

  @Test func `work that waits holds no other pool up`() {
    let gate = DispatchSemaphore(value: 0)
    let blocked = (0..<16).map { _ in WorkerPool(threads: 4, limit: 4) }
    for pool in blocked { for _ in 0..<4 { #expect(pool.run { gate.wait() }) } }
    let free = WorkerPool(threads: 1, limit: 1)
    let done = DispatchSemaphore(value: 0)
    #expect(free.run { done.signal() })
    done.wait()
    for _ in 0..<64 { gate.signal() }
    for pool in blocked { pool.wait() }
  }
}
