import Statistics

/// Two strategies held against each other, run for run: the same viewer, the same network, the same feed.
///
/// Runs that have something in common beside the strategies, such as a trace, are one cluster and count as one
/// value, their mean: they are no independent witnesses.
package struct Comparison: Sendable {
  /// What is no difference that matters.
  package let margin: Double
  /// The difference, the first less the second, with its interval.
  package private(set) var difference: SequentialInterval
  /// What was found, the first time that anything was: looking on changes nothing.
  package private(set) var verdict = Verdict.undecided
  /// After how many clusters.
  package private(set) var decidedAfter: Int?

  /// Before the first run.
  ///
  /// - Parameters:
  ///   - margin: at least 0, in the unit of what is compared.
  ///   - leastDeviation: what one piece more or less in a run is: the least deviation that is believed.
  package init(margin: Double, leastDeviation: Double, errorPermille: Int = 50) {
    self.margin = margin
    difference = SequentialInterval(
      errorPermille: errorPermille, leastDeviation: leastDeviation)
  }

  /// Takes in a cluster: one value of each strategy a run, in the same order.
  package mutating func addCluster(_ first: [Double], _ second: [Double]) {
    precondition(first.count == second.count && !first.isEmpty, "pairs")
    let sum = zip(first, second).reduce(0) { $0 + ($1.0 - $1.1) }
    difference.add(sum / Double(first.count))
    guard verdict == .undecided else { return }
    verdict = current
    if verdict != .undecided { decidedAfter = difference.count }
  }

  private var current: Verdict {
    if difference.lower >= -margin, difference.upper <= margin { return .equivalent }
    if difference.upper < 0 { return .better }
    if difference.lower > 0 { return .worse }
    return .undecided
  }
}

extension Comparison {
  /// What was found, in a sentence: the first is the one that is better or worse.
  ///
  /// - Parameter measure: what was compared.
  package func sentence(
    _ first: String, _ second: String, of measure: RunFigures.Measure
  ) -> String {
    let words =
      switch verdict {
      case .better: "\(first) is better than \(second)"
      case .worse: "\(first) is worse than \(second)"
      case .equivalent: "\(first) and \(second) are equivalent within \(fixed(margin, 1))"
      case .undecided: "\(first) and \(second): undecided"
      }
    let interval =
      difference.lower.isFinite
      ? ", \(fixed(difference.lower, 1)) to \(fixed(difference.upper, 1))" : ""
    return
      "\(words): \(fixed(difference.mean, 1)) \(measure.words)\(interval), "
      + "after \(decidedAfter ?? difference.count) looks"
  }
}
