import Prefetch
import TestSupport
import Testing

struct NetworkProfileTests {
  static let choices: [(NetworkQuery, String?)] = [
    (.unknown, "3g"),
    (.profile("edge"), "edge"),
    (.profile("offline"), "offline"),
    (.profile("EDGE"), nil),
    (.profile(""), nil),
    (.profile("5g"), nil),
    (.effectiveType("4g"), "lte"),
    (.effectiveType("3g"), "3g"),
    (.effectiveType("2g"), "edge"),
    (.effectiveType("slow-2g"), "very-bad"),
    (.effectiveType("5g"), "3g"),
    // Both figures: as fast as the rate, and no faster than the kind of network that the round trip means.
    (.measured(downlinkKbps: 100_000, roundTripMilliseconds: 50), "lte"),
    (.measured(downlinkKbps: 1_000_000, roundTripMilliseconds: 116), "lte"),
    (.measured(downlinkKbps: 1_000_000, roundTripMilliseconds: 269), "lte"),
    (.measured(downlinkKbps: 49_999, roundTripMilliseconds: 1), "lte"),
    (.measured(downlinkKbps: 10_001, roundTripMilliseconds: 116), "lte"),
    (.measured(downlinkKbps: 9_999, roundTripMilliseconds: 115), "dsl"),
    (.measured(downlinkKbps: 999, roundTripMilliseconds: 100), "3g"),
    (.measured(downlinkKbps: 780, roundTripMilliseconds: 201), "3g"),
    (.measured(downlinkKbps: 779, roundTripMilliseconds: 200), "edge"),
    (.measured(downlinkKbps: 1_000_000, roundTripMilliseconds: 270), "3g"),
    (.measured(downlinkKbps: 779, roundTripMilliseconds: 270), "edge"),
    (.measured(downlinkKbps: 100_000, roundTripMilliseconds: 1_399), "3g"),
    (.measured(downlinkKbps: 100_000, roundTripMilliseconds: 1_400), "edge"),
    (.measured(downlinkKbps: 100_000, roundTripMilliseconds: 1_999), "edge"),
    // Never more than was measured but on the slowest, however far away.
    (.measured(downlinkKbps: 1_000, roundTripMilliseconds: 2_000), "very-bad"),
    (.measured(downlinkKbps: 999, roundTripMilliseconds: 2_000), "edge"),
    (.measured(downlinkKbps: 100, roundTripMilliseconds: 1_000), "edge"),
    (.measured(downlinkKbps: 1, roundTripMilliseconds: 3_000), "edge"),
    (.measured(downlinkKbps: .max, roundTripMilliseconds: .max), "very-bad"),
    // What Chromium sends: multiples of 25 kbit/s and 25 ms, up to 10 Mbit/s and 3000 ms, on fibre as well.
    (.measured(downlinkKbps: 10_000, roundTripMilliseconds: 0, effectiveType: "4g"), "lte"),
    (.measured(downlinkKbps: 10_000, roundTripMilliseconds: 50, effectiveType: "4g"), "lte"),
    (.measured(downlinkKbps: 10_000, roundTripMilliseconds: 250, effectiveType: "4g"), "lte"),
    (.measured(downlinkKbps: 10_000, roundTripMilliseconds: 300, effectiveType: "3g"), "3g"),
    (.measured(downlinkKbps: 10_000, roundTripMilliseconds: nil), "lte"),
    (.measured(downlinkKbps: 10_000, roundTripMilliseconds: nil, effectiveType: "3g"), "3g"),
    (.measured(downlinkKbps: 9_975, roundTripMilliseconds: 50, effectiveType: "4g"), "dsl"),
    (.measured(downlinkKbps: 1_450, roundTripMilliseconds: 100, effectiveType: "4g"), "3g"),
    (.measured(downlinkKbps: 700, roundTripMilliseconds: 400, effectiveType: "3g"), "edge"),
    (.measured(downlinkKbps: 50, roundTripMilliseconds: 3_000, effectiveType: "slow-2g"), "edge"),
    (
      .measured(downlinkKbps: 10_000, roundTripMilliseconds: 3_000, effectiveType: "slow-2g"),
      "very-bad"
    ),
    (.measured(downlinkKbps: nil, roundTripMilliseconds: 25, effectiveType: "2g"), "edge"),
    (.measured(downlinkKbps: nil, roundTripMilliseconds: 2_000, effectiveType: "4g"), "very-bad"),
    (.measured(downlinkKbps: 10_001, roundTripMilliseconds: 25, effectiveType: "5g"), "lte"),
    // Only the rate; a profile with loss is none that a rate leads to.
    (.measured(downlinkKbps: 50_000, roundTripMilliseconds: nil), "lte"),
    (.measured(downlinkKbps: 40_000, roundTripMilliseconds: nil), "lte"),
    (.measured(downlinkKbps: 9_999, roundTripMilliseconds: nil), "dsl"),
    (.measured(downlinkKbps: 1_999, roundTripMilliseconds: nil), "3g"),
    (.measured(downlinkKbps: 240, roundTripMilliseconds: nil), "edge"),
    (.measured(downlinkKbps: 239, roundTripMilliseconds: nil), "edge"),
    // Only the round trip.
    (.measured(downlinkKbps: nil, roundTripMilliseconds: 0), "lte"),
    (.measured(downlinkKbps: nil, roundTripMilliseconds: 269), "lte"),
    (.measured(downlinkKbps: nil, roundTripMilliseconds: 270), "3g"),
    (.measured(downlinkKbps: nil, roundTripMilliseconds: 1_400), "edge"),
    (.measured(downlinkKbps: nil, roundTripMilliseconds: 2_000), "very-bad"),
    // Nothing arrives.
    (.measured(downlinkKbps: 0, roundTripMilliseconds: nil), "offline"),
    (.measured(downlinkKbps: 0, roundTripMilliseconds: 5), "offline"),
  ]

