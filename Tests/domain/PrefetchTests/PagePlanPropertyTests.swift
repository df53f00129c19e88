import Feed
import Prefetch
import TestSupport
import Testing

/// What holds for every plan.
struct PagePlanPropertyTests {
  static func policy(_ random: inout TestRandom) -> Policy {
    let leading = random.number(0...12)
    let weighted = Policy.Strategy.weighted(leading: leading, maxCost: random.number(0...12))
    return Policy(
      name: "p",
      strategy: random.one(of: [
        .plain(leading: leading), weighted, .expectedWait(WaitTuning(leading: leading)),
      ]),
      imageWeight: random.number(0...2), videoWeight: random.number(0...3),
      carouselVisibleParts: random.number(1...4),
      videoStartBytes: random.once(in: 5) ? 0 : random.number(1...400_000),
      nextPagePercent: random.number(0...100), itemsPerMinute: random.number(1...600))
  }

  @Test(arguments: TestRandom.seeds) func `every plan keeps to the page, the hints and the bounds`(
    seed: UInt64
  ) throws {
    var random = TestRandom(seed)
    for _ in 0..<3_000 {
      let policy = Self.policy(&random)
      let posts = (0..<random.number(0...15)).map { _ in
        Samples.load(Samples.random(&random), &random)
      }
      let bounds = PlanBounds(
        budgetBytes: random.once(in: 2) ? random.number(0...4_000_000) : nil,
        savesData: random.once(in: 5),
        widthPixels: random.once(in: 2) ? random.number(1...2_500) : nil)
      let network = random.one(of: NetworkProfile.usual)
      let hasNextPage = random.once(in: 2)
      let plan = policy.plan(for: posts, on: network, bounds: bounds, hasNextPage: hasNextPage)
      let note: Comment =
        "\(PagePlanTests.lines(plan)) of \(policy), \(bounds), \(TestRandom.replay)"

      try #require(plan.bytes == plan.parts.reduce(0) { $0 + $1.bytes }, note)
      try #require(plan.bytes <= bounds.budgetBytes ?? .max, note)
      try #require(!(network.name == "offline") || plan.parts.isEmpty, note)
      try #require(!bounds.savesData || plan.parts.allSatisfy { $0.itemIndex == 0 }, note)
      try #require(plan.parts.allSatisfy { $0.itemIndex <= policy.leading }, note)
      // In the page's order: the active item first, each byte of a file once.
      let places = plan.parts.map { part in
        (part.itemIndex * 100 + (part.mediaIndex ?? 0), part.range?.lowerBound ?? 0)
      }
      try #require(zip(places, places.dropFirst()).allSatisfy { $0 < $1 }, note)
      let costs = policy.costs(
        downlinkKbps: network.downlinkKbps, widthPixels: bounds.widthPixels ?? 0)
      try #require(
        bounds.widthPixels != nil || plan.parts.allSatisfy { $0.variantIndex == nil }, note)
      for part in plan.parts {
        try Self.check(part, of: posts[part.itemIndex], policy, costs, note)
      }
      try Self.checkWeights(plan, posts, policy, costs, note)

      try #require((plan.nextPageAt != nil) == hasNextPage, note)
      if let index = plan.nextPageAt {
        try #require((0...max(0, posts.count - 1)).contains(index), note)
        try #require(index <= posts.count * policy.nextPagePercent / 100, note)
      }
    }
  }

  static func check(
    _ part: PagePlan.Part, of post: ItemLoad, _ policy: Policy, _ costs: HintCosts, _ note: Comment
  ) throws {
    let isActive = part.itemIndex == 0
    try #require(part.bytes > 0, note)
    try #require((part.reason == .active) == isActive, note)
    let hint = costs.hint(for: post)
    try #require(part.bytes <= (isActive ? hint.entireBytes : hint.minimumBytes), note)
    guard let mediaIndex = part.mediaIndex else {
      try #require(post.media.isEmpty && part.isEstimated && part.bytes == policy.webappBytes, note)
      return
    }
    let original = post.media[post.media.startIndex + mediaIndex]
    let media = part.variantIndex.map { original.variants[$0] } ?? original
    try #require((part.range == nil) == (media.bytes == nil), note)
    if let range = part.range {
      try #require(range.count == part.bytes && range.upperBound <= media.bytes!, note)
      try #require(range.lowerBound == 0 || media.timing?.isStartable == false, note)
    }
    try #require(part.bytes <= media.bytes ?? .max, note)
    try #require(media.bytes != nil || part.isEstimated, note)
    if !isActive { try #require((part.reason == .start) == (media.kind == .video), note) }
    if media.kind == .image { try #require(part.bytes == media.bytes ?? policy.imageBytes, note) }
  }

  static func checkWeights(
    _ plan: PagePlan, _ posts: [ItemLoad], _ policy: Policy, _ costs: HintCosts, _ note: Comment
  ) throws {
    guard policy.strategy.name == "weighted" else { return }
    let ahead = Set(plan.parts.map(\.itemIndex)).subtracting([0])
    let weight = ahead.reduce(0) { $0 + costs.hint(for: posts[$1]).weight }
    try #require(weight <= policy.maxCost, note)
  }

  @Test(arguments: TestRandom.seeds) func `a larger budget takes nothing away`(seed: UInt64) throws
  {
    var random = TestRandom(seed)
    for _ in 0..<1_000 {
      let policy = Self.policy(&random)
      let posts = (0..<random.number(1...10)).map { _ in
        Samples.load(Samples.random(&random), &random)
      }
      let budget = random.number(1...3_000_000)
      func plan(_ budget: Int?) -> PagePlan {
        policy.plan(
          for: posts, on: Samples.network("3g"), bounds: PlanBounds(budgetBytes: budget),
          hasNextPage: true)
      }
      let small = plan(budget)
      let whole = plan(nil)
      let note: Comment = "\(budget) of \(policy), \(TestRandom.replay)"
      // The same parts, but for the last, which may be cut.
      try #require(small.parts.count <= whole.parts.count, note)
      try #require(
        small.parts.dropLast() == whole.parts.prefix(max(0, small.parts.count - 1)), note)
      if let last = small.parts.last {
        let full = whole.parts[small.parts.count - 1]
        try #require(last.bytes <= full.bytes, note)
        try #require(last.bytes == full.bytes || small.bytes == budget, note)
      }
      try #require(plan(whole.bytes).parts == whole.parts, note)
    }
  }
}
