import Feed
import Prefetch
import TestSupport
import Testing

struct HintTests {
  struct Case: CustomTestStringConvertible {
    let testDescription: String
    let post: Post
    let weight: Int
    let minimum: Int
    let entire: Int
    let isEstimated: Bool

    init(
      _ name: String, _ type: PostType, _ media: [Media] = [], weight: Int, minimum: Int,
      entire: Int,
      isEstimated: Bool
    ) {
      testDescription = name
      post = Samples.post(type, media)
      self.weight = weight
      self.minimum = minimum
      self.entire = entire
      self.isEstimated = isEstimated
    }
  }

  static let policy = Policy(
    name: "p", strategy: .weighted(leading: 5, maxCost: 5), imageWeight: 1, videoWeight: 2,
    webappWeight: 3, adWeight: 4, textWeight: 0, carouselVisibleParts: 2, videoStartBytes: 200_000,
    videoBytes: 2_000_000, videoKbps: 800, imageBytes: 150_000, webappBytes: 300_000)

  static let cases = [
    Case(
      "image", .image, [Samples.image(70_000)], weight: 1, minimum: 70_000, entire: 70_000,
      isEstimated: false),
    Case(
      "image of unknown size", .image, [Samples.image()], weight: 1, minimum: 150_000,
      entire: 150_000, isEstimated: true),
    Case(
      "empty image", .image, [Samples.image(0)], weight: 1, minimum: 0, entire: 0,
      isEstimated: false),
    Case(
      "image without media", .image, weight: 1, minimum: 150_000, entire: 150_000, isEstimated: true
    ),
    Case(
      "image of several files", .image, [Samples.image(1_000), Samples.image(20_000)], weight: 1,
      minimum: 21_000, entire: 21_000, isEstimated: false),
    Case(
      "video", .video, [Samples.video(900_000)], weight: 2, minimum: 200_000, entire: 900_000,
      isEstimated: true),
    Case(
      "video no longer than its start", .video, [Samples.video(200_000)], weight: 2,
      minimum: 200_000, entire: 200_000, isEstimated: false),
    Case(
      "video longer than its start by a byte", .video, [Samples.video(200_001)], weight: 2,
      minimum: 200_000, entire: 200_001, isEstimated: true),
    Case(
      "short video", .video, [Samples.video(50_000, milliseconds: 99_000)], weight: 2,
      minimum: 50_000, entire: 50_000, isEstimated: false),
    Case(
      "video of known duration", .video, [Samples.video(milliseconds: 10_000)], weight: 2,
      minimum: 200_000, entire: 1_000_000, isEstimated: true),
    Case(
      "video of short duration", .video, [Samples.video(milliseconds: 1_000)], weight: 2,
      minimum: 100_000, entire: 100_000, isEstimated: true),
    Case(
      "video of odd duration", .video, [Samples.video(milliseconds: 1)], weight: 2, minimum: 100,
      entire: 100, isEstimated: true),
    Case(
      "video of the longest duration", .video,
      [Samples.video(milliseconds: RecordLimits.number)], weight: 2, minimum: 200_000,
      entire: RecordLimits.fileBytes, isEstimated: true),
    Case(
      "video of unknown size", .video, [Samples.video()], weight: 2, minimum: 200_000,
      entire: 2_000_000, isEstimated: true),
    Case(
      "video without media", .video, weight: 2, minimum: 200_000, entire: 2_000_000,
      isEstimated: true),
    Case(
      "carousel of images", .carousel, [Samples.image(10), Samples.image(20), Samples.image(40)],
      weight: 2, minimum: 30, entire: 70, isEstimated: false),
    Case(
      "carousel with a video in sight", .carousel,
      [Samples.video(900_000), Samples.image(20), Samples.image(40)], weight: 3, minimum: 200_020,
      entire: 900_060, isEstimated: true),
    Case(
      "carousel with a video out of sight", .carousel,
      [Samples.image(10), Samples.image(20), Samples.video(900_000)], weight: 2, minimum: 30,
      entire: 900_030, isEstimated: true),
    Case(
      "carousel of one part", .carousel, [Samples.image(10)], weight: 1, minimum: 10, entire: 10,
      isEstimated: false),
    Case(
      "carousel without media", .carousel, weight: 2, minimum: 300_000, entire: 300_000,
      isEstimated: true),
    Case("web app", .webapp, weight: 3, minimum: 300_000, entire: 300_000, isEstimated: true),
    Case(
      "web app with an image", .webapp, [Samples.image(10)], weight: 3, minimum: 10, entire: 10,
      isEstimated: false),
    Case("ad", .ad, weight: 4, minimum: 300_000, entire: 300_000, isEstimated: true),
    Case(
      "ad with a video", .ad, [Samples.video(100)], weight: 4, minimum: 100, entire: 100,
      isEstimated: false),
    Case("text", .text, weight: 0, minimum: 0, entire: 0, isEstimated: false),
    Case(
      "text with an image", .text, [Samples.image(10)], weight: 0, minimum: 10, entire: 10,
      isEstimated: false),
  ]

