import Feed
import Prefetch
import Testing

/// For a client that does not measure the link, the engine does.
@Suite struct ArrivalMeterTests {
  /// Of which variant the pieces of a clip are, over a link of this bandwidth, of which each piece is told as a whole or
  /// in halves, and measured if `told`.
  private static func pieces(kbps: Int, inHalves: Bool = false, told: Int? = nil) -> [String] {
    let files = [("best", 1_850), ("small", 750)].map { name, kbps in
      PrefetchFile(
        key: name,
        load: MediaLoad(
          kind: .video, bytes: 30 * kbps * 125, durationMilliseconds: 30_000,
          timing: MediaTiming(
            headBytes: kbps * 125,
            curve: (1...30).map { .init(milliseconds: $0 * 1_000, bytes: $0 * kbps * 125) })),
        chunkMilliseconds: 1_000)
    }
    let clip = PrefetchItem(id: "0", type: .video, media: [PrefetchMedia(files: files)])
    var (engine, actions) = EngineSamples.engine(.expectedWait(WaitTuning()), [clip]) {
      $0.parallelTransfers = 1
    }
    var (pieces, now, timer) = ([String](), 0, 0)
    while pieces.count < 20, now < 60_000 {
      for action in actions { if case .waitUntil(let time) = action.kind { timer = time } }
      guard let piece = actions.transfers.first, let end = piece.end else {
        now = max(now, timer)
        actions = engine.handle(.timerFired, atMilliseconds: now)
        continue
      }
      pieces.append(piece.key)
      let milliseconds = (end - piece.start) * 8 / kbps
      let half = piece.start..<(piece.start + end) / 2
      actions = []
      if inHalves {
        actions += engine.handle(
          .bytesArrived(transfer: piece.id, key: piece.key, half), atMilliseconds: now + 100)
      }
      now += inHalves ? 100 + milliseconds / 2 : milliseconds
      if let told {
        actions += engine.handle(
          .bandwidthMeasured(kilobitsPerSecond: told, roundTripMilliseconds: nil),
          atMilliseconds: now)
      }
      actions += engine.handle(
        .bytesArrived(transfer: piece.id, key: piece.key, piece.start..<end), atMilliseconds: now)
    }
    return pieces
  }

  @Test(arguments: [false, true])
  func `a fast link is found by what arrives, and a slow one`(inHalves: Bool) {
    let fast = Self.pieces(kbps: 12_000, inHalves: inHalves)
    #expect(fast.count == 20 && fast.first == "small" && fast.last == "best", "\(fast)")
    let slow = Self.pieces(kbps: 800, inHalves: inHalves)
    #expect(slow.allSatisfy { $0 == "small" }, "\(slow)")
  }

  @Test func `transfers beside each other share the link`() throws {
    // Three pictures at a time in six seconds.
    var (engine, actions) = EngineSamples.engine(
      .plain(leading: 2), (0..<40).map { EngineSamples.image($0) } + [EngineSamples.clip(40)])
    for round in 1...10 {
      let now = round * 6_000
      actions = engine.arrive(all: actions.transfers, at: now)
      actions += engine.handle(.activeChanged("\(round * 3)"), atMilliseconds: now + 5)
    }
    var slow = PrefetchSnapshot(policy: engine.policy)
    slow.items = [EngineSamples.clip(40)]
    slow.downlinkKbps = 400
    let needed = try #require(PrefetchEngine(slow).start(of: "40")?.neededBytes)
    // Over a fast one 60 000 would do.
    #expect(needed > 100_000 && engine.start(of: "40")?.neededBytes == needed)
  }

  @Test func `what a moment tells of the link holds for its network, and not for the next one`() {
    for isMetered in [false, true] {
      var moment = PrefetchSnapshot(policy: Policy(name: "", strategy: .endless))
      moment.items = [EngineSamples.clip(0)]
      moment.downlinkKbps = 5_000
      moment.conditions = [.networkChanged(isOnline: true, isMetered: isMetered)]
      var engine = PrefetchEngine(moment)
      #expect(engine.start(of: "0")?.neededBytes == 60_000)
      _ = engine.handle(
        .networkChanged(isOnline: true, isMetered: !isMetered), atMilliseconds: 10)
      #expect(engine.start(of: "0")?.neededBytes == 140_750)
    }
  }

  @Test func `what the client measures counts alone`() {
    let pieces = Self.pieces(kbps: 12_000, told: 800)
    #expect(pieces.allSatisfy { $0 == "small" }, "\(pieces)")
  }
}
