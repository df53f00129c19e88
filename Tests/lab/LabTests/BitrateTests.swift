import Feed
import Prefetch
import TestSupport
import Testing

@testable import Lab

/// A world with bitrates, and quality of experience by published formulas.
@Suite struct BitrateTests {
  private static func network(_ kbps: Int) -> LabNetwork {
    var network = LabNetwork(
      NetworkProfile(
        name: "\(kbps)", title: "", downlinkKbps: kbps, uplinkKbps: 1_000,
        roundTripMilliseconds: 40))
    network.link.connections = 1
    return network
  }

  @Test(arguments: TestRandom.seeds)
  func `clips have three bitrates, chunks of a second and a curve`(
    seed: UInt64
  ) {
    let feed = FeedModel.challenge.feed(count: 200, random: LabRandom(seed: seed))
    #expect(feed.pageItems == 7)
    for item in feed.items {
      let files = item.media[0]
      #expect(files.count == 3 && item.media.count == 1)
      for (file, kbps) in zip(files, [1_850, 1_200, 750]) {
        let mean = Double(file.bytes) * 8 / Double(file.durationMilliseconds)
        #expect(abs(mean / Double(kbps) - 1) < 0.51, "seed \(seed)")
        #expect(file.startRanges == [0..<file.secondBytes[0]] && file.isChunked)
        #expect(file.durationMilliseconds % 1_000 == 0)
      }
      let curve = item.survival
      #expect(curve.map(\.milliseconds) == curve.map(\.milliseconds).sorted())
      #expect(curve.map(\.permille) == curve.map(\.permille).sorted(by: >))
      #expect(curve.first?.milliseconds == 1_000 && 1_000 > curve[0].permille)
      #expect(curve.last?.milliseconds == files[0].durationMilliseconds)
    }
  }

  @Test func `a file in chunks comes and plays by whole ones, each a request`() {
    let file = LabFile(
      startRanges: [0..<100_000], secondBytes: [100_000, 150_000, 300_000],
      durationMilliseconds: 3_000, isChunked: true)
    for (bytes, milliseconds) in [
      (0, 0), (99_999, 0), (100_000, 1_000), (299_999, 2_000), (300_000, 3_000),
    ] {
      #expect(file.milliseconds(throughBytes: bytes) == milliseconds)
    }
    for (start, end, requested) in [
      (0, 300_000, 100_000), (100_000, 300_000, 150_000), (99_999, 300_000, 100_000),
      (150_000, 200_000, 200_000),
    ] {
      #expect(file.requestEnd(from: start, to: end) == requested)
    }
    let setup = Simulation.Setup(
      feed: LabFeed([LabFeed.Item(id: "a", type: .video, media: [[file]])]), viewer: .retained,
      network: Self.network(1_000), items: 1)
    let run = Simulation.run(Contestant(.plain(leading: 1)), setup, seed: 1)
    // The page and three chunks.
    #expect(run.requests == 4 && run.fetchedBytes == 300_000 && run.playedMilliseconds > 2_900)
    #expect(run.stalledClips == 1 && run.value(.stalledClips) == 1_000)
  }

  @Test func `its networks are what they are called`() {
    let networks = LabNetwork.challenge(seed: 3)
    #expect(networks.map(\.name) == ["high", "medium", "low"])
    for (network, kbps) in zip(networks, [3_200..<4_800, 1_200..<1_800, 1_000..<1_200]) {
      let rates = network.schedule.conditions.map(\.downlinkKbps)
      #expect(rates.count == 1_800 && kbps.contains(rates.reduce(0, +) / rates.count))
      #expect(network.isRecorded && network.schedule.conditions[0].roundTripMicroseconds == 80_000)
    }
    #expect(LabNetwork.challenge(seed: 3) == networks && LabNetwork.challenge(seed: 4) != networks)
  }

