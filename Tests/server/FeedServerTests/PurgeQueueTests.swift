import TestSupport
import Testing

@testable import FeedServer

/// What is sent to a cache when, with a clock that the tests turn.
@Suite struct PurgeQueueTests {
  @Test func `what waits is sent at once, and once more a while later`() {
    var queue = PurgeQueue(maximumKeys: 10, againMilliseconds: 1_000)
    #expect(queue.due == nil && queue.next(at: 5).isEmpty && queue.oldest == nil)
    queue.add(["b", "a"], at: 10)
    queue.add(["a"], at: 12)
    #expect(queue.due == 10 && queue.oldest == 10 && queue.count == 2)
    #expect(queue.next(at: 12) == ["a", "b"])
    #expect(queue.count == 2 && queue.oldest == 10 && queue.oldestSent == 10)
    queue.succeeded(at: 20)
    #expect(queue.count == 0 && queue.oldest == nil && queue.due == 1_020)
    #expect(queue.next(at: 1_019).isEmpty)
    #expect(queue.next(at: 1_020) == ["a", "b"])
    // Nobody waits for the second time.
    #expect(queue.count == 0 && queue.oldest == nil)
    queue.succeeded(at: 1_030)
    #expect(queue.due == nil)
  }

  @Test func `what changes while it is being sent is sent again`() {
    var queue = PurgeQueue(maximumKeys: 10, againMilliseconds: 0)
    queue.add(["a"], at: 1)
    #expect(queue.next(at: 1) == ["a"])
    queue.add(["a"], at: 2)
    queue.succeeded(at: 3)
    #expect(queue.oldest == 2 && queue.next(at: 3) == ["a"])
    queue.failed()
    #expect(queue.oldest == 2 && queue.next(at: 4) == ["a"])
    queue.succeeded(at: 5)
    #expect(queue.due == nil)
  }

  @Test func `more keys than are kept become the key of all`() {
    var queue = PurgeQueue(maximumKeys: 3, againMilliseconds: 100)
    queue.add(["a", "b", "c"], at: 1)
    #expect(queue.count == 3 && queue.overflows == 0)
    queue.add(["d"], at: 9)
    #expect(queue.count == 1 && queue.overflows == 1 && queue.oldest == 1)
    queue.add(["e"], at: 10)
    #expect(queue.next(at: 10) == ["all"])
    queue.add(["a", "b"], at: 11)
    queue.failed()
    #expect(queue.overflows == 1 && queue.next(at: 12) == ["all"])
    queue.succeeded(at: 13)
    #expect(queue.next(at: 112).isEmpty && queue.next(at: 113) == ["all"])
  }

  @Test func `a batch has a limited number of bytes, and at least one key`() {
    var queue = PurgeQueue(maximumKeys: 1_000, againMilliseconds: 0)
    let keys = (100..<400).map { "feed/\($0)-" + String(repeating: "x", count: 30) }
    queue.add(keys + [String(repeating: "y", count: 5_000)], at: 1)
    var sent: [String] = []
    while case let batch = queue.next(at: 1), !batch.isEmpty {
      #expect(batch.count == 1 || batch.reduce(0) { $0 + $1.utf8.count + 1 } <= 4_096)
      sent += batch
      queue.succeeded(at: 1)
    }
    #expect(sent.count == 301 && Set(sent).count == 301)
  }

  @Test func `what is to be sent at the end is sent at once, and nothing again`() {
    var queue = PurgeQueue(maximumKeys: 10, againMilliseconds: 1_000)
    queue.add(["a"], at: 1)
    _ = queue.next(at: 1)
    queue.succeeded(at: 1)
    queue.add(["b"], at: 2)
    queue.end()
    #expect(queue.next(at: 2) == ["a", "b"])
    queue.succeeded(at: 3)
    #expect(queue.due == nil && queue.next(at: .max).isEmpty)
  }

  /// A cache into which old answers go on coming for as long as a purge is repeated after.
  @Test(arguments: TestRandom.seeds)
  func `nothing old stays, whatever fails and whenever answers come`(_ seed: UInt64) {
    var random = TestRandom(seed)
    for _ in 0..<200 {
      let again = random.number(1...50)
      var queue = PurgeQueue(maximumKeys: random.number(1...6), againMilliseconds: again)
      var old: Set<String> = []
      var changed: Set<String> = []
      // Answers that were made before the change, on their way.
      var coming: [(time: UInt64, key: String)] = []
      var now: UInt64 = 0
      var changes = random.number(1...40)
      while changes > 0 || queue.due != nil || !coming.isEmpty {
        now += UInt64(random.number(0...9))
        for answer in coming where answer.time <= now { old.insert(answer.key) }
        coming.removeAll { $0.time <= now }
        if changes > 0, random.once(in: 2) {
          changes -= 1
          let key = "k\(random.number(0...8))"
          old.insert(key)
          changed.insert(key)
          queue.add([key], at: now)
        }
        let batch = queue.next(at: now)
        if batch.isEmpty { continue }
        if random.once(in: 3) {
          queue.failed()
          continue
        }
        let isAll = batch == ["all"]
        if isAll { old = [] } else { old.subtract(batch) }
        queue.succeeded(at: now)
        // What was purged for a change may come once more before that is done again.
        for key in (isAll ? changed : changed.intersection(batch)).sorted() where random.once(in: 2)
        {
          coming.append((now + UInt64(random.number(0...(again - 1))), key))
        }
        if isAll { changed = [] } else { changed.subtract(batch) }
      }
      #expect(old.isEmpty, TestRandom.replay)
    }
  }
}
