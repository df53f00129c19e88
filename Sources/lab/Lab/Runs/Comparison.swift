import Statistics

/// A comparison of two strategies, run by run, with the same viewer, the same network and the same feed.
///
/// Runs that have something in common besides the strategies, such as a trace, are one cluster and count as
/// one value, their mean: they are not independent.
package struct Comparison: Sendable {
  /// The greatest difference that does not matter.
  package let margin: Double
  /// The difference, the first minus the second, with its interval.
  package private(set) var difference: SequentialInterval
  /// The first verdict that was reached. Later clusters do not change it.
  package private(set) var verdict = Verdict.undecided
  /// The number of clusters after which it was reached.
  package private(set) var decidedAfter: Int?

  /// Creates a comparison before the first run.
  ///
  /// - Parameters:
  ///   - margin: at least 0, in the unit of the compared measure.
  ///   - leastDeviation: the least deviation to assume: that of one piece more or less in a run.
  package init(margin: Double, leastDeviation: Double, errorPermille: Int = 50) {
    self.margin = margin
    difference = SequentialInterval(
      errorPermille: errorPermille, leastDeviation: leastDeviation)
  }

  /// Adds a cluster: for each strategy one value per run, in the same order.
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
  /// The verdict in a sentence. The first strategy is the one that is better or worse.
  ///
  /// - Parameter measure: the compared measure.
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