  @Test func `over one transfer at a time fewer clips stand, and most of the points stay`() {
    var contestants = [Contestant(.expectedWait(WaitTuning())), Contestant(.plain(leading: 5))]
    for index in contestants.indices { contestants[index].settings.parallelTransfers = 1 }
    var networks = LabNetwork.challenge(seed: 1)
    for index in networks.indices { networks[index].link.connections = 1 }
    let results = Experiment(
      contestants: contestants, networks: networks, feed: .generated(.challenge),
      viewer: .challenge, items: 7, repeats: 40, seed: 1
    ).results()
    // On high, medium and low; docs/lab.md has the figures of 200 sessions.
    for (network, (points, stalled, megabytes)) in [
      (50.0, 190.0, 3.2), (19.0, 245.0, 1.7), (14.0, 290.0, 1.6),
    ].enumerated() {
      func mean(_ measure: RunFigures.Measure, of contestant: Int = 0) -> Double {
        results.interval(contestant, on: network, measure).mean
      }
      #expect(mean(.challengePoints) > points && mean(.stalledClips) < stalled)
      #expect(mean(.wastedMegabytes) < megabytes)
      #expect(mean(.stalledClips) < mean(.stalledClips, of: 1))
    }
  }

  @Test func `both formulas count what was watched, what was lost and what came`() throws {
    // One clip of ten seconds of 1000 kbit/s, then one of 500, for ten seconds each.
    func clip(_ id: String, _ kbps: Int) -> LabFeed.Item {
      let seconds = (1...10).map { $0 * kbps * 125 }
      return LabFeed.Item(
        id: id, type: .video,
        media: [
          [
            LabFile(
              startRanges: [0..<seconds[0]], secondBytes: seconds, durationMilliseconds: 10_000)
          ]
        ])
    }
    let setup = Simulation.Setup(
      feed: LabFeed([clip("a", 1_000), clip("b", 500)]), viewer: .retained,
      network: Self.network(100_000), items: 2)
    let run = Simulation.run(Contestant(.plain(leading: 1)), setup, seed: 1)
    let (played, delay) = (
      Double(run.playedMilliseconds) / 1_000, Double(run.delayMilliseconds) / 1_000
    )
    // The decoder takes 80 ms of each.
    #expect(abs(played - 19.84) < 0.2 && run.switchedKilobitsPerSecond == 500)
    let quality = run.value(.bitrateKilobitsPerSecond) * played / 1_000
    #expect(abs(quality - 14.9) < 0.2)
    let megabits = Double(run.fetchedBytes) * 8 / 1e6
    #expect(abs(megabits - 15) < 0.01)
    #expect(
      abs(run.value(.challengePoints) - (quality - 1.85 * delay - 0.5 - megabits / 2) * 3.5) < 0.01)
    #expect(abs(run.value(.yinPoints) - (quality - 0.5 - 3 * delay) * 3.5) < 0.01)
    // The second clip is decoded while the first plays: of the two only that waits for its decoder.
    for milliseconds in [80, 500] {
      var contestant = Contestant(.plain(leading: 1))
      contestant.settings.decoderStartMilliseconds = milliseconds
      let run = Simulation.run(contestant, setup, seed: 1)
      let frames = run.value(.frameMilliseconds) * 2 - Double(run.waitedMilliseconds)
      #expect(abs(frames - Double(milliseconds)) < 40, "\(frames)")
      contestant.isStressed = true
      #expect(Simulation.run(contestant, setup, seed: 1).fetchedBytes <= run.fetchedBytes)
    }
  }

  @Test func `where there is room the best bitrate plays, and tables show quality`() {
    var contestant = Contestant(.expectedWait(WaitTuning()))
    contestant.settings.parallelTransfers = 1
    let experiment = Experiment(
      contestants: [contestant], networks: [Self.network(20_000), Self.network(1_000)],
      feed: .generated(.challenge), viewer: .challenge, items: 40, repeats: 2, seed: 4)
    let results = experiment.results()
    let rates = [0, 1].map { results.interval(0, on: $0, .bitrateKilobitsPerSecond).mean }
    #expect(rates[0] > 1_700 && rates[1] < 1_300 && rates[1] >= 600)
    #expect(results.table(margin: 2).contains("challenge"))
    var other = experiment
    other.feed = .generated(FeedModel())
    #expect(!other.results().table(margin: 2).contains("challenge"))
  }
}
