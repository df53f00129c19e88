import Prefetch
import TestSupport
import Testing

@testable import Lab

/// What goes wrong makes ours no worse than a plain window.
@Suite struct RobustnessTests {
  @Test(arguments: TestRandom.some(1, of: Disturbance.allCases))
  func `ours has at most a tenth more loaders and bytes than plain, whatever is wrong`(
    _ disturbance: Disturbance
  ) {
    for seed in TestRandom.statisticalSeeds {
      let experiment = Experiment(
        contestants: [Contestant(.plain(leading: 5)), Contestant(.expectedWait(WaitTuning()))],
        networks: ["lte", "dsl", "3g"].map(SimulationTests.profile), feed: .generated(FeedModel()),
        viewer: PriceTests.viewer, items: 300, repeats: 4, seed: seed)
      let results = experiment.disturbed(by: disturbance).results()
      for network in results.networks.indices {
        func mean(_ contestant: Int, _ measure: RunFigures.Measure) -> Double {
          results.interval(contestant, on: network, measure).mean
        }
        let place = "\(results.networks[network]), \(TestRandom.replay)"
        // One item of a run is 6.7.
        #expect(mean(1, .loaders) <= mean(0, .loaders) * 1.1 + 6.7, "\(place)")
        // Who waits leaves less to be loaded. In sessions of 150 items there were up to 23 % more: what lies ahead at the
        // end counts for more in a short one.
        #expect(mean(1, .kilobytes) <= mean(0, .kilobytes) * 1.15, "\(place)")
      }
    }
  }

  /// Which holds each clip whole. Of the people of docs/lab.md ours had 413 ms to its 306 before clips had a reserve.
  @Test func `where bytes cost nothing, people wait no longer for a dead link than with plain`() {
    for seed in TestRandom.statisticalSeeds {
      let experiment = Experiment(
        contestants: [
          Contestant(.plain(leading: 5)), Contestant(.expectedWait(WaitTuning(price: 0))),
        ], networks: [SimulationTests.profile("lte")], feed: .generated(FeedModel()),
        viewer: PriceTests.viewer, items: 150, repeats: 8, seed: seed)
      let results = experiment.disturbed(by: .deadLink).results()
      let delays = [0, 1].map { results.interval($0, on: 0, .delayMilliseconds).mean }
      #expect(delays[1] <= delays[0] * 1.05, "\(delays), \(TestRandom.replay)")
    }
  }

  /// Without it there are 570 on LTE: each clip starts with its first chunk, of which a fifth is never loaded ahead.
  @Test func `starts that are said too small are loaded larger once some turned out so`() {
    var contestant = Contestant(.expectedWait(WaitTuning()))
    contestant.settings.parallelTransfers = 1
    var network = SimulationTests.profile("lte")
    network.link.connections = 1
    // Chunks come whole, and would hide what is said of them.
    var feed = FeedModel.challenge
    feed.isChunked = false
    let experiment = Experiment(
      contestants: [contestant], networks: [network], feed: .generated(feed),
      viewer: .challenge, items: 105, repeats: 4, seed: TestRandom.statisticalSeeds[0])
    let loaders = experiment.disturbed(by: .smallHeads).results().interval(
      0, on: 0, .loaders
    ).mean
    #expect(loaders < 90, TestRandom.replay)
  }

  @Test func `a link that is dead for the last fifth of each period plays its trace on behind it`()
    throws
  {
    func step(_ milliseconds: Int, _ kbps: Int) -> LinkSchedule.Step {
      LinkSchedule.Step(
        durationMilliseconds: milliseconds,
        conditions: LinkConditions(downlinkKbps: kbps, uplinkKbps: kbps))
    }
    let trace = try LinkSchedule(loop: [step(5_000, 1), step(7_000, 2)])
    let dead = trace.interrupted(everyMilliseconds: 10_000, forMilliseconds: 2_000)
    #expect(dead.conditions.map(\.downlinkKbps) == [1, 2, 0, 2, 0])
    #expect(dead.endsMicroseconds.map { $0 / 1_000 } == [5_000, 8_000, 10_000, 14_000, 16_000])
    let constant = LinkSchedule(
      LinkConditions(downlinkKbps: 3, uplinkKbps: 3, latencyMicroseconds: 7, lossPercent: 5)
    ).interrupted(everyMilliseconds: 10_000, forMilliseconds: 2_000)
    #expect(constant.conditions.map(\.downlinkKbps) == [3, 0])
    // What is asked for in a gap goes over the same link: without loss its connection would never lose anything.
    #expect(constant.conditions.map(\.latencyMicroseconds) == [7, 7])
    #expect(constant.conditions.map(\.lossPercent) == [5, 5])
    #expect(constant.endsMicroseconds.map { $0 / 1_000 } == [8_000, 10_000])
  }

  /// What is asked for in the gap once had no losses for as long as its connection was open: twice the bytes.
  @Test func `a link that loses packets brings no more where it is dead for some of the time`() {
    let lossy = LinkConditions(
      downlinkKbps: 1_000, uplinkKbps: 1_000, latencyMicroseconds: 250_000, lossPercent: 10)
    for seed in TestRandom.seeds {
      let bytes = [
        LinkSchedule(lossy),
        LinkSchedule(lossy).interrupted(everyMilliseconds: 120_000, forMilliseconds: 20_000),
      ].map { schedule in
        var settings = LinkSettings()
        settings.timeoutMilliseconds = 1_000_000_000
        var link = Link(
          schedule, settings: settings, offsetMicroseconds: 110_000_000,
          random: LabRandom(seed: seed))
        // The second begins in the gap.
        for id in 1...4 { link.start(id, bytes: 1 << 30) }
        while link.next(untilMicroseconds: 600_000_000) != nil {}
        return (1...4).reduce(0) { $0 + (link.bytes(of: $1) ?? 0) }
      }
      #expect(bytes[1] < bytes[0] && bytes[1] > bytes[0] / 2, "\(bytes), \(TestRandom.replay)")
    }
  }
}
