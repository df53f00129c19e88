import Prefetch
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
    // Both figures: a fast network may have the round trip of a yet faster one.
    (.measured(downlinkKbps: 100_000, roundTripMilliseconds: 50), "lte"),
    (.measured(downlinkKbps: 100_000, roundTripMilliseconds: 115), "lte"),
    (.measured(downlinkKbps: 49_999, roundTripMilliseconds: 1), "wifi"),
    (.measured(downlinkKbps: 49_999, roundTripMilliseconds: 115), "wifi"),
    (.measured(downlinkKbps: 39_999, roundTripMilliseconds: 115), "dsl"),
    (.measured(downlinkKbps: 999, roundTripMilliseconds: 100), "3g"),
    (.measured(downlinkKbps: 780, roundTripMilliseconds: 200), "3g"),
    (.measured(downlinkKbps: 779, roundTripMilliseconds: 200), "edge"),
    // With a longer one it is a slower kind of network.
    (.measured(downlinkKbps: 100_000, roundTripMilliseconds: 116), "3g"),
    (.measured(downlinkKbps: 49_999, roundTripMilliseconds: 116), "3g"),
    (.measured(downlinkKbps: 780, roundTripMilliseconds: 201), "edge"),
    (.measured(downlinkKbps: 100_000, roundTripMilliseconds: 800), "edge"),
    // Only the rate; a profile with loss is none that figures lead to.
    (.measured(downlinkKbps: 50_000, roundTripMilliseconds: nil), "lte"),
    (.measured(downlinkKbps: 40_000, roundTripMilliseconds: nil), "wifi"),
    (.measured(downlinkKbps: 39_999, roundTripMilliseconds: nil), "dsl"),
    (.measured(downlinkKbps: 1_999, roundTripMilliseconds: nil), "3g"),
    (.measured(downlinkKbps: 240, roundTripMilliseconds: nil), "edge"),
    // Only the round trip.
    (.measured(downlinkKbps: nil, roundTripMilliseconds: 0), "lte"),
    (.measured(downlinkKbps: nil, roundTripMilliseconds: 115), "lte"),
    (.measured(downlinkKbps: nil, roundTripMilliseconds: 116), "3g"),
    (.measured(downlinkKbps: nil, roundTripMilliseconds: 201), "edge"),
    (.measured(downlinkKbps: nil, roundTripMilliseconds: 800), "edge"),
    // Slower than all that deliver anything: the slowest of them.
    (.measured(downlinkKbps: 239, roundTripMilliseconds: nil), "edge"),
    (.measured(downlinkKbps: 1, roundTripMilliseconds: 1), "edge"),
    // Farther away than all: the farthest.
    (.measured(downlinkKbps: nil, roundTripMilliseconds: 801), "very-bad"),
    (.measured(downlinkKbps: 1, roundTripMilliseconds: 801), "very-bad"),
    (.measured(downlinkKbps: .max, roundTripMilliseconds: .max), "very-bad"),
    // Nothing arrives.
    (.measured(downlinkKbps: 0, roundTripMilliseconds: nil), "offline"),
    (.measured(downlinkKbps: 0, roundTripMilliseconds: 5), "offline"),
  ]

  @Test(arguments: choices)
  func `the profile is the fastest that promises no more than is known`(
    _ query: NetworkQuery, _ name: String?
  ) {
    #expect(Samples.networks.profile(for: query)?.name == name)
    #expect(Array(Samples.networks.reversed()).profile(for: query)?.name == name)
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
    networks: Samples.networks,
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
