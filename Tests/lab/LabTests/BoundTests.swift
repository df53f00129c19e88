import Feed
import LinkModel
import Prefetch
import TestSupport
import Testing

@testable import Lab

/// What no policy beats: that none does, and that it can be had where that can be tried out.
@Suite struct BoundTests {
  // MARK: Small instances

  /// The fewest late jobs of all orders of all subsets, done one after the other on one link.
  private static func fewestLate(
    _ jobs: [DeadlineJob], patience: Double, _ capacity: Capacity
  ) -> Int {
    var fewest = jobs.count
    for kept in 0..<(1 << jobs.count) {
      let late = jobs.indices.filter { kept >> $0 & 1 == 0 }
      guard late.count < fewest else { continue }
      let others = jobs.indices.filter { kept >> $0 & 1 == 1 }
      let isFeasible = permutations(others).contains { order in
        var bytes = 0.0
        return order.allSatisfy { place in
          bytes += jobs[place].bytes
          // People have waited for what is late before it.
          let deadline = jobs[place].deadline + Double(late.count { $0 < place }) * patience
          return capacity.bytes(from: 0, to: deadline) >= bytes - 1e-6
        }
      }
      if isFeasible { fewest = late.count }
    }
    return fewest
  }

  private static func permutations(_ places: [Int]) -> [[Int]] {
    guard places.count > 1 else { return [places] }
    return places.indices.flatMap { index in
      var rest = places
      let first = rest.remove(at: index)
      return permutations(rest).map { [first] + $0 }
    }
  }

