import Feed
import Prefetch
import Testing

/// What each of the articles' strategies asks for.
@Suite struct EngineStrategyTests {
  private static let images = (0..<40).map { EngineSamples.image($0) }
  private static let mixed = (0..<20).map {
    $0 % 2 == 0 ? EngineSamples.image($0) : EngineSamples.clip($0)
  }

  /// What is asked for as the first page arrives, and once the person has gone to item 10 and back to 9.
  struct Case: Sendable {
    let strategy: Policy.Strategy
    let atFirst: [Int]
    let down: [Int]
    let up: [Int]
  }

  @Test(arguments: [
    Case(
      strategy: .plain(leading: 3), atFirst: [0, 1, 2, 3], down: [10, 11, 12, 13], up: [9, 8, 7, 6]),
    Case(
      strategy: .weighted(leading: 5, maxCost: 2), atFirst: [0, 1, 2], down: [10, 11, 12],
      up: [9, 8, 7]),
    Case(strategy: .standard(leading: 1), atFirst: [0, 1], down: [10, 11], up: [9, 8]),
    Case(strategy: .endless, atFirst: [0], down: [10], up: [9]),
    Case(strategy: .thresholdFixed(percent: 70), atFirst: [0], down: [10], up: [9]),
    Case(
      strategy: .lazyTarget(leading: 2, trailing: 1), atFirst: [0, 1, 2], down: [10, 11, 12, 9],
      up: [8, 7]),
    // A screenful is one item: before any scroll half of one ahead, then 2.5 ahead and 1.5 behind.
    Case(
      strategy: .rangeController(RangeTuning()), atFirst: [0, 1], down: [10, 11, 9, 12, 13, 8],
      up: [7, 6]),
    Case(
      strategy: .stages(StageTuning(loadedDistance: 1, preparedDistance: 2)), atFirst: [0, 1, 2],
      down: [10, 11, 9, 12, 8], up: [7]),
  ])
  func `a strategy loads what it says, and turns round with the person`(_ sample: Case) {
    var (engine, first) = EngineSamples.engine(sample.strategy, Self.images)
    #expect(first.fetchedItems == sample.atFirst)
    let down = engine.handle(.activeChanged("10"), atMilliseconds: 1_000)
    #expect(down.fetchedItems == sample.down)
    // Within the one event that turned it.
    let up = engine.handle(.activeChanged("9"), atMilliseconds: 2_000)
    #expect(up.fetchedItems == sample.up.filter { !sample.down.contains($0) })
  }

  /// The strategy of this name, with its usual parameters but for these.
  private static func strategy(_ name: String, _ others: [String: Int]) throws -> Policy.Strategy {
    let usual = try #require(Policy.Strategy.usual.first { $0.name == name })
    let parameters = Dictionary(uniqueKeysWithValues: usual.parameters.map { ($0.name, $0.value) })
    return try Policy.Strategy(name: name, parameters: parameters.merging(others) { $1 })
  }

  /// What is said once all that these actions ask for has come.
  private static func finish(
    _ actions: [PrefetchAction], _ engine: inout PrefetchEngine, at now: Int
  ) -> [PrefetchAction] {
    actions.transfers.flatMap { transfer in
      engine.arrive([transfer], at: now)
        + engine.handle(.transferFinished(transfer.id), atMilliseconds: now)
    }
  }

  @Test func `preload-manager: one item after the other, the nearest first, each to its target`()
    throws
  {
    var (engine, first) = EngineSamples.engine(
      try Self.strategy("preload-manager", ["cachedDistance": 2]), Self.images)
    #expect(first.fetchedItems == [0, 1])
    #expect(Self.finish(first, &engine, at: 100).fetchedItems == [2])
    let down = engine.handle(.activeChanged("10"), atMilliseconds: 1_000)
    #expect(down.fetchedItems == [10, 11])
    #expect(Self.finish(down, &engine, at: 1_100).fetchedItems == [9])
  }

