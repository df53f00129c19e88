import Prefetch
import Statistics
import Synchronization

/// Contestants on networks, each a number of times: in each repeat another viewer, another moment of the network and,
/// unless it is recorded, another feed; the same ones for all contestants.
package struct Experiment: Sendable {
  /// What is held against each other; the first is what the others are compared with.
  package var contestants: [Contestant]
  /// Where.
  package var networks: [LabNetwork]
  /// What is scrolled.
  package var feed: FeedSource
  /// By whom.
  package var viewer: ViewerModel
  /// How many items a run has.
  package var items: Int
  /// How many runs each contestant has on each network.
  package var repeats: Int
  /// The number of the first repeat: 0, or where another experiment with the same seed ended.
  package var firstRepeat = 0
  /// What all random numbers come from.
  package var seed: UInt64
  /// Networks that judge what was tuned on the others; nil where those are told apart by `halves`.
  package var judgingNetworks: [LabNetwork]?
  /// Whether clients know where the person goes (`Simulation.Setup.alongPath`).
  package var isPathKnown = false
  /// What clients are told wrong; `disturbed(by:)` makes the rest of it.
  var disturbance: Disturbance?

  /// Where feeds come from.
  package enum FeedSource: Sendable {
    /// Made up anew for each repeat.
    case generated(FeedModel)
    /// The same each time, from another item on in each repeat: at its end it goes on at its top. Where it
    /// does not turn, it begins at its top.
    case recorded(LabFeed, turns: Bool = true)

    /// Whether its clips have several bitrates.
    var hasBitrates: Bool {
      switch self {
      case .generated(let model): model.bitrates.count > 1
      case .recorded(let feed, _): feed.items.contains { $0.media.first?.count ?? 0 > 1 }
      }
    }
  }

  /// An experiment of these parts.
  package init(
    contestants: [Contestant], networks: [LabNetwork], feed: FeedSource, viewer: ViewerModel,
    items: Int = 1_000, repeats: Int = 10, seed: UInt64 = 1
  ) {
    self.contestants = contestants
    self.networks = networks
    self.feed = feed
    self.viewer = viewer
    self.items = items
    self.repeats = repeats
    self.seed = seed
  }

  /// How many runs there are.
  package var runCount: Int { contestants.count * networks.count * repeats }

  /// The measures of all runs.
  ///
  /// - Parameters:
  ///   - perform: calls what it is given for each number below the count it is given, in whatever order, on as
  ///     many threads as it likes, and returns when all calls have: the results are the same.
  ///   - progress: is told how many runs are done, from any thread.
  package func results(
    _ perform: Performer = { count, body in
      for index in 0..<count { body(index) }
    },
    progress: @escaping @Sendable (Int) -> Void = { _ in }
  ) -> ExperimentResults {
    let values = Mutex((done: 0, runs: [RunValues?](repeating: nil, count: runCount)))
    let bounds = Mutex([RunBound?](repeating: nil, count: networks.count * repeats))
    let capacities = networks.map { Capacity($0.schedule) }
    perform(networks.count * repeats) { index in
      let (network, number) = (index / repeats, index % repeats)
      let (setup, seed) = round(network: network, repeat: number)
      let bound = Clairvoyant.bound(
        setup, capacities[network], settings: contestants.first?.settings ?? PrefetchSettings(),
        seed: seed)
      bounds.withLock { $0[index] = bound }
      let shown = shown(setup, seed)
      var runs: [Contestant.Conduct: RunValues] = [:]
      for contestant in contestants.indices {
        let conduct = contestants[contestant].conduct(in: shown.feed)
        let run =
          runs[conduct]
          ?? RunValues(Simulation.run(contestants[contestant], shown, seed: seed))
        runs[conduct] = run
        let done = values.withLock { values in
          values.runs[(contestant * networks.count + network) * repeats + number] = run
          values.done += 1
          return values.done
        }
        progress(done)
      }
    }
    return ExperimentResults(
      contestants: contestants.map { isPathKnown ? "\($0.name) (path known)" : $0.name },
      networks: networks.map(\.name), repeats: repeats,
      items: items, runs: values.withLock { $0.runs.map { $0! } },
      bounds: bounds.withLock { $0.map { $0! } }, hasBitrates: feed.hasBitrates)
  }

  /// One run in words.
  package func explain(contestant: Int, network: Int, repeat number: Int) -> [String] {
    let (setup, seed) = round(network: network, repeat: number)
    return Simulation.explain(contestants[contestant], shown(setup, seed), seed: seed).lines
  }

  /// One run as a picture needs it.
  func timeline(contestant: Int, network: Int, repeat number: Int) -> RunTimeline {
    let (setup, seed) = round(network: network, repeat: number)
    return Simulation.timeline(contestants[contestant], shown(setup, seed), seed: seed)
  }

  /// What clients see of it.
  private func shown(_ setup: Simulation.Setup, _ seed: UInt64) -> Simulation.Setup {
    isPathKnown ? setup.alongPath(seed: seed) : setup
  }

  /// What all contestants have in common in a repeat.
  private func round(network: Int, repeat number: Int) -> (Simulation.Setup, seed: UInt64) {
    let random = LabRandom(seed: seed).split(UInt64(network))
      .split(UInt64(firstRepeat + number))
    let feed =
      switch feed {
      case .generated(let model): model.feed(count: max(1, items), random: random.split(1))
      case .recorded(let feed, turns: false): feed
      case .recorded(let feed, turns: true): feed.turned(random.split(3))
      }
    var seeds = random.split(2)
    var setup = Simulation.Setup(
      feed: feed, viewer: viewer, network: networks[network], items: items)
    setup.disturbance = disturbance
    return (setup, seeds.next())
  }
}

