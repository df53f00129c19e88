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
  public func compare(
    _ measure: RunFigures.Measure = .loaders, margin: Double,
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
