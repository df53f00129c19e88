import TestSupport
import Testing

@testable import Compression

struct RecencyListTests {
  @Test(arguments: TestRandom.seeds)
  func `slots that were given up are used again before the list grows`(seed: UInt64) throws {
    var random = TestRandom(seed)
    var list = RecencyList<Int>()
    var inUse: Set<Int> = []
    var mostInUse = 0
    for step in 0..<10_000 {
      if !inUse.isEmpty, random.chance(50) {
        let slot = random.one(of: inUse.sorted())
        inUse.remove(slot)
        _ = list.remove(slot)
      } else {
        let slot = list.insert(step)
        try #require(inUse.insert(slot).inserted, TestRandom.replay)
        mostInUse = max(mostInUse, inUse.count)
        // Slot 0 closes the ring.
        try #require((1...mostInUse).contains(slot), TestRandom.replay)
      }
    }
    while let oldest = list.oldest {
      _ = list.remove(oldest)
      inUse.remove(oldest)
    }
    #expect(inUse.isEmpty, TestRandom.replay)
  }
}
