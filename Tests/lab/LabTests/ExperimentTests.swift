import Feed
import Prefetch
import TestSupport
import Testing

@testable import Lab

/// Many runs, and what is said of them.
@Suite struct ExperimentTests {
  static let experiment = Experiment(
    contestants: [
      Contestant(.plain(leading: 2)), Contestant(.endless), Contestant(.plain(leading: 2)),
    ],
    networks: [SimulationTests.profile("3g"), SimulationTests.profile("dsl")],
    feed: .generated(FeedModel()), viewer: .steady, items: 40, repeats: 8, seed: 11)

  @Test func `in whatever order runs are done, their results are the same`() {
    let inOrder = Self.experiment.results()
    let backwards = Self.experiment.results { count, body in
      for index in (0..<count).reversed() { body(index) }
    }
    #expect(inOrder.csv == backwards.csv)
    #expect(inOrder.table(margin: 1) == backwards.table(margin: 1))
    #expect(inOrder.json(margin: 1) == backwards.json(margin: 1))
    var other = Self.experiment
    other.seed = 12
    #expect(other.results().csv != inOrder.csv)
  }

  @Test func `a strategy is equivalent to itself, and better than none`() {
    let results = Self.experiment.results()
    for network in [0, 1] {
      #expect(results.comparison(1, on: network, margin: 40).verdict == .worse)
      #expect(results.comparison(2, on: network, margin: 40).verdict == .equivalent)
      // 320 items without a difference say nothing about five in a thousand.
      #expect(results.comparison(2, on: network, margin: 5).verdict == .undecided)
    }
    #expect(results.interval(1, on: 0, .loaders).mean > results.interval(0, on: 0, .loaders).mean)
    // Two networks are two witnesses: too few to say anything.
    #expect(results.comparison(1, on: nil, margin: 5).difference.count == 2)
  }

