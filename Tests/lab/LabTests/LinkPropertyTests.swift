import Prefetch
import TestSupport
import Testing

@testable import Lab

/// Random requests over random links: what must hold of any.
@Suite struct LinkPropertyTests {
  /// A random link, and whether it ever stands still for good.
  private static func link(_ random: inout TestRandom) throws -> Link {
    func conditions() -> LinkConditions {
      LinkConditions(
        downlinkKbps: random.once(in: 8) ? 0 : random.number(1...20_000), uplinkKbps: 400,
        latencyMicroseconds: random.number(0...400_000),
        lossPercent: random.once(in: 3) ? random.number(0...20) : 0)
    }
    var steps = (0..<random.number(1...12)).map { _ in
      LinkSchedule.Step(
        durationMilliseconds: random.number(1...4_000), conditions: conditions())
    }
    steps.append(
      .init(
        durationMilliseconds: 1_000,
        conditions: LinkConditions(downlinkKbps: 500, uplinkKbps: 400)))
    var settings = random.once(in: 3) ? LinkSettings.multiplexed : LinkSettings()
    settings.timeoutMilliseconds = 1_000_000_000
    settings.connections = random.once(in: 2) ? settings.connections : random.number(1...8)
    return Link(
      try LinkSchedule(loop: steps), settings: settings,
      offsetMicroseconds: random.number(0...30_000_000), random: LabRandom(seed: random.next()))
  }

  /// How many bits the link may have brought in this time, at the most.
  private static func capacity(_ before: Link, _ after: Link) -> Int {
    var probe = before
    var bits = 0
    let dead = probe.requests.map(\.id)
    for id in dead { probe.cancel(id) }
    while probe.nowMicroseconds < after.nowMicroseconds {
      let now = probe.nowMicroseconds
      let kbps = probe.conditions.isUp ? probe.conditions.downlinkKbps : 0
      _ = probe.next(untilMicroseconds: min(now + 1_000, after.nowMicroseconds))
      let later = probe.conditions.isUp ? probe.conditions.downlinkKbps : 0
      bits += max(kbps, later) * (probe.nowMicroseconds - now) / 1_000 + 1
    }
    return bits
  }

  @Test(arguments: TestRandom.seeds)
  func `all that is asked for comes, once, and never more than the link brings`(
    seed: UInt64
  ) throws {
    var random = TestRandom(seed)
    for _ in 0..<60 {
      let before = try Self.link(&random)
      var link = before
      var (asked, heads): ([Int: Int], Int) = ([:], 0)
      var came: [Int: Int] = [:]
      for id in 0..<random.number(1...30) {
        asked[id] = random.number(0...60_000)
        link.start(id, bytes: asked[id]!, priority: random.number(0...2))
        if random.once(in: 2) { link.mark(id, bytes: random.number(0...asked[id]!)) }
        let until = link.nowMicroseconds + random.number(0...700_000)
        while let event = link.next(untilMicroseconds: until) { note(event) }
        #expect(link.nowMicroseconds == until)
        if random.once(in: 5), let id = link.requests.first?.id {
          let bytes = link.bytes(of: id)!
          #expect(bytes <= asked[id]!)
          heads += 1
          asked[id] = bytes
          came[id] = bytes
          link.cancel(id)
        }
      }
      func note(_ event: LinkEvent) {
        #expect(event.bytes <= asked[event.request]!, TestRandom.replay)
        guard event.isFinished else { return }
        #expect(came.updateValue(event.bytes, forKey: event.request) == nil)
        heads += 1
      }
      // No starvation: whatever waits comes.
      while !link.requests.isEmpty {
        let event = link.next(untilMicroseconds: link.nowMicroseconds + 600_000_000)
        note(try #require(event, TestRandom.replay))
      }
      #expect(came == asked, TestRandom.replay)
      let bytes = came.values.reduce(0, +)
      #expect(link.receivedUnits >= bytes * LinkRequest.unitsPerByte)
      #expect(
        link.receivedUnits <= (bytes + 400 * heads + heads) * LinkRequest.unitsPerByte,
        TestRandom.replay)
      #expect(
        link.receivedUnits / 1_000_000 <= Self.capacity(before, link), TestRandom.replay)
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `in what steps one looks changes nothing`(seed: UInt64) throws {
    var random = TestRandom(seed)
    for _ in 0..<30 {
      var often = try Self.link(&random)
      var rarely = often
      for id in 0..<8 {
        let bytes = random.number(0...100_000)
        often.start(id, bytes: bytes)
        rarely.start(id, bytes: bytes)
      }
      var (seen, expected): ([LinkEvent], [LinkEvent]) = ([], [])
      while expected.count < 8, let event = rarely.next(untilMicroseconds: .max / 2) {
        expected.append(event)
      }
      while seen.count < 8 {
        if let event = often.next(untilMicroseconds: often.nowMicroseconds + 10_000) {
          seen.append(event)
        }
      }
      #expect(seen.map(\.request) == expected.map(\.request), TestRandom.replay)
      // A look costs up to a microsecond where the shares do not divide, never more.
      let drift = abs(often.nowMicroseconds - rarely.nowMicroseconds)
      #expect(drift <= 100, TestRandom.replay)
    }
  }
}
