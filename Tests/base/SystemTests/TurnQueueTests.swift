import TestSupport
import Testing

@testable import System

/// In which order comes what waits: of each kind one, and within a kind of each client one.
@Suite struct TurnQueueTests {
  /// A kind, a client and a number: `0a1`.
  private static func queue(_ arrivals: String) -> TurnQueue<String> {
    var queue = TurnQueue<String>(kinds: 10)
    for arrival in arrivals.split(separator: " ") { append(String(arrival), to: &queue) }
    return queue
  }

  private static func append(_ arrival: String, to queue: inout TurnQueue<String>) {
    let bytes = Array(arrival.utf8)
    queue.append(arrival, Turn(kind: Int(bytes[0] - 0x30), client: Int(bytes[1])))
  }

  @Test(arguments: [
    ("", ""), ("0a1", "0a1"), ("0a1 0a2 0a3", "0a1 0a2 0a3"),
    // Whoever comes later waits for one of each client, and not for all.
    ("0a1 0a2 0a3 0b1", "0a1 0b1 0a2 0a3"), ("0a1 0a2 0b1 0b2 0c1", "0a1 0b1 0c1 0a2 0b2"),
    // And for one of each other kind, however many clients ask for that.
    ("0a1 0b1 0c1 0d1 1e1", "0a1 1e1 0b1 0c1 0d1"),
    ("0a1 0a2 0a3 1a1 1a2 2a1", "0a1 1a1 2a1 0a2 1a2 0a3"),
    ("0a1 0a2 0b1 1a1 1b1 1b2", "0a1 1a1 0b1 1b1 0a2 1b2"),
  ])
  func `kinds take turns, and clients within a kind`(_ arrivals: String, _ order: String) {
    var queue = Self.queue(arrivals)
    var taken: [String] = []
    while let next = queue.popFirst(of: { _ in true }) { taken.append(next) }
    #expect(taken.joined(separator: " ") == order)
    #expect(queue.isEmpty && queue.count(of: Turn(kind: 0, client: 0x61)) == 0)
  }

  @Test func `a kind that is not wanted keeps its turn`() {
    var queue = Self.queue("0a1 0b1 1a1 1b1")
    #expect(queue.popFirst { $0 == 2 } == nil && queue.count == 4)
    #expect(queue.popFirst { $0 == 1 } == "1a1")
    #expect(queue.popFirst { _ in true } == "0a1")
    #expect(queue.popFirst { $0 == 0 } == "0b1")
    #expect(queue.popFirst { $0 == 0 } == nil)
    #expect(queue.popFirst { _ in true } == "1b1")
  }

  @Test(arguments: TestRandom.seeds)
  func `nobody is passed over for another's second, and nothing is lost`(seed: UInt64) {
    var random = TestRandom(seed)
    var queue = TurnQueue<String>(kinds: 10)
    // Of each who waits: who was served since the last time.
    var waiting: [String: [String]] = [:]
    var served: [String: [String]] = [:]
    for number in 0..<2_000 {
      if random.number(0...2) > 0 {
        let who = "\(random.number(0...3))" + ["a", "b", "c"].randomElement(using: &random)!
        Self.append(who + "\(number)", to: &queue)
        waiting[who, default: []].append(who + "\(number)")
      } else if let next = queue.popFirst(of: { _ in true }) {
        let who = String(next.prefix(2))
        #expect(waiting[who]?.removeFirst() == next, TestRandom.replay)
        if waiting[who] == [] { waiting[who] = nil }
        served[who] = nil
        for other in waiting.keys where other != who && other.first == who.first {
          #expect(served[other, default: []].contains(who) == false, TestRandom.replay)
          served[other, default: []].append(who)
        }
      }
      #expect(queue.count == waiting.values.reduce(0) { $0 + $1.count }, TestRandom.replay)
    }
  }
}
