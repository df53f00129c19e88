import Foundation
import Testing

/// Random numbers that are the same in every run, or replay another run's.
///
/// Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014.
package struct TestRandom: RandomNumberGenerator {
  /// `LOOKAHEAD_TEST_SEED` where it is set.
  private static let given = number(of: "LOOKAHEAD_TEST_SEED")

  private static func number(of variable: String) -> UInt64? {
    guard let text = ProcessInfo.processInfo.environment[variable] else { return nil }
    guard let seed = UInt64(text) else { fatalError("\(variable) is no number: \(text)") }
    return seed
  }

  package static let usualSeed: UInt64 = 20_120_728

  /// The argument of every random test: `LOOKAHEAD_RUN_SEED`, which `script/test` makes of the commit, so that commits
  /// explore, or else one that is new in every run; at night before it the one that is the same in every run.
  /// `LOOKAHEAD_TEST_SEED` alone, where it is set.
  package static let seeds: [UInt64] =
    given.map { [$0] }
    ?? often([], nightly: [usualSeed])
    + [number(of: "LOOKAHEAD_RUN_SEED") ?? .random(in: 0...0xffff_ffff)]

  /// The arguments of tests that look at many draws together: the seed that is the same in every run, and at night a new
  /// one, too. Of very many seeds one breaks such a rule by chance alone.
  package static let statisticalSeeds: [UInt64] =
    given.map { [$0] } ?? often([usualSeed], nightly: seeds)

  /// How much is tried where more finds more: little in each run, much in `.ci/nightly`, which sets
  /// `LOOKAHEAD_LONG_TESTS`.
  package static func often<Value>(_ usual: Value, nightly: Value) -> Value {
    ProcessInfo.processInfo.environment["LOOKAHEAD_LONG_TESTS"] == nil ? usual : nightly
  }

  /// Some of these cases, where each costs much: other ones from commit to commit, and at night all of them.
  package static func some<Element>(_ count: Int, of all: [Element]) -> [Element] {
    var random = TestRandom(seeds.last!)
    return Array(all.shuffled(using: &random).prefix(often(count, nightly: .max)))
  }

  /// What a failed expectation says.
  package static let replay: Comment =
    "replay with LOOKAHEAD_TEST_SEED set to the seed among this test's arguments, of \(seeds)"

  /// To be said when a test fails.
  package let seed: UInt64
  private var state: UInt64

  /// The numbers of this seed, which is one of `seeds` or made of it.
  package init(_ seed: UInt64) {
    self.seed = seed
    state = seed
  }

  /// The numbers of `LOOKAHEAD_TEST_SEED`, or else those of every run: for what only looks random.
  package init() { self.init(Self.given ?? Self.usualSeed) }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
    return value ^ value >> 31
  }

  package mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &self)
  }

  /// True so often in a hundred times.
  package mutating func chance(_ percent: Int) -> Bool { number(1...100) <= percent }

  /// True one time in this many.
  package mutating func once(in times: Int) -> Bool { number(1...times) == 1 }

  package mutating func one<Element>(of elements: [Element]) -> Element {
    elements[number(0...elements.count - 1)]
  }

  /// A text that is hard on whoever escapes, cuts or compares it.
  package mutating func text(_ length: ClosedRange<Int>) -> String {
    let hard: [Unicode.Scalar] = [
      "\"", "\\", "/", "\u{0}", "\u{8}", "\t", "\n", "\u{c}", "\r", "\u{1f}", "\u{7f}", "\u{e9}",
      "\u{301}", "\u{2028}", "\u{fffd}", "\u{ffff}", "\u{1f600}", "\u{10ffff}", "[", "]", "{", "}",
    ]
    var text = String.UnicodeScalarView()
    for _ in 0..<number(length) {
      text.append(once(in: 2) ? one(of: hard) : Unicode.Scalar(UInt8(number(0x20...0x7e))))
    }
    return String(text)
  }
}