  @Test(arguments: cases)
  func `what an item costs follows from its type and from what is known of its media`(
    _ expected: Case
  ) {
    let hint = Self.policy.hint(for: expected.post)
    #expect(hint.weight == expected.weight)
    #expect(hint.minimumBytes == expected.minimum)
    #expect(hint.entireBytes == expected.entire)
    #expect(hint.isEstimated == expected.isEstimated)
  }

  @Test(arguments: cases) func `sound costs what a video of as much would`(_ expected: Case) {
    var post = expected.post
    if post.type == .video { post.type = .audio }
    for index in post.media.indices where post.media[index].kind == .video {
      post.media[index].kind = .audio
    }
    #expect(Self.policy.hint(for: post) == Self.policy.hint(for: expected.post))
    var load = Samples.knownVideo
    load.type = .audio
    load.media[0].kind = .audio
    #expect(load.dependsOnDownlink)
    for network in NetworkProfile.usual {
      #expect(
        Self.policy.hint(for: load, on: network)
          == Self.policy.hint(for: Samples.knownVideo, on: network))
      let plan = Self.policy.plan(
        for: [Samples.knownVideo, load], on: network, hasNextPage: false)
      let video = Self.policy.plan(
        for: [Samples.knownVideo, Samples.knownVideo], on: network, hasNextPage: false)
      #expect(plan == video)
    }
  }

  @Test func `the articles' values are the first ones`() {
    let policy = Policy(name: "p", strategy: .plain(leading: 5))
    #expect(policy.hint(for: Samples.imagePost).weight == 1)
    #expect(policy.hint(for: Samples.videoPost).weight == 2)
    #expect(policy.hint(for: Samples.videoPost).minimumBytes == 200 * 1024)
    #expect(policy.hint(for: Samples.post(.video)).minimumBytes == 200 * 1024)
    #expect(policy.hint(for: Samples.post(.text)).weight == 0)
  }

  static let starts: [(network: String, item: ItemLoad, minimum: Int, isEstimated: Bool)] = [
    // The row of the next lower bandwidth, and without one all of it.
    ("lte", Samples.knownVideo, 60_000, false), ("very-bad", Samples.knownVideo, 60_000, false),
    ("3g", Samples.knownVideo, 400_000, false), ("edge", Samples.knownVideo, 1_000_000, false),
    ("lte", Samples.unstartableVideo, 50_000, false),
    ("edge", Samples.unstartableVideo, 50_000, false),
  ]

  @Test(arguments: starts)
  func `a video into which somebody has looked starts with what the network asks for`(
    network: String, item: ItemLoad, minimum: Int, isEstimated: Bool
  ) {
    let hint = Self.policy.hint(for: item, on: Samples.network(network))
    #expect(hint.minimumBytes == minimum && hint.entireBytes == 1_000_000)
    #expect(hint.isEstimated == isEstimated)
    #expect(item.dependsOnDownlink == !item.media[0].timing!.lead.isEmpty)
  }

  @Test func `where only the head of a video is known the policy's start is added`() {
    var item = Samples.knownVideo
    item.media[0].timing = MediaTiming(headBytes: 700_000)
    let network = Samples.network("3g")
    #expect(Self.policy.hint(for: item, on: network).minimumBytes == 700_000)
    item.media[0].timing = MediaTiming(headBytes: 10)
    let hint = Self.policy.hint(for: item, on: network)
    #expect(hint.minimumBytes == Self.policy.videoStartBytes && hint.isEstimated)
    item.media[0].bytes = 20
    #expect(Self.policy.hint(for: item, on: network).minimumBytes == 20)
    #expect(!Self.policy.hint(for: item, on: network).isEstimated)
    #expect(!item.dependsOnDownlink)
  }

  @Test func `the bytes of a duration are rounded up`() {
    var policy = Self.policy
    policy.videoKbps = 801
    let post = Samples.post(.video, [Samples.video(milliseconds: 1_001)])
    #expect(policy.hint(for: post).entireBytes == 100_226)
  }

  @Test func `more visible parts than a carousel has are as many as it has`() {
    var policy = Self.policy
    policy.carouselVisibleParts = 9
    let post = Samples.post(.carousel, [Samples.image(10), Samples.video(20)])
    #expect(policy.hint(for: post).weight == 3)
    #expect(policy.hint(for: post).minimumBytes == 30)
    #expect(policy.hint(for: Samples.post(.carousel)).weight == 9)
  }

  @Test(arguments: TestRandom.seeds) func `an item never starts with more than it has`(seed: UInt64)
    throws
  {
    var random = TestRandom(seed)
    for _ in 0..<2_000 {
      let post = Samples.random(&random)
      let item = Samples.load(post, &random)
      let hint = Self.policy.hint(for: item, on: random.one(of: NetworkProfile.usual))
      try #require(hint.minimumBytes >= 0, "\(post), \(TestRandom.replay)")
      try #require(hint.minimumBytes <= hint.entireBytes, "\(post), \(TestRandom.replay)")
      try #require(hint.weight >= 0, "\(post), \(TestRandom.replay)")
      if !hint.isEstimated {
        try #require(
          hint.entireBytes == post.media.reduce(0) { $0 + ($1.bytes ?? .max / 8) },
          "\(post), \(TestRandom.replay)")
      }
    }
  }
}
