import LinkModel
import PostJSON
import Prefetch
import TestSupport
import Testing

@testable import Lab

/// Recorded sessions under other strategies, held against sessions that truly had them in the same world.
@Suite struct ReplayTests {
  private static let repeats = TestRandom.often(4, nightly: 30)
  private static let items = 60

  private static func strategy(_ text: String) throws -> Contestant {
    Contestant(try Policy.Strategy(text: text))
  }

  /// A link whose speed changes every few seconds, by up to four times.
  private static func changing(_ random: inout LabRandom, around kbps: Int) throws -> LabNetwork {
    let steps = (0..<200).map { _ in
      let rate = kbps * (50 + random.number(below: 150)) / 100
      return LinkSchedule.Step(
        durationMilliseconds: 1_000 + random.number(below: 4_000),
        conditions: LinkConditions(
          downlinkKbps: rate, uplinkKbps: rate, latencyMicroseconds: 50_000))
    }
    var network = LabNetwork(name: "changing \(kbps)", trace: try LinkSchedule(loop: steps))
    network.beginsAtTop = true
    return network
  }

  private struct Sums {
    var (truth, slow, fast, recorded) = (
      Replay.Figures(), Replay.Figures(), Replay.Figures(), Replay.Figures()
    )
    var unknown = 0.0
  }

  private static func sums(
    _ recorded: String, as other: String, on network: (inout LabRandom) throws -> LabNetwork
  ) throws -> Sums {
    var sums = Sums()
    for number in 0..<repeats {
      var random = LabRandom(seed: UInt64(number) + 7)
      let setup = Simulation.Setup(
        feed: FeedModel().feed(count: items, random: random.split(1)), viewer: .steady,
        network: try network(&random), items: items)
      let seed = UInt64(number)
      let (_, log) = Simulation.recorded(try strategy(recorded), setup, seed: seed)
      let replay = try Replay(try SessionLog(log))
      let policy = try Policy.Strategy(text: other)
      sums.truth.add(
        Replay.Figures(Simulation.run(try strategy(other), setup, seed: seed)))
      sums.slow.add(replay.run(policy, isFast: false, over: setup.network.link))
      sums.fast.add(replay.run(policy, isFast: true, over: setup.network.link))
      sums.recorded.add(replay.recorded)
      sums.unknown += replay.link.percent(.unknown) / Double(repeats)
    }
    return sums
  }