  @Test func `preload-manager: three seconds of the neighbours, less of those beyond`() throws {
    let clips = (0..<6).map { EngineSamples.clip($0) }
    var (engine, actions) = EngineSamples.engine(try Self.strategy("preload-manager", [:]), clips)
    var asked: [String] = []
    for turn in 1...4 {
      actions = Self.finish(actions, &engine, at: turn * 100)
      asked += actions.fetches
    }
    #expect(
      asked == ["/2 0..<100000", "/3 0..<100000", "/4 0..<100000"],
      "after the active item's and the next one's: three seconds")
  }

  @Test func `fixed-preload: nothing before the active item is whole, then the next in order`()
    throws
  {
    var (engine, first) = EngineSamples.engine(
      try Self.strategy("fixed-preload", ["leading": 2]), Self.images)
    #expect(first.fetchedItems == [0])
    let next = Self.finish(first, &engine, at: 100)
    #expect(next.fetchedItems == [1])
    #expect(Self.finish(next, &engine, at: 200).fetchedItems == [2])
    let down = engine.handle(.activeChanged("10"), atMilliseconds: 1_000)
    #expect(down.fetchedItems == [10])
  }

  @Test(arguments: [
    ([WatchPoint](), 400_000), ([WatchPoint(milliseconds: 4_000, permille: 700)], 400_000),
    ([WatchPoint(milliseconds: 2_000, permille: 600)], 200_000),
    ([WatchPoint(milliseconds: 1, permille: 100)], 100_000),
  ])
  func `fixed-preload: of a clip the seconds that enough people watch`(
    survival: [WatchPoint], bytes: Int
  ) throws {
    var clip = EngineSamples.clip(1)
    clip.survival = survival
    var (engine, first) = EngineSamples.engine(
      try Self.strategy("fixed-preload", [:]), [EngineSamples.image(0), clip])
    #expect(Self.finish(first, &engine, at: 100).fetches == ["/1 0..<\(bytes)"])
  }

  @Test func `no-save: a number of bytes of each in turn, until all are whole`() throws {
    var (engine, actions) = EngineSamples.engine(
      try Self.strategy("no-save", ["leading": 2, "bytes": 60_000]), Self.images)
    #expect(actions.fetches == ["/0 0..<100000"])
    var asked: [String] = []
    for turn in 1...6 {
      actions = Self.finish(actions, &engine, at: turn * 100)
      asked += actions.fetches
    }
    #expect(asked == ["/1 0..<60000", "/2 0..<60000", "/1 60000..<100000", "/2 60000..<100000"])
  }

  /// What is asked for, transfer by transfer, until nothing is or so often.
  private static func asked(
    _ strategy: Policy.Strategy, _ items: [PrefetchItem], turns: Int,
    _ change: (inout PrefetchSettings) -> Void = { _ in }
  ) -> [String] {
    var (engine, actions) = EngineSamples.engine(strategy, items, change)
    var asked = actions.fetches
    for turn in 1...turns {
      actions = finish(actions, &engine, at: turn * 10)
      asked += actions.fetches
    }
    return asked
  }

  @Test func `tiktok: the clip that plays whole, then first parts, and nothing of the next group`()
    throws
  {
    let clips = (0..<8).map { EngineSamples.clip($0) }
    let strategy = try Self.strategy(
      "tiktok", ["leading": 3, "groupItems": 4, "firstBytes": 300_000])
    var (engine, actions) = EngineSamples.engine(strategy, clips)
    var asked: [String] = []
    // The prebuffer is idle at the second clip of four: the next two are there, and the fifth is of another group.
    for (turn, active) in [nil, nil, nil, nil, nil, "1", nil, "2", nil, "3", nil, nil].enumerated()
    {
      asked += actions.fetches
      actions =
        active.map { engine.handle(.activeChanged($0), atMilliseconds: turn * 100) }
        ?? Self.finish(actions, &engine, at: turn * 100)
    }
    #expect(
      asked == [
        "/0 0..<400000", "/0 400000..<1000000", "/1 0..<300000", "/2 0..<300000", "/3 0..<300000",
        "/1 300000..<400000", "/1 400000..<1000000", "/2 300000..<400000", "/2 400000..<1000000",
        "/3 300000..<400000", "/3 400000..<1000000", "/4 0..<300000",
      ])
  }

  @Test func `dashlet: parts come out of order, by when they are expected to play`() throws {
    // Most leave the first clip at once, so that the second one's first part is due before the first one's second.
    func clip(_ number: Int, staysPermille: Int) -> PrefetchItem {
      var clip = EngineSamples.clip(number)
      clip.survival = [
        WatchPoint(milliseconds: 1_000, permille: staysPermille),
        WatchPoint(milliseconds: 10_000, permille: staysPermille),
      ]
      return clip
    }
    let strategy = try Self.strategy("dashlet", ["leading": 1])
    #expect(
      Self.asked(strategy, [clip(0, staysPermille: 100), clip(1, staysPermille: 900)], turns: 4)
        == ["/0 0..<400000", "/0 400000..<500000", "/1 0..<500000", "/1 500000..<1000000"]
        + ["/0 500000..<1000000"])
    // Nearly all stay: the first one's second part plays in five seconds, and the second clip in ten.
    #expect(
      Self.asked(strategy, [clip(0, staysPermille: 990), clip(1, staysPermille: 900)], turns: 3)
        == ["/0 0..<400000", "/0 400000..<500000", "/0 500000..<1000000", "/1 0..<500000"])
  }

  @Test(arguments: [
    // Who leaves soon: of the next clip the first second alone, on a fast link.
    (100, 1_000_000, ["/1 0..<100000"]),
    // On a slow one a missing second costs more than one that nobody watches.
    (100, 200, ["/1 0..<100000", "/1 100000..<200000", "/1 200000..<300000"]),
    (1_000, 1_000_000, ["/1 0..<100000", "/1 100000..<200000", "/1 200000..<300000"]),
  ])
  func `pdas: each clip has a largest buffer, by who watches and how fast the link is`(
    staysPermille: Int, kbps: Int, expected: [String]
  ) throws {
    var clip = EngineSamples.clip(1)
    clip.survival = [
      WatchPoint(milliseconds: 900, permille: staysPermille),
      WatchPoint(milliseconds: 10_000, permille: staysPermille),
    ]
    let strategy = try Self.strategy("pdas", ["leading": 1])
    #expect(
      Self.asked(strategy, [EngineSamples.image(0), clip], turns: 3) { $0.downlinkKbps = kbps }
        == ["/0 0..<100000"] + expected)
  }

  @Test func `the scroll's direction alone turns the ranges round`() {
    var (engine, _) = EngineSamples.engine(.plain(leading: 2), Self.images)
    _ = engine.handle(.activeChanged("10"), atMilliseconds: 1_000)
    let actions = engine.handle(
      .scrolled(milliitemsPerSecond: -500, stopDistance: nil), atMilliseconds: 1_100)
    #expect(actions.fetchedItems == [9, 8])
    #expect(actions.others.filter { $0.hasPrefix("cancel") }.count == 2)
  }

  @Test func `weighted: a picture whole, a clip's start, and the rest of it once it is active`() {
    var (engine, first) = EngineSamples.engine(.weighted(leading: 5, maxCost: 5), Self.mixed)
    // A clip weighs 2, a picture 1: 2 + 1 + 2. At 780 kbit/s a clip starts with 400 000 bytes.
    #expect(
      first.fetches == [
        "/0 0..<100000", "/1 0..<400000", "/2 0..<100000", "/3 0..<400000",
      ])
    let next = engine.handle(.activeChanged("1"), atMilliseconds: 1_000)
    #expect(next.fetches.first == "/1 400000..<1000000")
    #expect(
      next.first { $0.kind == .fetch(next.transfers[0]) }?.reason.description
        == "the active item's other 600 KB")
  }

  @Test func `weighted: what slipped out of the budget rests, and goes on when it is wanted again`()
  {
    var (engine, first) = EngineSamples.engine(.weighted(leading: 3, maxCost: 3), Self.images)
    #expect(first.fetchedItems == [0, 1, 2, 3])
    let jump = engine.handle(.activeChanged("4"), atMilliseconds: 100)
    // 3 is one above, within what is kept: it rests. 0 is farther than anything that is loaded ahead.
    #expect(
      jump.others.filter { $0.hasPrefix("pause") || $0.hasPrefix("cancel") }
        == ["cancel 1", "pause 2", "pause 3", "pause 4"])
    let back = engine.handle(.activeChanged("3"), atMilliseconds: 200)
    #expect(back.others.contains("resume 4"))
    #expect(back.fetchedItems == [0])
  }

  @Test func `standard: what it has begun goes on when the person is elsewhere`() {
    var (engine, _) = EngineSamples.engine(.standard(leading: 2), Self.images)
    let actions = engine.handle(.activeChanged("20"), atMilliseconds: 100)
    #expect(!actions.others.contains { $0.hasPrefix("cancel") })
  }

  @Test func `lazy target: in a fling only where it stops, and nothing where nobody knows`() {
    var (engine, _) = EngineSamples.engine(.lazyTarget(leading: 1, trailing: 1), Self.images)
    let fling = engine.handle(
      .scrolled(milliitemsPerSecond: 12_000, stopDistance: 20), atMilliseconds: 100)
    #expect(fling.fetchedItems == [20, 21, 19])
    let unknown = engine.handle(
      .scrolled(milliitemsPerSecond: 12_000, stopDistance: nil), atMilliseconds: 200)
    #expect(unknown.fetchedItems == [])
    let outside = engine.handle(
      .scrolled(milliitemsPerSecond: 12_000, stopDistance: 400), atMilliseconds: 300)
    #expect(outside.pages == [])
  }

  @Test(arguments: [
    Policy.Strategy.lazyTarget(leading: 1, trailing: 1), .expectedWait(WaitTuning()),
  ])
  func `nothing of an item that a fling passes is loaded, until the fling stops there`(
    _ strategy: Policy.Strategy
  ) {
    var (engine, _) = EngineSamples.engine(strategy, Self.images)
    var fetched = engine.handle(
      .scrolled(milliitemsPerSecond: 12_000, stopDistance: 20), atMilliseconds: 100
    ).fetchedItems
    for passed in 1..<20 {
      let actions = engine.handle(
        .activeChanged("\(passed)"), atMilliseconds: 100 + passed * 80)
      #expect(actions.transfers.allSatisfy { $0.priority == .ahead && $0.item != "\(passed)" })
      fetched += actions.fetchedItems
    }
    // Whether or not the client says that the list stands.
    fetched += engine.handle(.activeChanged("20"), atMilliseconds: 1_800).fetchedItems
    #expect(fetched.contains(20))
    #expect(!engine.passesActive)
  }

  @Test func `lazy target: a stop that is not in the list is asked for as a window`() {
    var (engine, _) = EngineSamples.engine(
      .lazyTarget(leading: 1, trailing: 1), Self.images, hasNext: true)
    let fling = engine.handle(
      .scrolled(milliitemsPerSecond: 12_000, stopDistance: 400), atMilliseconds: 300)
    #expect(fling.pages == [.around(distance: 400)])
    let window = engine.handle(
      .pageArrived(
        .around(distance: 400), items: (390..<411).map { EngineSamples.image($0) },
        hasPrevious: true, hasNext: true),
      atMilliseconds: 400)
    #expect(engine.activeItem == "400")
    #expect(window.fetchedItems.first == 400)
  }

  @Test func `after a fling the visible item goes before everything that is loaded ahead`() {
    for strategy in EnginePropertyTests.strategies {
      var (engine, _) = EngineSamples.engine(strategy, Self.images) { $0.parallelTransfers = 3 }
      _ = engine.handle(
        .scrolled(milliitemsPerSecond: 9_000, stopDistance: 30), atMilliseconds: 100)
      _ = engine.handle(
        .scrolled(milliitemsPerSecond: 0, stopDistance: nil), atMilliseconds: 890)
      let stopped = engine.handle(.activeChanged("29"), atMilliseconds: 900)
      #expect(stopped.fetchedItems.first == 29, "\(strategy)")
      #expect(stopped.transfers.first?.priority == .urgent)
    }
  }

  @Test(arguments: EnginePropertyTests.strategies, [0, 400, 1_000, 1_400])
  func `a clip that stands is loaded before others, however few watch on`(
    _ strategy: Policy.Strategy, _ played: Int
  ) {
    var moment = PrefetchSnapshot(policy: Policy(name: "", strategy: strategy))
    moment.settings.parallelTransfers = 1
    moment.items = (0..<5).map { EngineSamples.clip($0) }
    moment.items[0].survival = [
      WatchPoint(milliseconds: 100, permille: 900), WatchPoint(milliseconds: played, permille: 800),
      WatchPoint(milliseconds: played + 200, permille: 1),
    ]
    let held = 50_000 + played * 60
    moment.held = [.init(key: "/0", ranges: [0..<held])]
    moment.downlinkKbps = 4_000
    // Ours gives who leaves soon the next clip, until this one has stood for a second.
    moment.activeMilliseconds = played + (strategy.name == "expected-wait" ? 1_500 : 100)
    moment.conditions = [.playbackMoved(milliseconds: played, .paused)]
    var engine = PrefetchEngine(moment)
    let actions = engine.decide()
    #expect(actions.fetches.first?.hasPrefix("/0 \(held)..<") == true, "\(actions)")
  }

  @Test func `stages: milliseconds of the nearest clips, and the first frame of those further off`()
  {
    let clips = (0..<9).map { EngineSamples.clip($0) }
    let (_, actions) = EngineSamples.engine(.stages(StageTuning()), clips)
    #expect(
      actions.fetches == [
        "/0 0..<400000", "/0 400000..<1000000", "/1 0..<300000", "/2 0..<50000", "/3 0..<50000",
        "/4 0..<50000",
      ])
  }

  @Test func `range controller: under Save-Data there is nothing but what is on the screen`() {
    var (engine, _) = EngineSamples.engine(.rangeController(RangeTuning()), Self.images) {
      $0.itemsPerScreenHundredths = 300
      $0.saveDataSpeculativeBytes = 1_000_000
    }
    _ = engine.handle(.saveDataChanged(true), atMilliseconds: 0)
    let actions = engine.handle(.activeChanged("20"), atMilliseconds: 100)
    #expect(actions.fetchedItems == [20, 21, 22])
  }
}
