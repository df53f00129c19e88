import TestSupport
import Testing

@testable import ShapedLink

@Suite struct LinkPathTests {
  private static func path(
    _ rateKbps: Int, latencyMilliseconds: Int = 0, lossPercent: Int = 0, seed: UInt64 = 1,
    limits: LinkLimits = LinkLimits()
  ) -> LinkPath {
    let conditions = LinkConditions(
      downlinkKbps: rateKbps, uplinkKbps: 1, latencyMicroseconds: latencyMilliseconds * 1000,
      lossPercent: lossPercent)
    return LinkPath(.down, LinkSchedule(conditions), limits: limits, seed: seed)
  }

  private static let unlimited: LinkLimits = {
    var limits = LinkLimits()
    limits.sendBufferBytes = 1 << 30
    limits.receiveWindowBytes = 1 << 30
    return limits
  }()

  private static func bytes(_ contents: [LinkFlow.Content]) -> [UInt8] {
    contents.flatMap { content -> [UInt8] in
      if case .bytes(let bytes) = content { bytes } else { [] }
    }
  }

  /// When each byte arrives, from event to event.
  private static func arrivals(_ path: inout LinkPath, _ id: Int) -> [(time: UInt64, bytes: Int)] {
    var found: [(UInt64, Int)] = []
    while let next = path.nextNanoseconds {
      path.advance(toNanoseconds: next)
      let bytes = Self.bytes(path.takeArrived(id)).count
      path.read(bytes, from: id)
      if bytes > 0 { found.append((path.timeNanoseconds, bytes)) }
    }
    return found
  }

  @Test func `bytes arrive at the rate, after the latency of set-up and way`() {
    // A packet of 1460 bytes takes 10 ms.
    var path = Self.path(1168, latencyMilliseconds: 50)
    path.open(1, atNanoseconds: 0)
    path.put(ArraySlice(repeating: 7, count: 4380), into: 1, atNanoseconds: 0)
    let arrivals = Self.arrivals(&path, 1)
    // The round trip of the set-up, the packet's time and the way itself.
    #expect(arrivals.map(\.time) == [160_000_000, 170_000_000, 180_000_000])
    #expect(arrivals.map(\.bytes) == [1460, 1460, 1460])
  }

  @Test func `an idle link saves nothing up: each packet takes its whole time`() {
    var path = Self.path(1168, latencyMilliseconds: 50)
    for id in 1...3 { path.open(id, atNanoseconds: 0) }
    func arrivals(ofPacketsAt starts: [Int]) -> [Int] {
      for (id, start) in zip(1..., starts) {
        path.put(
          ArraySlice(repeating: 7, count: 1460), into: id,
          atNanoseconds: UInt64(start) * 1_000_000)
      }
      var times: [Int] = []
      while let next = path.nextNanoseconds {
        path.advance(toNanoseconds: next)
        for id in 1...3 where !path.takeArrived(id).isEmpty {
          path.read(1460, from: id)
          times.append(Int(path.timeNanoseconds / 1_000_000))
        }
      }
      return times
    }
    #expect(arrivals(ofPacketsAt: [200]) == [260])
    #expect(arrivals(ofPacketsAt: [1_000, 1_004]) == [1_060, 1_070])
    #expect(arrivals(ofPacketsAt: [2_000, 2_010, 2_040]) == [2_060, 2_070, 2_100])
    // Nor does a connection that ends with what it has leave any of it to others.
    path.put(
      ArraySlice(repeating: 7, count: 1460), into: 3, atNanoseconds: 3_000_000_000)
    path.close(3)
    #expect(arrivals(ofPacketsAt: [3_500]) == [3_560])
  }

  @Test func `a window grows by what is acknowledged, and opens only then`() {
    var path = Self.path(1_000_000, latencyMilliseconds: 50, limits: Self.unlimited)
    path.open(1, atNanoseconds: 0)
    path.put(ArraySlice(repeating: 7, count: 100 * 1460), into: 1, atNanoseconds: 0)
    let arrivals = Self.arrivals(&path, 1)
    // Ten packets the first round trip, then twenty, forty, and what is left.
    let byRound = Dictionary(grouping: arrivals) { $0.time / 100_000_000 }
      .mapValues { $0.reduce(0) { $0 + $1.bytes } / 1460 }
    #expect(byRound == [1: 10, 2: 20, 3: 40, 4: 30])
  }

