import Foundation

/// Random numbers that come again for the same seed: of `LOOKAHEAD_TEST_SEED`, or the one given.
public struct SeededRandom: RandomNumberGenerator {
  /// To be printed when a test fails.
  public let seed: UInt64
  private var state: UInt64

  public init(_ fallback: UInt64 = 20_261_121) {
    let given = ProcessInfo.processInfo.environment["LOOKAHEAD_TEST_SEED"].flatMap(UInt64.init)
    seed = given ?? fallback
    state = seed
  }

  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
    return value ^ value >> 31
  }

  public mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &self)
  }

  /// True so often in a hundred.
  public mutating func chance(_ percent: Int) -> Bool { number(1...100) <= percent }
}