  @Test func `a recorded run counts what the run counted`() throws {
    var random = LabRandom(seed: 3)
    let setup = Simulation.Setup(
      feed: FeedModel().feed(count: Self.items, random: random.split(1)), viewer: .steady,
      network: try Self.changing(&random, around: 600), items: Self.items)
    let plain = try Self.strategy("plain")
    let (figures, log) = Simulation.recorded(plain, setup, seed: 5)
    #expect(figures == Simulation.run(plain, setup, seed: 5))
    let replay = try Replay(try SessionLog(log))
    #expect(replay.recorded.items == figures.viewedItems)
    #expect(replay.recorded.loaders == figures.loaders)
    #expect(replay.recorded.bytes <= figures.fetchedBytes)
    #expect(abs(replay.recorded.waitMilliseconds - figures.waitedMilliseconds) <= Self.items)
    #expect(replay.strategy == plain.policy.strategy)
    // The link is what it was, where it is known.
    let link = replay.link
    #expect((60...160).contains(link.roundTripMilliseconds))
    #expect(link.boundsKilobitsPerSecond.lowerBound >= 150)
    #expect(link.boundsKilobitsPerSecond.upperBound <= 1_400)
    let whole = link.percent(.known) + link.percent(.atLeast) + link.percent(.unknown)
    #expect(abs(whole - 100) < 0.01)
    #expect(
      replay.run(plain.policy.strategy, isFast: true, over: setup.network.link).items == Self.items)
  }

  /// A link of the table of docs/lab.md; with `LOOKAHEAD_LONG_TESTS` all of it, of thirty sessions each.
  @Test func `the truth lies between the bounds, where the link was used`() throws {
    for kbps in TestRandom.some(1, of: [300, 800, 3_000]) {
      for (recorded, other) in [
        ("plain", "plain"), ("plain", "expected-wait"), ("plain", "standard"),
        ("standard", "plain"), ("standard", "expected-wait"), ("expected-wait", "plain"),
        ("expected-wait", "expected-wait"),
      ] {
        let sums = try Self.sums(recorded, as: other) { try Self.changing(&$0, around: kbps) }
        func row(_ figures: Replay.Figures) -> String {
          "\((figures.loadersPerThousand * 10).rounded() / 10) / \(figures.kilobytesPerItem.rounded())"
        }
        print(
          "replay \(kbps) kbit/s: \(recorded) as \(other): truly \(row(sums.truth)), fast \(row(sums.fast)), "
            + "slow \(row(sums.slow)), unknown \(sums.unknown.rounded()) %")
        // Strategies that draw futures draw others for other rates.
        let truth = sums.truth
        for (value, slack) in [
          (\Replay.Figures.loadersPerThousand, max(60, truth.loadersPerThousand / 10)),
          (\.kilobytesPerItem, truth.kilobytesPerItem / 10),
        ] {
          let bounds = [sums.fast[keyPath: value], sums.slow[keyPath: value]]
          #expect(
            bounds.min()! - slack <= truth[keyPath: value]
              && truth[keyPath: value] <= bounds.max()! + slack,
            "\(kbps) kbit/s: \(recorded) as \(other): \(bounds), truly \(truth[keyPath: value])")
        }
      }
    }
  }

  /// The same session as its client would share it.
  private static func shared(_ log: SessionLog) throws -> SessionLog {
    var recording = SessionRecording(at: 0)
    var (requests, looks) = (log.requests[...], log.looks[...])
    func note(until time: Int) {
      while let request = requests.first, request.atMilliseconds <= time {
        let action = PrefetchAction(.resume(transfer: requests.removeFirst().transfer), .yields)
        recording.note(.timerFired, [action], at: request.atMilliseconds)
      }
    }
    func end(_ look: SessionLog.Look, at time: Int) {
      guard let dwell = look.dwellMilliseconds else { return }
      recording.noteEnd(
        of: look.item, at: time, dwellMilliseconds: dwell,
        waitMilliseconds: look.waitMilliseconds ?? 0)
    }
    var current: SessionLog.Look?
    for entry in log.events {
      while let look = looks.first, look.atMilliseconds <= entry.atMilliseconds {
        if let current { end(current, at: look.atMilliseconds) }
        recording.note(looks.removeFirst())
        current = look
      }
      note(until: entry.atMilliseconds)
      recording.note(entry.event, [], at: entry.atMilliseconds)
    }
    if let current { end(current, at: log.events.last?.atMilliseconds ?? 0) }
    let engine = PrefetchEngine(policy: log.start.policy, settings: log.start.settings)
    return try SessionLog(SessionLog.line(beginning: engine, at: 0) + recording.bytes)
  }

  @Test(arguments: ["plain", "expected-wait"])
  func `what a session shares replays as all of it`(recorded: String) throws {
    for kbps in [300, 3_000] {
      var random = LabRandom(seed: 3)
      let setup = Simulation.Setup(
        feed: FeedModel().feed(count: 20, random: random.split(1)), viewer: .steady,
        network: try Self.changing(&random, around: kbps), items: 20)
      let (_, bytes) = Simulation.recorded(try Self.strategy(recorded), setup, seed: 5)
      let whole = try SessionLog(bytes)
      let (full, part) = (try Replay(whole), try Replay(try Self.shared(whole)))
      #expect(part.strategy == full.strategy && part.recorded.items == full.recorded.items)
      #expect(part.recorded.loaders == full.recorded.loaders)
      #expect(part.recorded.bytes == full.recorded.bytes)
      #expect(abs(part.link.percent(.unknown) - full.link.percent(.unknown)) <= 3)
      let policy = try Policy.Strategy(text: "plain")
      for isFast in [false, true] {
        let (one, other) = (
          full.run(policy, isFast: isFast, over: setup.network.link),
          part.run(policy, isFast: isFast, over: setup.network.link)
        )
        #expect(abs(one.loaders - other.loaders) <= 2, "\(kbps) \(isFast): \(one), \(other)")
        #expect(
          abs(one.kilobytesPerItem - other.kilobytesPerItem) <= one.kilobytesPerItem / 10,
          "\(kbps) \(isFast): \(one), \(other)")
      }
    }
  }

  @Test func `what cannot be replayed is refused in words`() throws {
    var random = LabRandom(seed: 3)
    let setup = Simulation.Setup(
      feed: FeedModel().feed(count: 5, random: random.split(1)), viewer: .steady,
      network: try Self.changing(&random, around: 600), items: 5)
    let (_, log) = Simulation.recorded(try Self.strategy("plain"), setup, seed: 5)
    let lines = log.split(separator: UInt8(ascii: "\n"))
    func replay(_ isKept: (String) -> Bool) throws -> Replay {
      let kept = lines.filter { isKept(String(decoding: $0, as: UTF8.self)) }
      return try Replay(try SessionLog(Array(kept.joined(separator: [10])) + [10]))
    }
    #expect(throws: ReplayError.noItems) { try replay { !$0.contains("pageArrived") } }
    #expect(throws: ReplayError.noLooks) { try replay { !$0.contains("\"left\"") } }
    #expect(throws: ReplayError.nothingCame) { try replay { !$0.contains("bytesArrived") } }
    #expect(try replay { _ in true }.recorded.items == 5)
  }
}
