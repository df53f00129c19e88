/// A mean with the interval in which it lies, that holds whenever one looks: of all its looks together, at most
/// `errorPermille` of a thousand sequences ever leave the truth outside.
///
/// For independent values that are about normal, whatever their variance; means over a run of 1000 items are.
/// It is the t-test's Bayes factor with a normal prior on the effect in standard deviations, which is a
/// martingale under the hypothesis it tests (Lai, "On confidence sequences", 1976; Wang, Ramdas,
/// "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance", 2023), turned
/// round: the interval holds all means that it does not reject by more than 1 in `errorPermille` (Ville).
package struct SequentialInterval: Hashable, Sendable {
  /// How many of a thousand may be wrong.
  package let errorPermille: Int
  /// The standard deviation is taken to be at least that: what is counted in whole pieces may look constant
  /// for a while.
  package let leastDeviation: Double
  /// How many values there are.
  package private(set) var count = 0
  /// Their mean.
  package private(set) var mean = 0.0
  private var squares = 0.0
  /// All of the intervals so far have this in common: the truth lies in each.
  package private(set) var lower = -Double.infinity
  /// The upper end.
  package private(set) var upper = Double.infinity

  /// Before the first value.
  package init(errorPermille: Int = 50, leastDeviation: Double = 0) {
    precondition((1...999).contains(errorPermille))
    self.errorPermille = errorPermille
    self.leastDeviation = leastDeviation
  }

  /// Takes in a value.
  package mutating func add(_ value: Double) {
    count += 1
    // Welford's, which does not lose what is small beside the mean.
    let distance = value - mean
    mean += distance / Double(count)
    squares += distance * (value - mean)
    let width = halfWidth
    lower = max(lower, mean - width)
    upper = min(upper, mean + width)
    // Of no more than `errorPermille` of a thousand sequences the intervals have nothing in common.
    if lower > upper { (lower, upper) = (mean - width, mean + width) }
  }

  /// The standard deviation of a value; at least `leastDeviation`.
  package var deviation: Double {
    count < 2 ? .infinity : max(leastDeviation, (squares / Double(count - 1)).squareRoot())
  }

  /// Half of the width of what `count` values alone say; infinite as long as they say nothing.
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

  /// The number of values from which on intervals of 95 % are finite.
  package static let fewestValues: Int = {
    var interval = SequentialInterval(leastDeviation: 1)
    while !interval.halfWidth.isFinite { interval.add(0) }
    return interval.count
  }()

  /// The variance of the effect, in standard deviations, that the test looks for: large ones.
  private static let priorVariance = 1.0
}
