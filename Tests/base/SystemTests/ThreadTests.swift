import Glibc
import Synchronization
import TestSupport
import Testing

@testable import System

/// Threads of our own.
@Suite struct ThreadTests {
  @Test func `a periodic task runs again and again until it is stopped, and not after`() throws {
    let runs = Monitor(0)
    let task = PeriodicTask(pauseMilliseconds: 1) {
      runs.withLock { $0 += 1 }
      runs.notify()
    }
    try task.start()
    runs.wait { $0 >= 3 ? () : nil }
    task.stop()
    let count = runs.withLock { $0 }
    #expect(runs.wait(atMostMilliseconds: 20) { $0 > count ? () : nil } == nil)
    // Whoever stops it twice, or what never began, waits for nothing.
    task.stop()
    PeriodicTask(pauseMilliseconds: 1) {}.stop()
  }

  @Test func `a periodic task that is stopped within its work ends behind it`() throws {
    let stage = Monitor(0)
    let task = PeriodicTask(firstPauseMilliseconds: { 0 }) {
      stage.withLock { $0 = 1 }
      stage.notify()
      stage.wait { $0 == 2 ? () : nil }
      stage.withLock { $0 = 3 }
      return 1_000_000
    }
    try task.start()
    stage.wait { $0 == 1 ? () : nil }
    try startThread {
      stage.withLock { $0 = 2 }
      stage.notify()
    }
    task.stop()
    #expect(stage.withLock { $0 } == 3)
  }

  /// Of the thread that asks.
  private static var nice: Int32 { getpriority(Int32(PRIO_PROCESS.rawValue), 0) }

  @Test func `what works in the background is nicer, and so is what it starts`() throws {
    let before = Self.nice
    let found = Monitor<[Int32]>([])
    let task = PeriodicTask(
      scheduling: .background, firstPauseMilliseconds: { 0 },
      {
        found.withLock { $0.append(Self.nice) }
        // Less nice takes a privilege, which it makes no use of.
        try? startThread(scheduling: .prompt) {
          found.withLock { $0.append(Self.nice) }
          found.notify()
        }
        return 1_000_000
      })
    try task.start()
    let nices = found.wait { $0.count == 2 ? $0 : nil }
    task.stop()
    let nice = max(before, Scheduling.background.nice)
    #expect(nices == [nice, nice])
    #expect(Self.nice == before)
  }

  @Test(arguments: [0, 1, 2, 7]) func `work is done for each number, and all of it`(_ count: Int) {
    let done = Mutex<[Int]>([])
    runConcurrently(count) { number in done.withLock { $0.append(number) } }
    #expect(done.withLock { $0.sorted() } == Array(0..<count))
  }

  @Test func `they run at the same time`() {
    let arrived = Monitor(0)
    // Each waits for all of them.
    runConcurrently(4) { _ in
      arrived.withLock { $0 += 1 }
      arrived.notify()
      arrived.wait { $0 == 4 ? () : nil }
    }
    #expect(arrived.withLock { $0 } == 4)
  }

  @Test(arguments: TestRandom.seeds)
  func `a pool that falls idle between takes all that it is given`(
    seed: UInt64
  ) {
    var random = TestRandom(seed)
    let pool = WorkerPool(threads: 3, limit: 1_000)
    let done = Atomic(0)
    var given = 0
    for _ in 0..<300 {
      for _ in 0..<random.number(1...6) {
        #expect(pool.run { done.add(1, ordering: .relaxed) })
        given += 1
      }
      if random.once(in: 2) { pool.wait() }
    }
    pool.wait()
    #expect(done.load(ordering: .relaxed) == given && pool.count == 0, TestRandom.replay)
  }

  @Test func `a moment beyond what nanoseconds can tell is the first or last that they can`() {
    let cases: [(seconds: Int, nanoseconds: Int, total: Int)] = [
      (5, 7, 5_000_000_007), (-1, 999_999_999, -1), (9_223_372_036, 854_775_807, .max),
      (9_223_372_036, 854_775_808, .max), (9_223_372_037, 0, .max), (.max, 0, .max),
      (.min, 0, .min), (-9_223_372_037, 0, .min),
    ]
    for (seconds, nanoseconds, total) in cases {
      let moment = Moment(secondsSince1970: seconds, nanoseconds: nanoseconds)
      #expect(moment.nanosecondsSince1970 == total)
    }
  }
}