  /// Whatever the profiles: those of a new database, and any others.
  @Test(arguments: TestRandom.seeds)
  func `of two downlinks the greater never gets the slower profile`(_ seed: UInt64) throws {
    var random = TestRandom(seed)
    for round in 0..<300 {
      let profiles =
        round == 0
        ? NetworkProfile.usual
        : (0..<random.number(1...8)).map { index in
          NetworkProfile(
            name: "n\(index)", title: "",
            downlinkKbps: random.number(0...random.number(0...200_000)),
            uplinkKbps: 100, roundTripMilliseconds: 100,
            lossPercent: random.once(in: 4) ? 10 : 0,
            effectiveType: random.one(of: [nil, "4g", "3g", "2g", "slow-2g"]))
        }
      let roundTrip = random.one(of: [nil, 0, 269, 270, 1_400, 2_000, 5_000])
      let type = random.one(of: [nil, "4g", "3g", "2g", "slow-2g"])
      let figures = profiles.map(\.downlinkKbps) + [1, 9_999, 10_000, 10_001, 39_999, 40_000, .max]
      let downlinks = (figures + figures.map { max(1, $0 - 1) }).sorted()
      let chosen = downlinks.map { downlink in
        profiles.profile(
          for: .measured(
            downlinkKbps: downlink, roundTripMilliseconds: roundTrip, effectiveType: type)
        )?.downlinkKbps
          // Where no profile delivers anything, none is meant by a link that does.
          ?? .max
      }
      #expect(chosen == chosen.sorted(), "\(downlinks) of \(profiles), \(TestRandom.replay)")
    }
  }

  @Test(arguments: choices)
  func `the profile is the fastest that promises no more than is known`(
    _ query: NetworkQuery, _ name: String?
  ) {
    #expect(NetworkProfile.usual.profile(for: query)?.name == name)
    #expect(Array(NetworkProfile.usual.reversed()).profile(for: query)?.name == name)
  }

  /// But for the slowest, below which there is none, and where the measure says no more than that it is fast.
  @Test func `no profile promises more bandwidth than was measured`() {
    for downlink in stride(from: 240, to: NetworkQuery.cappedDownlinkKbps, by: 10) {
      for roundTrip in [nil, 0, 115, 270, 800, 1_400, 2_000, 3_000] as [Int?] {
        let query = NetworkQuery.measured(
          downlinkKbps: downlink, roundTripMilliseconds: roundTrip)
        let promised = NetworkProfile.usual.profile(for: query)?.downlinkKbps ?? 0
        #expect((1...downlink).contains(promised))
      }
    }
  }

  @Test func `without a default the first profile applies, and without profiles none`() {
    let profiles = [Samples.network("edge"), Samples.network("wifi")]
    #expect(profiles.profile(for: .unknown)?.name == "edge")
    let none: [NetworkProfile] = []
    for query in [
      .unknown, .effectiveType("3g"), .measured(downlinkKbps: 0, roundTripMilliseconds: 0),
      .measured(downlinkKbps: 1, roundTripMilliseconds: 1),
    ] as [NetworkQuery] {
      #expect(none.profile(for: query) == nil)
    }
    let offline = [Samples.network("offline")]
    #expect(offline.profile(for: .measured(downlinkKbps: 5, roundTripMilliseconds: nil)) == nil)
  }
}

struct PolicyBookTests {
  static let book = PolicyBook(
    networks: NetworkProfile.usual,
    policies: [
      .init(feed: nil, network: "3g"): Samples.weighted5,
      .init(feed: "featured", network: "3g"): Samples.plain5,
      .init(feed: "a", network: "edge"): Samples.plain5,
    ])

  @Test func `a feed's own policy comes before the one for all`() {
    let network = Samples.network("3g")
    #expect(Self.book.policy(feed: "featured", network: network) == Samples.plain5)
    #expect(Self.book.policy(feed: "videos", network: network) == Samples.weighted5)
    #expect(Self.book.policy(feed: nil, network: network) == Samples.weighted5)
  }

  @Test func `without any policy nothing is loaded ahead`() {
    let policy = Self.book.policy(feed: "featured", network: Samples.network("edge"))
    #expect(policy.leading == 0)
    #expect(policy.trailing == 0)
    let plan = policy.plan(
      for: [Samples.imagePost, Samples.imagePost], on: Samples.network("edge"), hasNextPage: false)
    #expect(plan.parts.map(\.itemIndex) == [0])
  }

  @Test func `networks stand from the fastest to the slowest and feeds by name`() {
    #expect(
      Self.book.networks.map(\.name) == ["lte", "wifi", "dsl", "very-bad", "3g", "edge", "offline"])
    #expect(Self.book.feeds == ["a", "featured"])
  }
}
