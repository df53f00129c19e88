/// A mean, with an interval for it that holds at every look: over all looks together, the interval misses the
/// truth in at most `errorPermille` of 1000 sequences.
///
/// For independent values that are approximately normal, with any variance; means over a run of 1000 items
/// are. It is the t-test's Bayes factor with a normal prior on the effect in standard deviations, a
/// martingale under the hypothesis that it tests (Lai, "On confidence sequences", 1976; Wang, Ramdas,
/// "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance", 2023),
/// inverted: the interval holds all means whose Bayes factor stays below 1000 / `errorPermille` (Ville).
package struct SequentialInterval: Hashable, Sendable {
  /// The maximum number of wrong sequences in 1000.
  package let errorPermille: Int
  /// The least standard deviation that is assumed, since values in whole units may look constant for a while.
  package let leastDeviation: Double
  /// The number of values.
  package private(set) var count = 0
  /// The mean of the values.
  package private(set) var mean = 0.0
  private var squares = 0.0
  /// The lower end of the intersection of all intervals so far: the truth lies in each of them.
  package private(set) var lower = -Double.infinity
  /// The upper end of the intersection.
  package private(set) var upper = Double.infinity

  /// An interval before its first value.
  package init(errorPermille: Int = 50, leastDeviation: Double = 0) {
    precondition((1...999).contains(errorPermille))
    self.errorPermille = errorPermille
    self.leastDeviation = leastDeviation
  }

  /// Adds a value.
  package mutating func add(_ value: Double) {
    count += 1
    // Welford's algorithm, which keeps differences that are small beside the mean.
    let distance = value - mean
    mean += distance / Double(count)
    squares += distance * (value - mean)
    let width = halfWidth
    lower = max(lower, mean - width)
    upper = min(upper, mean + width)
    // The intersection is empty in at most `errorPermille` of 1000 sequences.
    if lower > upper { (lower, upper) = (mean - width, mean + width) }
  }

  /// The standard deviation of a value, at least `leastDeviation`; infinite for fewer than two values.
  package var deviation: Double {
    count < 2 ? .infinity : max(leastDeviation, (squares / Double(count - 1)).squareRoot())
  }

  /// Half the width of the interval of `count` values at this look alone; infinite if they are too few.
  package var halfWidth: Double {
    guard count >= 2 else { return .infinity }
    let n = Double(count)
    let spread = 1 + n * Self.priorVariance
    let factor = exponential(
      2 / n * naturalLogarithm(spread.squareRoot() * 1_000 / Double(errorPermille)))
    guard factor < spread else { return .infinity }
    let bound = (n - 1) * (factor - 1) * spread / (spread - factor)
    return deviation * (bound / n).squareRoot()
  }

  /// The minimum number of values for a finite interval of 95 %.
  package static let fewestValues: Int = {
    var interval = SequentialInterval(leastDeviation: 1)
    while !interval.halfWidth.isFinite { interval.add(0) }
    return interval.count
  }()

  /// The variance of the prior on the effect, in standard deviations: the test looks for large effects.
  private static let priorVariance = 1.0
}
