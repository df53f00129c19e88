import Prefetch
import TestSupport
import Testing

@testable import Lab

/// Better settings: how they are found, and where they are judged.
@Suite struct TuningTests {
  private static func setting(_ maxCost: Int, _ video: Int) -> Contestant {
    Contestant(
      name: "max=\(maxCost) video=\(video)",
      policy: Policy(
        name: "weighted", strategy: .weighted(leading: 20, maxCost: maxCost), videoWeight: video))
  }

  private static var grid: [Contestant] {
    [setting(5, 2)]
      + [0, 1, 2, 3, 7, 10].flatMap { most in [1, 3, 5].map { setting(most, $0) } }
  }

  private static func experiment(_ networks: [LabNetwork], repeats: Int = 8) -> Experiment {
    Experiment(
      contestants: grid, networks: networks, feed: .generated(FeedModel()), viewer: .steady,
      items: 60, repeats: repeats, seed: 3)
  }

  private static func trace(_ name: String, _ kbps: Int) throws -> LabNetwork {
    LabNetwork(
      name: name,
      trace: try LinkSchedule(loop: [
        .init(
          durationMilliseconds: 60_000,
          conditions: LinkConditions(downlinkKbps: kbps, uplinkKbps: kbps))
      ]))
  }

  @Test func `a search finds what the whole grid finds, with fewer runs`() {
    let experiment = Self.experiment([SimulationTests.profile("dsl")])
    for objective in [
      Objective(.loaders), Objective(.delayMilliseconds), Objective(.loaders, .kilobytes(150)),
      Objective(.loaders, .priced(perMegabyte: 2_000)),
    ] {
      let whole = experiment.tune(objective, searches: false) { count, body in
        for index in 0..<count { body(index) }
      }
      let search = experiment.tune(objective, searches: true) { count, body in
        for index in (0..<count).reversed() { body(index) }
      }
      func score(_ tuning: Tuning) -> Double {
        let place = whole.tuned.contestants.firstIndex(
          of: experiment.contestants[tuning.contestant].name)!
        return objective.score(
          whole.tuned.mean(place, objective.measure),
          kilobytes: whole.tuned.mean(place, .kilobytes),
          currentKilobytes: whole.tuned.mean(0, .kilobytes))
      }
      #expect(score(search) <= score(whole) + 15, "\(objective.words)")
      #expect(search.tuningRuns * 2 < whole.tuningRuns)
      #expect(whole.tuningRuns == Self.grid.count * 8)
      #expect(search.tuned.contestants.first == Self.grid[0].name)
      #expect(search.tuned.repeats == 8)
    }
  }

