/// What an experiment has measured: the same bytes for the same seed, on however many threads it ran.
public struct ExperimentResults: Hashable, Sendable {
  /// The contestants' names.
  public let contestants: [String]
  /// The networks' names.
  public let networks: [String]
  /// How many runs each contestant had on each network.
  public let repeats: Int
  /// How many items each run had.
  public let items: Int
  let runs: [RunValues]

  init(
    contestants: [String], networks: [String], repeats: Int, items: Int, runs: [RunValues]
  ) {
    self.items = items
    self.contestants = contestants
    self.networks = networks
    self.repeats = repeats
    self.runs = runs
  }

  /// A contestant's values on a network, repeat by repeat.
  func values(_ contestant: Int, on network: Int, _ measure: RunFigures.Measure) -> [Double] {
    let first = (contestant * networks.count + network) * repeats
    return runs[first..<first + repeats].map { $0[measure] }
  }

  /// The mean of a measure with its 95 % interval. On one network each repeat counts as one value; over
  /// several, each network, which is the mean of its repeats.
  public func interval(
    _ contestant: Int, on network: Int?, _ measure: RunFigures.Measure
  ) -> SequentialInterval {
    var interval = SequentialInterval(
      leastDeviation: measure.leastDeviation(items: items))
    for cluster in clusters(contestant, on: network, measure) {
      interval.add(cluster.reduce(0, +) / Double(cluster.count))
    }
    return interval
  }

  /// A contestant held against the first one, run for run.
  ///
  /// - Parameter margin: what is no difference that matters, in the measure's unit.
  public func comparison(
    _ contestant: Int, on network: Int?, _ measure: RunFigures.Measure = .loaders, margin: Double
  ) -> Comparison {
    var comparison = Comparison(
      margin: margin, leastDeviation: measure.leastDeviation(items: items))
    let pairs = zip(
      clusters(contestant, on: network, measure), clusters(0, on: network, measure))
    for (own, others) in pairs { comparison.addCluster(own, others) }
    return comparison
  }

  func clusters(
    _ contestant: Int, on network: Int?, _ measure: RunFigures.Measure
  ) -> [[Double]] {
    if let network { return values(contestant, on: network, measure).map { [$0] } }
    return networks.indices.map { values(contestant, on: $0, measure) }
  }
}