  @Test func `the table, the CSV and the JSON have the same numbers`() throws {
    let results = Self.experiment.results()
    let lines = results.csv.split(separator: "\r\n")
    #expect(lines.count == 1 + Self.experiment.runCount + 2 * 8)
    let rows = lines.dropFirst().filter { $0.hasPrefix("3g,endless,") }
    let loaders: [Double] = try rows.map { row in
      try #require(Double(row.split(separator: ",")[3]))
    }
    let mean = loaders.reduce(0, +) / Double(rows.count)
    let text = fixed(mean, 1)
    let line = try #require(
      results.table(margin: 1).split(separator: "\n").first { $0.contains("3g       endless") })
    #expect(line.split(separator: " ")[2] == text[...], "\(line)")
    let json = String(decoding: results.json(margin: 1), as: UTF8.self)
    #expect(json.contains("\"strategy\":\"endless\",\"loaders\":{\"mean\":\(fixed(mean, 3))"))
  }

  @Test(arguments: TestRandom.seeds)
  func `settings that let the same items load share a run, and no others do`(seed: UInt64) {
    var random = TestRandom(seed)
    var contestants: [Contestant] = []
    for (index, weights) in ([(5, 2, 1), (10, 4, 2), (3, 2, 1)] + random.settings(9)).enumerated() {
      let (maxCost, video, image) = weights
      var policy = Policy(
        name: "", strategy: .weighted(leading: 6, maxCost: maxCost), imageWeight: image,
        videoWeight: video)
      if index > 2 {
        policy.strategy = .weighted(leading: random.number(0...6), maxCost: maxCost)
        policy.carouselVisibleParts = random.number(0...3)
        policy.adWeight = random.number(0...3)
      }
      contestants.append(Contestant(name: "\(index)", policy: policy))
    }
    let (pictures, mixed) = (Self.feed(&random), Self.feed(&random, hasAds: true))
    #expect(contestants[0].conduct(in: pictures) == contestants[1].conduct(in: pictures))
    #expect(contestants[0].conduct(in: pictures) != contestants[2].conduct(in: pictures))
    #expect(contestants[0].conduct(in: mixed) != contestants[1].conduct(in: mixed))
    var doubled = contestants[0]
    doubled.settings.parallelTransfers += 1
    #expect(contestants[0].conduct(in: pictures) != doubled.conduct(in: pictures))
    for feed in [pictures, mixed] {
      var experiment = Self.experiment
      experiment.networks = [SimulationTests.profile("3g")]
      experiment.feed = .recorded(feed)
      experiment.viewer = SimulationTests.busy
      experiment.repeats = 2
      experiment.contestants = contestants
      let together = experiment.results()
      for index in contestants.indices {
        experiment.contestants = [contestants[index]]
        #expect(
          experiment.results().runs == together.only([index]).runs,
          "\(contestants[index].policy), \(TestRandom.replay)")
      }
    }
  }

  /// Pictures, clips and carousels of both, some empty, and ads.
  private static func feed(_ random: inout TestRandom, hasAds: Bool = false) -> LabFeed {
    LabFeed(
      (0..<60).map { index in
        let type: PostType =
          if hasAds, index % 7 == 0 { .ad } else {
            random.one(of: [.image, .video, .carousel, .carousel, .text])
          }
        let count =
          switch type {
          case .text: 0
          case .carousel: random.number(0...4)
          default: 1
          }
        let media = (0..<count).map { _ in
          let bytes = random.number(0...150_000)
          guard type == .video || type != .image && random.once(in: 2) else {
            return [LabFile(imageBytes: bytes)]
          }
          return [
            LabFile(
              startRanges: [0..<bytes / 3], secondBytes: [bytes / 2, bytes],
              durationMilliseconds: 2_000)
          ]
        }
        return LabFeed.Item(id: "i\(index)", type: type, media: media)
      })
  }

  @Test func `two are compared until it is clear, in whatever order runs are done`() {
    var experiment = Self.experiment
    experiment.contestants = [Contestant(.endless), Contestant(.plain(leading: 2))]
    experiment.repeats = 100
    experiment.networks = [SimulationTests.profile("dsl")]
    let found = experiment.compare(.loaders, margin: 5)
    let backwards = experiment.compare(.loaders, margin: 5) { count, body in
      for index in (0..<count).reversed() { body(index) }
    }
    #expect(found.verdict == .better && found.difference.count < 20)
    #expect(found.difference == backwards.difference)
    #expect(found.sentence("a", "b", of: .loaders).hasPrefix("a is better than b: -"))
    // Itself: the same to the byte.
    experiment.contestants[1] = experiment.contestants[0]
    #expect(experiment.compare(.loaders, margin: 10).verdict == .equivalent)
    // Several networks: each is one witness.
    experiment.contestants[1] = Contestant(.plain(leading: 2))
    experiment.repeats = 2
    experiment.networks = (1...6).map { number in
      LabNetwork(
        NetworkProfile(
          name: "\(number)", title: "", downlinkKbps: 1_500 + 100 * number, uplinkKbps: 500,
          roundTripMilliseconds: 50))
    }
    let several = experiment.compare(.loaders, margin: 5)
    #expect(several.verdict == .better && several.difference.count <= 6)
  }

  @Test func `numbers are written with the decimals asked for`() {
    let cases: [(Double, Int, String)] = [
      (0, 0, "0"), (1.25, 1, "1.3"), (-0.04, 1, "0.0"), (-1.5, 0, "-2"), (12.3456, 3, "12.346"),
      (0.05, 2, "0.05"), (1e30, 1, "1e+30"),
    ]
    for (number, decimals, text) in cases { #expect(fixed(number, decimals) == text) }
  }
}

extension TestRandom {
  /// This many maximum costs with costs of a clip and of a picture.
  fileprivate mutating func settings(_ count: Int) -> [(Int, Int, Int)] {
    (0..<count).map { _ in (number(0...9), number(0...4), number(0...3)) }
  }
}