  @Test func `recorded networks that a setting was tuned on do not judge it`() throws {
    let names = ["a", "b", "c", "d", "e"]
    let traces = try names.map { try Self.trace($0, 1_500) }
    let (tuning, judging, heldBack) = Self.experiment(traces + [SimulationTests.profile("dsl")])
      .halves
    #expect(
      heldBack.words
        == "judged on 2 networks that it was not tuned on and on dsl that it was also tuned on, "
        + "with other feeds and the same viewers")
    #expect(tuning.networks.map(\.name) == ["a", "c", "e", "dsl"])
    #expect(judging.networks.map(\.name) == ["b", "d", "dsl"])
    // A profile is judged with other viewers.
    #expect(judging.firstRepeat >= tuning.firstRepeat + 100_000)
    let alone = Self.experiment([traces[0]]).halves
    #expect(alone.tuning.networks.count == 1 && alone.judging.networks.count == 1)
    #expect(alone.heldBack.networks == [] && alone.heldBack.sharedNetworks == ["a"])
  }

  @Test func `networks that are there to judge alone judge what was tuned on others`() throws {
    let profile = SimulationTests.profile("3g")
    func networks(_ rates: [Int]) throws -> [LabNetwork] {
      let known = try #require(NetworkProfile.usual.first { $0.name == "3g" })
      return rates.map {
        LabNetwork(downlinkKbps: $0, roundTripMilliseconds: $0 == 900 ? nil : 300, on: known)
      }
    }
    var experiment = Self.experiment([profile], repeats: 2)
    experiment.networks = try networks([900, 2_000])
    experiment.judgingNetworks = try networks([5, 1_500])
    let (tuning, judging, heldBack) = experiment.halves
    #expect(tuning.networks.map(\.name) == ["900 kbit/s, 200 ms", "2000 kbit/s, 300 ms"])
    #expect(judging.networks.map(\.name) == ["16 kbit/s, 300 ms", "1500 kbit/s, 300 ms"])
    #expect(
      heldBack.words.hasPrefix("judged on 2 networks that it was not tuned on, with other feeds"))
    experiment.contestants = [Self.setting(5, 2), Self.setting(0, 5)]
    let found = experiment.tune(
      Objective(.loaders, .current(times: 1_000)), searches: true, judgesChoices: false,
      { count, body in for index in 0..<count { body(index) } })
    #expect(found.judged.contestants.count <= 2)
    #expect(found.tuned.networks == tuning.networks.map(\.name))
    #expect(found.judged.networks == judging.networks.map(\.name))
  }

  @Test func `where the current setting is the best, it stays, and is said to`() {
    var experiment = Self.experiment([SimulationTests.profile("dsl")], repeats: 2)
    experiment.contestants = [Self.setting(5, 2), Self.setting(0, 5)]
    let tuning = experiment.tune(Objective(.loaders, .kilobytes(10_000)), searches: true) {
      count, body in
      for index in 0..<count { body(index) }
    }
    #expect(tuning.contestant == 0 && !tuning.isOther)
    #expect(tuning.judged.contestants.first == "max=5 video=2")
    #expect(tuning.sentence(margin: 2).hasPrefix("max=5 video=2 stays: "))
  }

  @Test func `what the objective passed over stands beside what it chose`() {
    // Nothing ahead takes the fewest bytes and has the most delay: the choice is the person's.
    let experiment = Self.experiment([SimulationTests.profile("dsl")])
    let tuning = experiment.tune(Objective(.loaders), searches: false) { count, body in
      for index in 0..<count { body(index) }
    }
    let front = tuning.frontier
    #expect(front.count > 1 && tuning.choices.count == front.count)
    for (left, right) in zip(front, front.dropFirst()) {
      #expect(tuning.judged.mean(left, .kilobytes) <= tuning.judged.mean(right, .kilobytes))
      #expect(tuning.judged.mean(left, .loaders) > tuning.judged.mean(right, .loaders))
    }
    for (place, words) in zip(front, tuning.choices) {
      #expect(words.hasPrefix(tuning.judged.contestants[place]))
      #expect(words.contains(" (bytes ") && words.contains("loaders per 1000 "))
    }
    #expect(tuning.table(margin: 2).contains("settings that no other beats in both"))
  }

  @Test func `what takes too many bytes loses, whatever its loaders`() {
    func score(_ loaders: Double, _ kilobytes: Double) -> Double {
      Objective(.loaders).score(loaders, kilobytes: kilobytes, currentKilobytes: 100)
    }
    #expect(score(900, 100) < score(0, 100.1) && score(1_000, 200) < score(0, 300))
    let more = Objective(.loaders, .current(times: 1.2))
    #expect(
      more.score(30, kilobytes: 119, currentKilobytes: 100) == 30
        && more.score(0, kilobytes: 121, currentKilobytes: 100) > 1_000)
    #expect(more.words.hasSuffix("with no more than 1.2 times the bytes of the current setting"))
    #expect(
      Objective(.loaders, .priced(perMegabyte: 100)).score(
        20, kilobytes: 50, currentKilobytes: 0) == 25)
  }

  @Test func `repeats go on until loaders are known precisely, up to a limit`() {
    var experiment = Self.experiment([SimulationTests.profile("dsl")], repeats: 5)
    experiment.contestants = [Self.setting(5, 2), Self.setting(1, 1)]
    func inOrder(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
      for index in 0..<count { body(index) }
    }
    let rough = experiment.results(precise: 100, atMost: 100, inOrder)
    let fine = experiment.results(precise: 30, atMost: 400, inOrder)
    let bounded = experiment.results(precise: 0.001, atMost: 12, inOrder)
    #expect(rough.isPrecise(100) && fine.isPrecise(30) && !fine.isPrecise(1))
    #expect(rough.repeats < fine.repeats && bounded.repeats == 12)
    // What is added is what more repeats would have been from the beginning.
    experiment.repeats = 12
    #expect(bounded == experiment.results())
    #expect(bounded.only([1]).values(0, on: 0, .loaders) == bounded.values(1, on: 0, .loaders))
  }
}