  @Test(arguments: TestRandom.seeds) func `of all orders of all subsets none has fewer late jobs`(
    seed: UInt64
  ) throws {
    var random = LabRandom(seed: seed)
    for _ in 0..<300 {
      let steps = (0..<1 + random.number(below: 3)).map { _ in
        LinkSchedule.Step(
          durationMilliseconds: 1 + random.number(below: 5),
          conditions: LinkConditions(
            downlinkKbps: 8_000 * random.number(below: 4), uplinkKbps: 1_000))
      }
      let capacity = Capacity(try LinkSchedule(loop: steps))
      guard capacity.most(in: 1e6) > 0 else { continue }
      var deadline = 0.0
      let jobs = (0..<1 + random.number(below: 6)).map { _ in
        deadline += Double(random.number(below: 4) * 1_000)
        return DeadlineJob(deadline: deadline, bytes: Double(random.number(below: 8) * 1_000))
      }
      let patience = Double([0, 1_000, 3_000][random.number(below: 3)])
      var greedy = FewestLate(patience: patience)
      for job in jobs { greedy.add(job) { capacity.bytes(from: 0, to: $0) } }
      #expect(
        greedy.late == Self.fewestLate(jobs, patience: patience, capacity),
        "seed \(seed): \(jobs), patience \(patience), \(steps)")
    }
  }

  @Test func `a stretch of a link brings what its steps bring`() throws {
    let capacity = Capacity(
      try LinkSchedule(loop: [
        .init(
          durationMilliseconds: 10,
          conditions: LinkConditions(downlinkKbps: 8_000, uplinkKbps: 1)),
        .init(
          durationMilliseconds: 10, conditions: LinkConditions(downlinkKbps: 0, uplinkKbps: 1)),
        .init(
          durationMilliseconds: 20,
          conditions: LinkConditions(downlinkKbps: 16_000, uplinkKbps: 1)),
      ]))
    let cases: [(from: Double, to: Double, bytes: Double)] = [
      (0, 10_000, 10_000), (0, 20_000, 10_000), (0, 40_000, 50_000), (5_000, 45_000, 50_000),
      (15_000, 25_000, 10_000), (0, 400_000, 500_000), (9, 9, 0), (10, 9, 0),
    ]
    for (from, to, bytes) in cases {
      #expect(abs(capacity.bytes(from: from, to: to) - bytes) < 1e-3, "\(from) to \(to)")
    }
    #expect(abs(capacity.most(in: 20_000) - 40_000) < 1_000)
    #expect(capacity.most(in: 40_000) == 50_000 && capacity.most(in: 30_000) <= 50_000)
    let dead = Capacity(LinkSchedule(LinkConditions(downlinkKbps: 0, uplinkKbps: 0)))
    #expect(dead.bytes(from: 7, to: 1e9) == 0 && dead.most(in: 1e9) == 0)
  }

  // MARK: Runs

  private static func strategy(_ random: inout LabRandom) -> Policy.Strategy {
    Policy.Strategy.usual[random.number(below: Policy.Strategy.usual.count)]
  }

  private static func network(_ random: inout LabRandom) throws -> LabNetwork {
    guard random.chance(permille: 700) else {
      let usual = NetworkProfile.usual.filter { $0.name != "offline" }
      return LabNetwork(usual[random.number(below: usual.count)])
    }
    let steps = (0..<1 + random.number(below: 20)).map { _ in
      let kbps = [0, 50, 200, 800, 3_000, 20_000][random.number(below: 6)]
      return LinkSchedule.Step(
        durationMilliseconds: 100 + random.number(below: 8_000),
        conditions: LinkConditions(
          downlinkKbps: kbps, uplinkKbps: max(1, kbps),
          latencyMicroseconds: random.number(below: 200_000)))
    }
    return LabNetwork(name: "random", trace: try LinkSchedule(loop: steps))
  }

  private static func viewer(_ random: inout LabRandom) -> ViewerModel {
    switch random.number(below: 3) {
    case 0: return ViewerModel(dwell: .fixed(milliseconds: 100 + random.number(below: 3_000)))
    case 1:
      let looks = (0..<40).map { _ in
        ViewerModel.Look(
          index: random.number(below: 40), dwellMilliseconds: random.number(below: 3_000))
      }
      return .replaying(looks)
    default:
      var model = ViewerModel(
        dwell: .drawn(
          Quantiles([
            .init(permille: 0, value: 0), .init(permille: 500, value: 1_500),
            .init(permille: 1_000, value: 15_000),
          ])!))
      model.patienceMilliseconds = [500, 3_000, 10_000][random.number(below: 3)]
      model.flingPermille = random.number(below: 200)
      model.turnPermille = random.number(below: 200)
      return model
    }
  }

  /// Hundreds of runs: `LOOKAHEAD_LONG_TESTS=1` makes forty times as many.
  @Test(arguments: TestRandom.seeds) func `no strategy has less than the bound`(seed: UInt64) throws
  {
    var random = LabRandom(seed: seed)
    var (loaders, delays, tight) = (0.0, 0.0, 0)
    for round in 0..<TestRandom.often(500, nightly: 20_000) {
      var model = FeedModel()
      model.videoPermille = random.number(below: 1_001)
      let feed = model.feed(count: 5 + random.number(below: 90), random: random.split(7))
      let setup = Simulation.Setup(
        feed: feed, viewer: Self.viewer(&random), network: try Self.network(&random),
        items: 1 + random.number(below: 80))
      let contestant = Contestant(Self.strategy(&random))
      let seed = random.next()
      // Not even where it knows the way.
      let isPathKnown = random.chance(permille: 250)
      let run = Simulation.run(
        contestant, isPathKnown ? setup.alongPath(seed: seed) : setup, seed: seed)
      let bound = Clairvoyant.bound(
        setup, Capacity(setup.network.schedule), settings: contestant.settings, seed: seed)
      guard run.viewedItems == setup.items else { continue }
      let words: Comment =
        "round \(round) of seed \(seed): \(contestant.name), path known: \(isPathKnown), \(setup.viewer), \(setup.network)"
      #expect(run.value(.loaders) >= bound.loaders - 1e-6, words)
      // Of a run whole milliseconds are told: of few items the rest shows.
      let rest = 1 / Double(setup.items)
      #expect(run.value(.delayMilliseconds) + rest > bound.delayMilliseconds - 1e-6, words)
      if run.value(.loaders) <= bound.loaders + 1e-6, run.standingMilliseconds == 0, run.stalls == 0
      {
        #expect(run.value(.kilobytes) >= bound.kilobytes - 1e-6, words)
        tight += 1
      }
      loaders += bound.loaders
      delays += bound.delayMilliseconds
    }
    // It says something, and it can be had.
    #expect(loaders > 0 && delays > 0 && tight > 10)
  }

  /// Where the path is known, the person does the same at the same times, and what is loaded in its order is looked at.
  @Test(arguments: TestRandom.seeds)
  func `along the path nothing is passed, and everything is looked at when it was`(seed: UInt64) {
    var random = LabRandom(seed: seed)
    var loaders = (runs: 0, along: 0)
    for _ in 0..<20 {
      var viewer = ViewerModel.steady
      viewer.dwell = .drawn(
        Quantiles([.init(permille: 0, value: 200), .init(permille: 1_000, value: 4_000)])!)
      viewer.flingPermille = random.number(below: 500)
      viewer.turnPermille = random.number(below: 300)
      let count = 1 + random.number(below: 120)
      let setup = Simulation.Setup(
        feed: FeedModel().feed(count: 120, random: random.split(7)), viewer: viewer,
        network: SimulationTests.profile("wifi"), items: count)
      let number = random.next()
      let known = setup.alongPath(seed: number)
      func steps(_ setup: Simulation.Setup) -> [String] {
        var person = Viewer(setup.viewer, random: LabRandom(seed: number).split(1))
        return (0..<setup.items).map { _ in
          let step = person.next(count: setup.feed.items.count) {
            setup.feed.items[$0].durationMilliseconds
          }
          let id = setup.feed.items[step.index].id
          return "\(id) \(step.travelMilliseconds) \(step.dwellMilliseconds)"
        }
      }
      #expect(steps(known) == steps(setup), TestRandom.replay)
      var seen: Set<String> = []
      let order = steps(setup).map { String($0.prefix { $0 != " " }) }.filter {
        seen.insert($0).inserted
      }
      #expect(known.feed.items.map(\.id) == order, TestRandom.replay)
      // A whole page stays one, and all that was asked for pages is.
      let last = setup.feed.items.lastIndex { seen.contains($0.id) } ?? 0
      let pages = (order.count + known.feed.pageItems - 1) / known.feed.pageItems
      #expect(pages <= last / setup.feed.pageItems + 1, TestRandom.replay)
      let policy = Contestant(.plain(leading: 3))
      let (runs, along) = (
        Simulation.run(policy, setup, seed: number), Simulation.run(policy, known, seed: number)
      )
      #expect(along.viewedItems == count, TestRandom.replay)
      loaders.runs += runs.loaders
      loaders.along += along.loaders
    }
    // Of a single run that is no law: it begins otherwise.
    #expect(loaders.along < loaders.runs, TestRandom.replay)
  }

  @Test func `over a link that has time for all, only the first item is late`() {
    let setup = Simulation.Setup(
      feed: FeedModel().feed(count: 60, random: LabRandom(seed: 1)), viewer: .steady,
      network: SimulationTests.profile("wifi"), items: 60)
    let bound = Clairvoyant.bound(
      setup, Capacity(setup.network.schedule), settings: PrefetchSettings(), seed: 1)
    let run = Simulation.run(Contestant(.plain(leading: 5)), setup, seed: 1)
    #expect(abs(bound.loaders - 1_000 / 60) < 1e-6 && run.loaders == 1)
    #expect(bound[.stalls] == nil && bound[.kilobytes] == bound.kilobytes)
  }

  @Test func `tables, CSV and JSON have the bound beside the strategies, and it stands alone`()
    throws
  {
    var experiment = ExperimentTests.experiment
    experiment.isPathKnown = true
    let known = experiment.results()
    #expect(known.contestants.allSatisfy { $0.hasSuffix(" (path known)") })
    experiment.isPathKnown = false
    let results = experiment.results()
    // It bounds the same runs.
    #expect(known.bound(on: 0, .loaders) == results.bound(on: 0, .loaders))
    #expect(known.table(margin: 1) != results.table(margin: 1))
    let table = results.table(margin: 1)
    #expect(table.split(separator: "\n").count { $0.contains("clairvoyant") } == 3)
    #expect(table.contains("over bound"))
    experiment.contestants = []
    let alone = experiment.results()
    let mean = try #require(alone.bound(on: 0, .loaders))
    #expect(
      alone.csv.contains("3g,clairvoyant,0,") && alone.table(margin: 1).contains("clairvoyant"))
    let json = String(decoding: alone.json(margin: 1), as: UTF8.self)
    #expect(json.contains(#""strategy":"clairvoyant","loaders":{"mean":\#(fixed(mean, 3))}"#))
    #expect(alone.bound(on: nil, .requests) == nil)
  }
}
