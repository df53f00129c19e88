import HTTP
import TestSupport
import Testing

/// Mutates well-formed messages, the same in every run and others in each, whose seed is printed.
struct RequestParserFuzzTests {
  static let rounds = 1500

  static let corpus = RequestParserTests.accepted.map { Array($0.input.utf8) }
  static let splices = [
    "\r\n", "\n", "\r", " ", ":", "0", "\0", ";", ",", "\u{ff}", "GET / HTTP/1.1",
  ]

  @Test(arguments: TestRandom.seeds)
  func `mutated messages never crash, and mean the same however they are cut`(_ seed: UInt64) {
    var random = TestRandom(seed)
    let replay: Comment = "LOOKAHEAD_TEST_SEED=\(random.seed)"
    print("RequestParserFuzzTests \(replay)")
    for round in 0..<Self.rounds {
      var bytes = random.one(of: Self.corpus) + Self.corpus[0]
      for _ in 0..<random.number(1...4) { mutate(&bytes, &random) }
      let whole = parsed([bytes])
      #expect(parsed(bytes.map { [$0] }) == whole, "\(replay), round \(round)")
      let cut = random.number(0...bytes.count)
      let pieces = [Array(bytes[..<cut]), Array(bytes[cut...])]
      #expect(parsed(pieces) == whole, "\(replay), round \(round), cut \(cut)")
    }
  }

  private func mutate(_ bytes: inout [UInt8], _ generator: inout TestRandom) {
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
