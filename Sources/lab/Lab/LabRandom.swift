/// Random numbers that split: each part of a run (viewer, network, feed) gets numbers of its own. A part that
/// draws more changes nothing for the others, and compared strategies see the same viewer.
///
/// SplitMix64 with integers alone: the same on every machine. Steele, Lea, Flood, "Fast Splittable
/// Pseudorandom Number Generators", 2014.
package struct LabRandom: RandomNumberGenerator, Hashable, Sendable {
  private var state: UInt64

  /// Creates the numbers of this seed.
  package init(seed: UInt64) { state = seed }

  /// The next 64 random bits.
  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    return Self.mixed(state)
  }

  /// Returns other numbers, the same for the same label. The original numbers continue unchanged.
  package func split(_ label: UInt64) -> LabRandom {
    LabRandom(seed: Self.mixed(Self.mixed(state) ^ Self.mixed(label &+ 0x632b_e59b_d9b4_e019)))
  }

  /// A number from 0 up to, but not including, `limit`.
  ///
  /// It is the high half of a product: for a limit below 2³², no number is likelier than another by more than
  /// one in four billion.
  package mutating func number(below limit: Int) -> Int {
    precondition(limit > 0)
    return Int(next().multipliedFullWidth(by: UInt64(limit)).high)
  }

  /// True with this probability in thousandths.
  package mutating func chance(permille: Int) -> Bool {
    permille > 0 && number(below: 1_000) < permille
  }

  private static func mixed(_ value: UInt64) -> UInt64 {
    var value = value
    value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
    return value ^ value >> 31
  }
}