  @Test(arguments: TestRandom.seeds)
  func `all arrives in its order, whatever is lost, and never faster than the rate`(_ seed: UInt64)
  {
    var random = TestRandom(seed)
    for _ in 0..<20 {
      let rate = random.number(50...20_000)
      var path = Self.path(
        rate, latencyMilliseconds: random.number(0...60), lossPercent: random.number(0...30),
        seed: random.next(), limits: Self.unlimited)
      var sent: [Int: [UInt8]] = [:]
      var time: UInt64 = 0
      for id in 0..<random.number(1...4) {
        path.open(id, atNanoseconds: 0)
        sent[id] = []
      }
      for _ in 0..<20 {
        time += UInt64(random.number(0...20_000_000))
        let id = random.number(0...sent.count - 1)
        let bytes = (0..<random.number(1...6000)).map { _ in
          UInt8.random(in: 0...255, using: &random)
        }
        sent[id]! += bytes
        path.put(bytes[...], into: id, atNanoseconds: time)
      }
      for id in sent.keys { path.finish(id, .end, atNanoseconds: time) }
      var arrived: [Int: [LinkFlow.Content]] = [:]
      var moments: [(time: UInt64, bytes: Int)] = [(path.timeNanoseconds, path.deliveredBytes)]
      while let next = path.nextNanoseconds {
        path.advance(toNanoseconds: next)
        moments.append((path.timeNanoseconds, path.deliveredBytes))
        for id in sent.keys { arrived[id, default: []] += path.takeArrived(id) }
      }
      for (id, bytes) in sent {
        #expect(Self.bytes(arrived[id]!) == bytes, TestRandom.replay)
        #expect(arrived[id]!.last == .end && arrived[id]!.filter { $0 == .end }.count == 1)
      }
      // Without losses nothing is held up, and what arrives is what was let through.
      guard path.lostPackets == 0 else { continue }
      for (index, first) in moments.enumerated() {
        let isKept = moments[index...].allSatisfy {
          Double($0.bytes - first.bytes)
            <= Double($0.time - first.time) * Double(rate) / 8e6 + Double(LinkFlow.packetBytes)
        }
        #expect(isKept, TestRandom.replay)
      }
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `nobody is starved: as long as bytes wait, the link carries all that it can`(_ seed: UInt64)
  {
    var random = TestRandom(seed)
    let rate = random.number(100...5000)
    var path = Self.path(rate, limits: Self.unlimited)
    let sizes = (0..<random.number(2...6)).map { _ in random.number(20...60) * 1460 }
    for id in sizes.indices { path.open(id, atNanoseconds: 0) }
    for (id, size) in sizes.enumerated() {
      path.put(ArraySlice(repeating: 1, count: size), into: id, atNanoseconds: 0)
    }
    var ends: [Int: UInt64] = [:]
    var got = [Int](repeating: 0, count: sizes.count)
    while let next = path.nextNanoseconds {
      path.advance(toNanoseconds: next)
      for id in sizes.indices {
        let bytes = Self.bytes(path.takeArrived(id)).count
        got[id] += bytes
        path.read(bytes, from: id)
        if bytes > 0 { ends[id] = path.timeNanoseconds }
      }
      // Those that still have something to send have had the same, but for one packet.
      let waiting = sizes.indices.filter { got[$0] < sizes[$0] }.map { got[$0] }
      #expect(
        (waiting.max() ?? 0) - (waiting.min() ?? 0) <= LinkFlow.packetBytes, TestRandom.replay)
    }
    #expect(got == sizes, TestRandom.replay)
    // All of it at the rate; a nanosecond's rounding each packet.
    let total = sizes.reduce(0, +)
    let expected = UInt64(total * 8_000_000 / rate)
    let slack = UInt64(sizes.reduce(0, +) / 1460 + 1)
    #expect(ends.values.max()! <= expected + slack, TestRandom.replay)
    #expect(ends.values.max()! + slack >= expected, TestRandom.replay)
  }

  @Test(arguments: TestRandom.seeds)
  func `a caller that comes late changes nothing`(_ seed: UInt64) {
    var random = TestRandom(seed)
    var often = Self.path(
      900, latencyMilliseconds: 20, lossPercent: 10, seed: seed, limits: Self.unlimited)
    often.open(1, atNanoseconds: 0)
    often.put(ArraySlice(repeating: 1, count: 100_000), into: 1, atNanoseconds: 0)
    var late = often
    for _ in 0..<40 {
      let time = often.timeNanoseconds + UInt64(random.number(1...90_000_000))
      while let next = often.nextNanoseconds, next <= time { often.advance(toNanoseconds: next) }
      often.advance(toNanoseconds: time)
      late.advance(toNanoseconds: time)
      #expect(often.deliveredBytes == late.deliveredBytes, TestRandom.replay)
      #expect(often.lostPackets == late.lostPackets, TestRandom.replay)
    }
    #expect(often.lostPackets > 0)
  }

  @Test func `a lost packet holds up those behind it for a round trip`() {
    // This seed loses the first packet alone.
    let seed = (1...).first { (seed: UInt64) in
      var dice = LossDice(seed)
      return (0..<4).map { _ in dice.falls(percent: 50) } == [true, false, false, false]
    }!
    var path = Self.path(1168, latencyMilliseconds: 50, lossPercent: 50, seed: seed)
    path.open(1, atNanoseconds: 0)
    path.put(ArraySlice(repeating: 7, count: 4380), into: 1, atNanoseconds: 0)
    let arrivals = Self.arrivals(&path, 1)
    #expect(arrivals.map(\.time) == [270_000_000] && arrivals.map(\.bytes) == [4380])
    #expect(path.lostPackets == 1)
  }

  @Test func `what is held is bounded at both ends`() {
    var limits = LinkLimits()
    limits.sendBufferBytes = 10_000
    limits.receiveWindowBytes = 20_000
    var path = Self.path(1_000_000, limits: limits)
    path.open(1, atNanoseconds: 0)
    var sent = 0
    for turn in 1...100 {
      let room = path.roomBytes(1)
      #expect(room <= 10_000)
      path.put(
        ArraySlice(repeating: 1, count: room), into: 1, atNanoseconds: UInt64(turn) * 1_000_000)
      sent += room
    }
    path.advance(toNanoseconds: 1_000_000_000)
    #expect(path.deliveredBytes <= 20_000 && path.roomBytes(1) == 0)
    #expect(sent <= 30_000)
    // It goes on when the receiver has taken what arrived.
    path.read(Self.bytes(path.takeArrived(1)).count, from: 1)
    path.advance(toNanoseconds: 2_000_000_000)
    #expect(path.deliveredBytes == sent)
  }

  @Test func `a sender that is gone is known after what was under way`() {
    var path = Self.path(1168, latencyMilliseconds: 50)
    path.open(1, atNanoseconds: 0)
    path.put(ArraySlice(repeating: 7, count: 14_600), into: 1, atNanoseconds: 0)
    path.finish(1, .end, atNanoseconds: 0)
    // The set-up takes 100 ms; by 121 ms two packets have left.
    path.finish(1, .reset, atNanoseconds: 121_000_000)
    path.advance(toNanoseconds: 1_000_000_000)
    let arrived = path.takeArrived(1)
    #expect(Self.bytes(arrived).count == 2920 && arrived.last == .reset)
    #expect(path.nextNanoseconds == nil)
  }

  @Test func `what is under way when a connection is closed arrives, and is counted`() {
    var path = Self.path(1168, latencyMilliseconds: 50)
    path.open(1, atNanoseconds: 0)
    path.put(ArraySlice(repeating: 7, count: 14_600), into: 1, atNanoseconds: 0)
    // The set-up takes 100 ms: by 175 ms seven packets have left, of which two have arrived.
    path.advance(toNanoseconds: 175_000_000)
    #expect(path.deliveredBytes == 2 * 1460)
    path.close(1)
    #expect(path.deliveredBytes == 7 * 1460 && path.nextNanoseconds == nil)
  }

  @Test func `where nothing arrives, nothing does, until the link is another`() {
    var path = Self.path(0)
    path.open(1, atNanoseconds: 0)
    path.put(ArraySlice(repeating: 7, count: 14_600), into: 1, atNanoseconds: 0)
    path.advance(toNanoseconds: 3_600_000_000_000)
    #expect(path.deliveredBytes == 0)
    path.change(
      to: LinkSchedule(LinkConditions(downlinkKbps: 1168, uplinkKbps: 0)),
      atNanoseconds: 3_600_000_000_000)
    path.advance(toNanoseconds: 3_600_100_000_000)
    #expect(path.deliveredBytes == 14_600)
  }
}
