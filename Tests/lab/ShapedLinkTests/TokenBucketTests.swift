import TestSupport
import Testing

@testable import ShapedLink

@Suite struct TokenBucketTests {
  /// Millionths of a bit in a byte.
  private static let unitsPerByte = 8_000_000

  @Test(arguments: TestRandom.seeds)
  func `in any time no more passes than the rate allows and one bucket`(_ seed: UInt64) {
    var random = TestRandom(seed)
    for _ in 0..<50 {
      let burst = random.number(1...20_000)
      var rate = random.number(0...200_000)
      var bucket = TokenBucket(rateKbps: rate, burstBytes: burst)
      var time: UInt64 = 0
      // What may have passed by each moment by the rate alone, and what did.
      var moments: [(allowedUnits: Int, takenUnits: Int)] = [(0, 0)]
      for _ in 0..<200 {
        let pause = random.number(0...(random.chance(20) ? 100_000_000 : 300_000))
        time += UInt64(pause)
        var (allowed, taken) = moments.last!
        allowed += rate * pause
        // Before what is taken at a moment, and behind it.
        moments.append((allowed, taken))
        if random.chance(10) {
          rate = random.number(0...200_000)
          bucket.setRate(kbps: rate, atNanoseconds: time)
        }
        let bytes = random.number(0...burst)
        if bucket.take(bytes, atNanoseconds: time) { taken += bytes * Self.unitsPerByte }
        moments.append((allowed, taken))
      }
      for (index, first) in moments.enumerated() {
        let isKept = moments[index...].allSatisfy {
          $0.takenUnits - first.takenUnits
            <= $0.allowedUnits - first.allowedUnits + burst * Self.unitsPerByte
        }
        #expect(isKept, TestRandom.replay)
      }
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `whoever waits as long as told gets through, and not a nanosecond earlier`(_ seed: UInt64) {
    var random = TestRandom(seed)
    for _ in 0..<200 {
      let burst = random.number(1...20_000)
      var bucket = TokenBucket(rateKbps: random.number(1...200_000), burstBytes: burst)
      var time: UInt64 = 0
      for _ in 0..<20 {
        let bytes = random.number(0...burst)
        let ready = bucket.readyNanoseconds(forBytes: bytes, atNanoseconds: time)!
        if ready > time {
          var early = bucket
          let isEarly = early.take(bytes, atNanoseconds: ready - 1)
          #expect(!isEarly, TestRandom.replay)
        }
        let isTaken = bucket.take(bytes, atNanoseconds: ready)
        #expect(isTaken, TestRandom.replay)
        time = ready
      }
    }
  }

  @Test func `what never comes is never promised`() {
    var bucket = TokenBucket(rateKbps: 0, burstBytes: 10)
    #expect(bucket.readyNanoseconds(forBytes: 11, atNanoseconds: 0) == nil)
    let takesAll = bucket.take(10, atNanoseconds: 0)
    #expect(takesAll)
    #expect(bucket.readyNanoseconds(forBytes: 1, atNanoseconds: .max) == nil)
    let takesMore = bucket.take(1, atNanoseconds: .max)
    #expect(!takesMore)
  }

  @Test func `the greatest numbers overflow nothing`() {
    var bucket = TokenBucket(rateKbps: .max, burstBytes: .max)
    #expect(bucket.rateKbps == TokenBucket.maximumRateKbps)
    let all = TokenBucket.maximumBurstBytes
    for time: UInt64 in [0, .max / 2, .max - 1] {
      let isTaken = bucket.take(all, atNanoseconds: time)
      #expect(isTaken)
    }
    #expect(bucket.readyNanoseconds(forBytes: all, atNanoseconds: .max) == nil)
    // Time that goes back brings nothing.
    let isTaken = bucket.take(1, atNanoseconds: 0)
    #expect(!isTaken)
  }
}