/// The measures of one run.
struct RunValues: Hashable, Sendable {
  private let values: [Double]

  init(_ figures: RunFigures) {
    values = RunFigures.Measure.allCases.map { figures.value($0) }
  }

  subscript(_ measure: RunFigures.Measure) -> Double {
    values[RunFigures.Measure.allCases.firstIndex(of: measure)!]
  }
}

extension Experiment {
  /// How many clusters are run before one looks: fixed, so that what is found does not depend on how many
  /// cores there are.
  private static let clustersAtOnce = 8

  /// Holds the second contestant against the first, until a verdict is found or all runs are made: it looks after
  /// each cluster. On one network each repeat is a cluster; of several, each network with its repeats.
  ///
  /// - Parameters:
  ///   - margin: what is no difference that matters, in the measure's unit.
  ///   - perform: as for `results`.
  ///   - progress: is told after how many clusters it looked.
  /// - Precondition: there are two contestants.
  package func compare(
    _ measure: RunFigures.Measure, margin: Double,
    _ perform: Performer = { count, body in
      for index in 0..<count { body(index) }
    },
    progress: (Int) -> Void = { _ in }
  ) -> Comparison {
    precondition(contestants.count == 2, "two are compared")
    var comparison = Comparison(
      margin: margin, leastDeviation: measure.leastDeviation(items: items))
    let count = networks.count == 1 ? repeats : networks.count
    var done = 0
    while done < count, comparison.verdict == .undecided {
      let next = done..<min(done + Self.clustersAtOnce, count)
      var part = self
      if networks.count == 1 {
        part.firstRepeat = firstRepeat + next.lowerBound
        part.repeats = next.count
      } else {
        part.networks = Array(networks[next])
        part.firstRepeat = firstRepeat + next.lowerBound * repeats
      }
      let results = part.results(perform)
      for cluster in results.pairs(measure) where comparison.verdict == .undecided {
        comparison.addCluster(cluster.second, cluster.first)
        done += 1
        progress(done)
      }
    }
    return comparison
  }
}

extension ExperimentResults {
  /// The values of the first two contestants, cluster by cluster.
  fileprivate func pairs(
    _ measure: RunFigures.Measure
  ) -> [(first: [Double], second: [Double])] {
    let network = networks.count == 1 ? 0 : nil
    return zip(clusters(0, on: network, measure), clusters(1, on: network, measure)).map {
      (first: $0, second: $1)
    }
  }
}

/// Calls a body for each number below a count, in whatever order, on as many threads as it likes, and returns when
/// all calls have.
package typealias Performer = (Int, @escaping @Sendable (Int) -> Void) -> Void

extension Experiment {
  /// The measures of as many runs as it takes until loaders are known so precisely: twice as many repeats each
  /// time, since looking early costs nothing (`SequentialInterval`).
  ///
  /// - Parameters:
  ///   - halfWidth: half of the interval of loaders per 1000, of each contestant on each network.
  ///   - most: no more repeats than that.
  ///   - perform: as for `results`.
  ///   - progress: is told how many runs are done, and of how many.
  package func results(
    precise halfWidth: Double, atMost most: Int, _ perform: Performer,
    progress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
  ) -> ExperimentResults {
    var part = self
    let each = contestants.count * networks.count
    func measured() -> ExperimentResults {
      let (before, all) = (
        (part.firstRepeat - firstRepeat) * each,
        (part.firstRepeat - firstRepeat + part.repeats) * each
      )
      return part.results(perform) { progress(before + $0, all) }
    }
    part.repeats = min(repeats, max(1, most))
    var results = measured()
    while !results.isPrecise(halfWidth), results.repeats < most {
      part.firstRepeat = firstRepeat + results.repeats
      part.repeats = min(results.repeats, most - results.repeats)
      results = results.followed(by: measured())
    }
    return results
  }
}

extension ExperimentResults {
  /// Whether the loaders of each contestant on each network are known so precisely.
  package func isPrecise(_ halfWidth: Double) -> Bool {
    contestants.indices.allSatisfy { contestant in
      networks.indices.allSatisfy { network in
        interval(contestant, on: network, .loaders).halfWidth <= halfWidth
      }
    }
  }

  /// These repeats and those, of the same contestants on the same networks.
  func followed(by others: ExperimentResults) -> ExperimentResults {
    precondition(others.contestants == contestants && others.networks == networks)
    var all: [RunValues] = []
    for place in 0..<contestants.count * networks.count {
      all += runs[place * repeats..<(place + 1) * repeats]
      all += others.runs[place * others.repeats..<(place + 1) * others.repeats]
    }
    var bound: [RunBound] = []
    for network in networks.indices {
      bound += bounds[network * repeats..<(network + 1) * repeats]
      bound += others.bounds[network * others.repeats..<(network + 1) * others.repeats]
    }
    return ExperimentResults(
      contestants: contestants, networks: networks, repeats: repeats + others.repeats,
      items: items, runs: all, bounds: bound, hasBitrates: hasBitrates)
  }

  /// Those of these contestants alone.
  func only(_ kept: [Int]) -> ExperimentResults {
    let each = networks.count * repeats
    return ExperimentResults(
      contestants: kept.map { contestants[$0] }, networks: networks, repeats: repeats,
      items: items, runs: kept.flatMap { runs[$0 * each..<($0 + 1) * each] }, bounds: bounds,
      hasBitrates: hasBitrates)
  }
}
