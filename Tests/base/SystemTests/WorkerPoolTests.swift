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

  /// Who asks for much: 200 times the work of one kind, each as long as the gate is shut.
  @Test func `a kind of which nothing runs waits for no other`() {
    for threads in [1, 2] {
      let pool = WorkerPool(threads: threads, limit: 500, kinds: 3)
      let gate = DispatchSemaphore(value: 0)
      for _ in 0..<200 { #expect(pool.run(Turn(kind: 0, client: 1)) { gate.wait() }) }
      let done = DispatchSemaphore(value: 0)
      for kind in [1, 2, 1, 1] {
        #expect(pool.run(Turn(kind: kind, client: 1)) { done.signal() })
        done.wait()
      }
      for _ in 0..<200 { gate.signal() }
      pool.wait()
    }
  }

  @Test func `what waits is done in turns, whoever asked for most`() {
    let pool = WorkerPool(threads: 1, limit: 100, kinds: 2)
    let gate = DispatchSemaphore(value: 0)
    let order = Mutex("")
    for kind in [0, 1] { #expect(pool.run(Turn(kind: kind, client: 9)) { gate.wait() }) }
    for (client, count) in [(1, 5), (2, 2), (3, 1)] {
      for _ in 0..<count {
        #expect(pool.run(Turn(kind: 0, client: client)) { order.withLock { $0 += "\(client)" } })
      }
    }
    // The first of the two kinds may have the one thread, and the other one that of its own.
    gate.signal()
    gate.signal()
    pool.wait()
    #expect(order.withLock { $0 } == "12312111")
  }

  @Test func `however much one asks for, there is room for others`() {
    let pool = WorkerPool(threads: 1, limit: 20, kinds: 2)
    let gate = DispatchSemaphore(value: 0)
    let counts = (0..<4).map { client in
      (0..<100).count { _ in pool.run(Turn(kind: 0, client: client)) { gate.wait() } }
    }
    // One runs; half of what is left is for the first, half of what is then left for the second.
    #expect(counts.allSatisfy { $0 > 0 } && counts[0] < 14, "\(counts)")
    #expect(pool.count <= 20)
    for _ in 0..<pool.count { gate.signal() }
    pool.wait()
  }

  @Test(arguments: TestRandom.seeds)
  func `of several kinds all is done, and no more runs than there are threads and other kinds`(
    seed: UInt64
  ) {
    var random = TestRandom(seed)
    for _ in 0..<20 {
      let (threads, kinds) = (random.number(1...4), random.number(1...4))
      let pool = WorkerPool(threads: threads, limit: 300, kinds: kinds)
      let counts = Counts()
      var taken = 0
      for _ in 0..<300 {
        let turn = Turn(kind: random.number(0...(kinds - 1)), client: random.number(0...3))
        let isTaken = pool.run(turn) {
          let now = counts.running.add(1, ordering: .relaxed).newValue
          counts.most.max(now, ordering: .relaxed)
          counts.running.subtract(1, ordering: .relaxed)
          counts.done.add(1, ordering: .relaxed)
        }
        taken += isTaken ? 1 : 0
      }
      pool.wait()
      #expect(counts.done.load(ordering: .relaxed) == taken && taken > 0, TestRandom.replay)
      #expect(counts.most.load(ordering: .relaxed) < threads + kinds, TestRandom.replay)
      #expect(pool.count == 0, TestRandom.replay)
    }
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
