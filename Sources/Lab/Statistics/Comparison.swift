/// Two strategies held against each other, run for run: the same viewer, the same network, the same feed.
///
/// Runs that have something in common beside the strategies, such as a trace, are one cluster and count as one
/// value, their mean: they are no independent witnesses.
public struct Comparison: Sendable {
  /// What is known by now. Less is better: loaders, waits, bytes.
  public enum Verdict: String, CaseIterable, Hashable, Sendable {
    /// The first is less than the second.
    case better
    /// It is more.
    case worse
    /// It is within the margin.
    case equivalent
    /// More runs are needed.
    case undecided
  }

  /// What is no difference that matters.
  public let margin: Double
  /// The difference, the first less the second, with its interval.
  public private(set) var difference: SequentialInterval
  /// What was found, the first time that anything was: looking on changes nothing.
  public private(set) var verdict = Verdict.undecided
  /// After how many clusters.
  public private(set) var decidedAfter: Int?

  /// Before the first run.
  ///
  /// - Parameters:
  ///   - margin: at least 0, in the unit of what is compared.
  ///   - leastDeviation: what one piece more or less in a run is: the least deviation that is believed.
  public init(margin: Double, leastDeviation: Double, errorPermille: Int = 50) {
    self.margin = margin
    difference = SequentialInterval(
      errorPermille: errorPermille, leastDeviation: leastDeviation)
  }

  /// Takes in a cluster: one value of each strategy a run, in the same order.
  public mutating func addCluster(_ first: [Double], _ second: [Double]) {
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
  public func sentence(_ first: String, _ second: String) -> String {
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
      "\(words): \(fixed(difference.mean, 1)) loaders per 1000\(interval), "
      + "after \(decidedAfter ?? difference.count) looks"
  }
}
