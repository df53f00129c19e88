import HTTP
import Testing

/// Mutates well-formed messages. `LOOKAHEAD_SEED` is not read: a failure prints the seed to put
/// here.
struct RequestParserFuzzTests {
  static let seed = UInt64.random(in: 1...UInt64.max)
  static let rounds = 3000

  struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return state
    }
  }

  static let corpus = RequestParserTests.accepted.map { Array($0.input.utf8) }
  static let splices = [
    "\r\n", "\n", "\r", " ", ":", "0", "\0", ";", ",", "\u{ff}", "GET / HTTP/1.1",
  ]

  @Test func `mutated messages never crash, and mean the same however they are cut`() {
    print("RequestParserFuzzTests seed \(Self.seed)")
    var generator = Generator(state: Self.seed)
    for round in 0..<Self.rounds {
      var bytes = Self.corpus.randomElement(using: &generator)! + Self.corpus[0]
      for _ in 0..<Int.random(in: 1...4, using: &generator) { mutate(&bytes, &generator) }
      let whole = parsed([bytes])
      #expect(parsed(bytes.map { [$0] }) == whole, "seed \(Self.seed) round \(round)")
      let cut = Int.random(in: 0...bytes.count, using: &generator)
      let pieces = [Array(bytes[..<cut]), Array(bytes[cut...])]
      #expect(parsed(pieces) == whole, "seed \(Self.seed) round \(round) cut \(cut)")
    }
  }

  private func mutate(_ bytes: inout [UInt8], _ generator: inout Generator) {
    let index = Int.random(in: 0...bytes.count, using: &generator)
    switch Int.random(in: 0..<4, using: &generator) {
    case 0 where index < bytes.count:
      bytes[index] = UInt8.random(in: 0...255, using: &generator)
    case 1 where index < bytes.count:
      bytes.remove(at: index)
    case 2:
      let end = Int.random(in: index...bytes.count, using: &generator)
      bytes.insert(contentsOf: Array(bytes[index..<min(end, index + 20)]), at: index)
    default:
      bytes.insert(
        contentsOf: Array(Self.splices.randomElement(using: &generator)!.utf8), at: index)
    }
  }
}
