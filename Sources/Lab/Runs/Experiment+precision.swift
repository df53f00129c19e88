/// Calls a body for each number below a count, in whatever order, on as many threads as it likes, and returns when
/// all calls have.
public typealias Performer = (Int, @escaping @Sendable (Int) -> Void) -> Void

extension Experiment {
  /// The measures of as many runs as it takes until loaders are known so precisely: twice as many repeats each
  /// time, since looking early costs nothing (`SequentialInterval`).
  ///
  /// - Parameters:
  ///   - halfWidth: half of the interval of loaders per 1000, of each contestant on each network.
  ///   - most: no more repeats than that.
  ///   - perform: as for `results`.
  ///   - progress: is told how many runs are done, and of how many.
  public func results(
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
  public func isPrecise(_ halfWidth: Double) -> Bool {
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
    return ExperimentResults(
      contestants: contestants, networks: networks, repeats: repeats + others.repeats,
      items: items, runs: all)
  }

  /// Those of these contestants alone.
  func only(_ kept: [Int]) -> ExperimentResults {
    let each = networks.count * repeats
    return ExperimentResults(
      contestants: kept.map { contestants[$0] }, networks: networks, repeats: repeats,
      items: items, runs: kept.flatMap { runs[$0 * each..<($0 + 1) * each] })
  }
}
