import Feed
import Prefetch
import Testing

struct PagePlanTests {
  /// `item.medium: bytes why`, with `~` for an estimate.
  static func lines(_ plan: PagePlan) -> [String] {
    plan.parts.map { part in
      let medium = part.mediaIndex.map(String.init) ?? "page"
      return
        "\(part.itemIndex).\(medium): \(part.isEstimated ? "~" : "")\(part.bytes) \(part.reason)"
    }
  }

  static func plan(
    _ posts: [Post], _ policy: Policy = Samples.plain5, network: String = "3g",
    budget: Int? = nil, savesData: Bool = false
  ) -> [String] {
    let bounds = PlanBounds(budgetBytes: budget, savesData: savesData)
    let plan = policy.plan(
      for: posts, on: Samples.network(network), bounds: bounds, hasNextPage: true)
    #expect(plan.bytes == plan.parts.reduce(0) { $0 + $1.bytes })
    return lines(plan)
  }

  static let image = Samples.imagePost
  static let video = Samples.videoPost

  // MARK: Strategies

  @Test func `plain-5 loads the active item and the next five whatever they weigh`() {
    #expect(
      Self.plan([
        Self.video, Self.image, Self.video, Self.video, Self.video, Self.video, Self.image,
      ])
        == [
          "0.0: 1000000 active", "1.0: 100000 whole", "2.0: ~204800 start", "3.0: ~204800 start",
          "4.0: ~204800 start", "5.0: ~204800 start",
        ])
  }

  @Test func `weighted loads what weighs no more than the maximum`() {
    let policy = Samples.weighted5
    #expect(
      Self.plan([Self.video, Self.video, Self.video, Self.image, Self.image], policy) == [
        "0.0: 1000000 active", "1.0: ~204800 start", "2.0: ~204800 start", "3.0: 100000 whole",
      ])
    // What comes after the first item without room is not loaded before it.
    #expect(
      Self.plan([Self.image, Self.video, Self.video, Self.video, Self.image], policy) == [
        "0.0: 100000 active", "1.0: ~204800 start", "2.0: ~204800 start",
      ])
  }

  /// An item of 100 KB a second on 97.5 KB a second: one more comes late each time.
  @Test func `ours plans what the link brings before its turn, and the next item in any case`() {
    let ours = Policy(name: "expected-wait", strategy: .expectedWait(WaitTuning()))
    let small = Samples.post(.image, [Samples.image(50_000)])
    let many = Array(repeating: small, count: 20)
    // What comes in time, as far as is looked ahead.
    #expect(Self.plan(many, ours, network: "3g").count == 13)
    #expect(
      Self.plan([Self.video, Self.image, Self.image, Self.image], ours) == [
        "0.0: 1000000 active", "1.0: 100000 whole",
      ])
    #expect(
      Self.plan([Self.image, small, Self.image, Self.image, small], ours) == [
        "0.0: 100000 active", "1.0: 50000 whole", "2.0: 100000 whole", "3.0: 100000 whole",
        "4.0: 50000 whole",
      ])
    // What comes late is not begun in part, and nothing behind it is.
    #expect(
      Self.plan([Self.image, small, Self.video, small], ours) == [
        "0.0: 100000 active", "1.0: 50000 whole",
      ])
    #expect(Self.plan(many, ours, network: "edge").count == 2)
    #expect(Self.plan(many, ours, network: "offline").isEmpty)
    #expect(Self.plan(many, ours, network: "wifi", savesData: true).count == 1)
    #expect(Self.plan(many, ours, network: "wifi", budget: 120_000).count == 2)
  }

  @Test func `the active item does not count towards the maximum`() {
    var policy = Samples.weighted5
    policy.strategy = .weighted(leading: 5, maxCost: 0)
    #expect(Self.plan([Self.video, Self.image], policy) == ["0.0: 1000000 active"])
    policy.strategy = .weighted(leading: 5, maxCost: 1)
    #expect(
      Self.plan([Self.video, Self.image, Self.image], policy)
        == ["0.0: 1000000 active", "1.0: 100000 whole"])
  }

  @Test func `an item with nothing to load takes a leading place, and no cost`() {
    let empty = [Samples.post(.text), Samples.post(.webapp), Samples.post(.ad)]
    let items = [Self.image] + empty + [Self.image, Self.image]
    var policy = Samples.weighted5
    policy.strategy = .weighted(leading: 4, maxCost: 1)
    #expect(Self.plan(items, policy) == Self.plan([Self.image] + empty + [Self.image], policy))
    #expect(Self.plan(items, policy).count == 2)
    policy.strategy = .weighted(leading: 3, maxCost: 1)
    #expect(Self.plan(items, policy).count == 1)
  }

  @Test func `weighted goes no further than the leading items, and text weighs nothing`() {
    let text = Samples.post(.text)
    var policy = Samples.weighted5
    #expect(
      Self.plan([text, text, text, Self.video, Self.video, Self.image, Self.image], policy)
        == ["3.0: ~204800 start", "4.0: ~204800 start", "5.0: 100000 whole"])
    policy.textWeight = 3
    // Nothing to load is nothing to weigh.
    #expect(Self.plan([text, text, text, Self.video], policy) == ["3.0: ~204800 start"])
  }

  @Test func `an item takes its visible parts when it comes and all when it is active`() {
    let carousel = Samples.post(
      .carousel, [Samples.image(10), Samples.video(300_000), Samples.image(30)])
    var policy = Samples.plain5
    #expect(
      Self.plan([carousel, carousel], policy)
        == ["0.0: 10 active", "0.1: 300000 active", "0.2: 30 active", "1.0: 10 whole"])
    policy.carouselVisibleParts = 2
    #expect(
      Self.plan([Samples.post(.text), carousel], policy) == ["1.0: 10 whole", "1.1: ~204800 start"])
  }

  @Test func `a web app or ad without media is loaded as its own page`() {
    let webapp = Samples.post(.webapp, url: "https://apps.example/")
    let ad = Samples.post(.ad, url: "https://ads.example/")
    #expect(
      Self.plan([webapp, ad, webapp])
        == ["0.page: ~307200 active", "1.page: ~307200 whole", "2.page: ~307200 whole"])
    #expect(
      Self.plan([Samples.post(.webapp), Samples.post(.ad), Samples.post(.image, url: "x")]) == [])
    #expect(Self.plan([Samples.post(.ad, [Samples.image(5)], url: "x")]) == ["0.0: 5 active"])
  }

  @Test func `what is not known is marked`() {
    let posts = [
      Samples.post(.video, [Samples.video()]), Samples.post(.image, [Samples.image()]),
      Samples.post(.video, [Samples.video(milliseconds: 1_000)]),
      Samples.post(.video, [Samples.video(100_000)]), Samples.post(.image, [Samples.image(0)]),
    ]
    #expect(
      Self.plan(posts) == [
        "0.0: ~2097152 active", "1.0: ~153600 whole", "2.0: ~100000 start", "3.0: 100000 start",
      ])
  }

  /// `item.medium: first-last why`, with `?` where the end is not known.
  private static func ranges(
    _ items: [ItemLoad], network: String = "lte", budget: Int? = nil
  ) -> [String] {
    let plan = Samples.plain5.plan(
      for: items, on: Samples.network(network), bounds: PlanBounds(budgetBytes: budget),
      hasNextPage: true)
    return plan.parts.map { part in
      let medium = part.mediaIndex.map(String.init) ?? "page"
      let range = part.range.map { "\($0.lowerBound)-\($0.upperBound - 1)" } ?? "?"
      return "\(part.itemIndex).\(medium): \(range) \(part.reason)"
    }
  }

  @Test func `a part has a range only where the file's end is known`() {
    let posts = [
      Samples.post(.video, [Samples.video()]), Samples.post(.image, [Samples.image()]),
      Samples.post(.video, [Samples.video(milliseconds: 9_000)]),
      Samples.post(.video, [Samples.video(100_000)]), Samples.videoPost, Samples.imagePost,
    ].map { ItemLoad($0) }
    #expect(
      Self.ranges(posts) == [
        "0.0: ? active", "1.0: ? whole", "2.0: ? start", "3.0: 0-99999 start",
        "4.0: 0-204799 start", "5.0: 0-99999 whole",
      ])
    #expect(
      Self.ranges([ItemLoad(Samples.post(.webapp, url: "https://apps.example/"))])
        == ["0.page: ? active"])
  }

  @Test func `a video into which somebody has looked starts with its lead`() {
    let known = Samples.knownVideo
    #expect(Self.ranges([known, known]) == ["0.0: 0-999999 active", "1.0: 0-59999 start"])
    #expect(
      Self.ranges([known, known], network: "3g") == ["0.0: 0-999999 active", "1.0: 0-399999 start"])
    #expect(
      Self.ranges([known, known], network: "edge")
        == ["0.0: 0-999999 active", "1.0: 0-999999 start"])
    #expect(Self.ranges([known], network: "3g", budget: 399_999) == [])
    #expect(Self.ranges([known], network: "3g", budget: 400_000) == ["0.0: 0-399999 active"])
  }

  @Test func `what a head alone does not start is loaded in the pieces that it takes, or not`() {
    let (known, apart) = (Samples.knownVideo, Samples.unstartableVideo)
    let pieces = ["1.0: 0-39999 start", "1.0: 990000-999999 start"]
    #expect(Self.ranges([known, apart]) == ["0.0: 0-999999 active"] + pieces)
    #expect(Self.ranges([known, apart], budget: 1_049_999) == ["0.0: 0-999999 active"])
    #expect(Self.ranges([known, apart], budget: 1_050_000) == ["0.0: 0-999999 active"] + pieces)
    #expect(Self.ranges([apart]) == ["0.0: 0-999999 active"])
    #expect(Self.ranges([apart], budget: 999_999) == [])
  }

  // MARK: Bounds

  static let budgets: [(Int, [String])] = [
    (0, []),
    // Of the active video from its start bytes on.
    (204_799, []),
    (204_800, ["0.0: 204800 active"]),
    (999_999, ["0.0: 999999 active"]),
    (1_000_000, ["0.0: 1000000 active"]),
    // Of an image nothing, and of nothing below it either.
    (1_099_999, ["0.0: 1000000 active"]),
    (1_100_000, ["0.0: 1000000 active", "1.0: 100000 whole"]),
    (1_304_799, ["0.0: 1000000 active", "1.0: 100000 whole"]),
    (1_304_800, ["0.0: 1000000 active", "1.0: 100000 whole", "2.0: ~204800 start"]),
    (.max, ["0.0: 1000000 active", "1.0: 100000 whole", "2.0: ~204800 start", "3.0: 10 whole"]),
  ]

  @Test(arguments: budgets)
  func `the plan ends where the budget does`(budget: Int, expected: [String]) {
    let small = Samples.post(.image, [Samples.image(10)])
    #expect(Self.plan([Self.video, Self.image, Self.video, small], budget: budget) == expected)
  }

  @Test func `an active image is not cut`() {
    #expect(Self.plan([Self.image, Self.image], budget: 99_999) == [])
    #expect(Self.plan([Self.image, Self.image], budget: 100_000) == ["0.0: 100000 active"])
  }

  @Test func `a spent budget buys nothing, not even of a video that starts with nothing`() {
    var policy = Samples.plain5
    policy.videoStartBytes = 0
    #expect(Self.plan([Self.video], policy, budget: 0) == [])
    let carousel = Samples.post(.carousel, [Samples.image(10), Samples.video(900)])
    #expect(Self.plan([carousel], policy, budget: 10) == ["0.0: 10 active"])
    #expect(Self.plan([carousel], policy, budget: 11) == ["0.0: 10 active", "0.1: 1 active"])
  }

  @Test func `a person who saves data loads the active item and nothing else`() {
    let posts = [Self.video, Self.image, Self.video]
    for policy in [Samples.plain5, Samples.weighted5] {
      #expect(Self.plan(posts, policy, savesData: true) == ["0.0: 1000000 active"])
      #expect(Self.plan(posts, policy, budget: 300_000, savesData: true) == ["0.0: 300000 active"])
      #expect(
        Self.plan(posts, policy, budget: 9_000_000, savesData: true) == ["0.0: 1000000 active"])
    }
    #expect(Self.plan([Samples.post(.text), Self.image], savesData: true) == [])
  }

  @Test func `on a network that delivers nothing nothing is planned`() {
    #expect(Self.plan([Self.video, Self.image], network: "offline") == [])
    #expect(Self.plan([]) == [])
  }

  // MARK: The next page

  static let thresholds: [(network: String, count: Int, expected: Int)] = [
    // 70 % of a page, where it is early enough.
    ("wifi", 30, 21), ("lte", 30, 21), ("3g", 30, 21), ("edge", 30, 21), ("wifi", 100, 70),
    // A short page: before the last five items, and as many earlier as are scrolled meanwhile.
    ("wifi", 10, 4), ("3g", 10, 4), ("edge", 10, 2), ("very-bad", 10, 2),
    ("wifi", 7, 1), ("edge", 7, 0), ("wifi", 6, 0), ("wifi", 1, 0), ("edge", 1, 0), ("wifi", 0, 0),
    ("offline", 30, 0),
  ]

  @Test(arguments: thresholds)
  func `the next page is asked for so that it arrives in time`(
    network: String, count: Int, expected: Int
  ) {
    let posts = Array(repeating: Self.image, count: count)
    func nextPageAt(_ policy: Policy, hasNextPage: Bool) -> Int? {
      policy.plan(for: posts, on: Samples.network(network), hasNextPage: hasNextPage).nextPageAt
    }
    #expect(nextPageAt(Samples.plain5, hasNextPage: true) == expected)
    #expect(nextPageAt(Samples.plain5, hasNextPage: false) == nil)
  }

  @Test func `who scrolls faster or loads further ahead asks earlier`() {
    let posts = Array(repeating: Self.image, count: 30)
    func nextPageAt(_ change: (inout Policy) -> Void) -> Int? {
      var policy = Samples.plain5
      change(&policy)
      return policy.plan(for: posts, on: Samples.network("edge"), hasNextPage: true).nextPageAt
    }
    #expect(nextPageAt { $0.strategy = .plain(leading: 15) } == 12)
    // 1600 ms of round trips and 682 ms of page: 2.282 s, four items a second are ten.
    #expect(nextPageAt { $0.itemsPerMinute = 240 } == 15)
    #expect(nextPageAt { $0.nextPagePercent = 0 } == 0)
    #expect(nextPageAt { $0.nextPagePercent = 100 } == 22)
    #expect(nextPageAt { $0.strategy = .plain(leading: 100) } == 0)
  }

  // MARK: The engine's strategies

  typealias First = (strategy: Policy.Strategy, items: Int, nextPageAt: Int)

  @Test(
    arguments: [
      (.standard(leading: 2), 3, 21), (.endless, 1, 29), (.thresholdFixed(percent: 70), 1, 20),
      (.thresholdDynamic(percent: 25), 1, 7), (.lazyTarget(leading: 2, trailing: 1), 3, 21),
      (.rangeController(RangeTuning()), 4, 21), (.stages(StageTuning()), 5, 21),
      // The third would come late.
      (.expectedWait(WaitTuning()), 2, 17),
    ] as [First])
  func `a page's plan has the items that a strategy may load as the first is active`(
    _ sample: First
  ) {
    let policy = Policy(name: sample.strategy.name, strategy: sample.strategy)
    let plan = policy.plan(
      for: [Post](repeating: Self.image, count: 30), on: Samples.network("3g"), hasNextPage: true)
    #expect(plan.parts.map(\.itemIndex) == Array(0..<sample.items))
    #expect(plan.nextPageAt == sample.nextPageAt)
  }
}
