import Prefetch
import Statistics
import Synchronization

/// Contestants on networks, each a number of times. Each repeat has another viewer, another moment of the
/// network and, unless the feed is recorded, another feed. They are the same for all contestants.
package struct Experiment: Sendable {
  /// The contestants to compare; the others are compared with the first.
  package var contestants: [Contestant]
  /// The networks.
  package var networks: [LabNetwork]
  /// The source of feeds.
  package var feed: FeedSource
  /// The viewers.
  package var viewer: ViewerModel
  /// The number of items of a run.
  package var items: Int
  /// The number of runs of each contestant on each network.
  package var repeats: Int
  /// The number of the first repeat: 0, or where another experiment with the same seed ended.
  package var firstRepeat = 0
  /// The seed of all random numbers.
  package var seed: UInt64
  /// The networks for judging what was tuned on the others; nil if `halves` separates those.
  package var judgingNetworks: [LabNetwork]?
  /// Whether clients know the viewer's path (`Simulation.Setup.alongPath`).
  package var isPathKnown = false
  /// What clients are told wrongly; `disturbed(by:)` changes the rest.
  var disturbance: Disturbance?

  /// A source of feeds.
  package enum FeedSource: Sendable {
    /// A new generated feed for each repeat.
    case generated(FeedModel)
    /// The same feed each time, starting from another item in each repeat: after its end it continues at its
    /// top. If it does not turn, it starts at its top.
    case recorded(LabFeed, turns: Bool = true)

    /// Whether clips have several bitrates.
    var hasBitrates: Bool {
      switch self {
      case .generated(let model): model.bitrates.count > 1
      case .recorded(let feed, _): feed.items.contains { $0.media.first?.count ?? 0 > 1 }
      }
    }
  }

  /// Creates an experiment.
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

  /// The number of runs.
  package var runCount: Int { contestants.count * networks.count * repeats }

  /// Runs the experiment, and returns the measures of all runs.
  ///
  /// - Parameters:
  ///   - perform: calls the closure for each number below the count, in any order, on any number of threads,
  ///     and returns when all calls have. The results are the same.
  ///   - progress: called with the number of completed runs, from any thread.
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

  /// One run as a timeline.
  func timeline(contestant: Int, network: Int, repeat number: Int) -> RunTimeline {
    let (setup, seed) = round(network: network, repeat: number)
    return Simulation.timeline(contestants[contestant], shown(setup, seed), seed: seed)
  }

  /// The setup as clients see it.
  private func shown(_ setup: Simulation.Setup, _ seed: UInt64) -> Simulation.Setup {
    isPathKnown ? setup.alongPath(seed: seed) : setup
  }

  /// The setup and seed that all contestants share in a repeat.
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
  /// The number of clusters that run before a look. It is fixed, so that the result does not depend on the
  /// number of cores.
  private static let clustersAtOnce = 8

  /// Compares the second contestant with the first, until there is a verdict or all runs are done. It looks
  /// after each cluster. On one network each repeat is a cluster; on several, each network with its repeats.
  ///
  /// - Parameters:
  ///   - margin: the greatest difference that does not matter, in the measure's unit.
  ///   - perform: as for `results`.
  ///   - progress: called with the number of clusters after which it looked.
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

/// Calls a closure for each number below a count, in any order, on any number of threads, and returns when
/// all calls have.
package typealias Performer = (Int, @escaping @Sendable (Int) -> Void) -> Void

extension Experiment {
  /// Runs the experiment until the number of loaders is known this precisely, and returns the measures. It
  /// doubles the repeats each time, because looking early costs nothing (`SequentialInterval`).
  ///
  /// - Parameters:
  ///   - halfWidth: half of the interval of loaders per 1000, for each contestant on each network.
  ///   - most: the maximum number of repeats.
  ///   - perform: as for `results`.
  ///   - progress: called with the number of completed runs, and the number of all.
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
  /// Whether the number of loaders of each contestant on each network is known this precisely.
  package func isPrecise(_ halfWidth: Double) -> Bool {
    contestants.indices.allSatisfy { contestant in
      networks.indices.allSatisfy { network in
        interval(contestant, on: network, .loaders).halfWidth <= halfWidth
      }
    }
  }

  /// These repeats, and those of `others`, which has the same contestants on the same networks.
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

  /// The results of these contestants alone.
  func only(_ kept: [Int]) -> ExperimentResults {
    let each = networks.count * repeats
    return ExperimentResults(
      contestants: kept.map { contestants[$0] }, networks: networks, repeats: repeats,
      items: items, runs: kept.flatMap { runs[$0 * each..<($0 + 1) * each] }, bounds: bounds,
      hasBitrates: hasBitrates)
  }
}
