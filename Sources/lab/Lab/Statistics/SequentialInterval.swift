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

  /// From so many values on intervals of 95 % are finite.
  package static let fewestValues: Int = {
    var interval = SequentialInterval(leastDeviation: 1)
    while !interval.halfWidth.isFinite { interval.add(0) }
    return interval.count
  }()

  /// The variance of the effect, in standard deviations, that the test looks for: large ones.
  private static let priorVariance = 1.0
}

/// The logarithm of a number above 0, to 15 digits, by additions and products alone: the same on every machine.
func naturalLogarithm(_ number: Double) -> Double {
  precondition(number > 0 && number.isFinite)
  let exponent = Double(number.exponent)
  // Between 1 and 2: log m = 2 artanh((m − 1) / (m + 1)), a series in at most 1/3.
  let ratio = (number.significand - 1) / (number.significand + 1)
  let square = ratio * ratio
  var (sum, power) = (0.0, ratio)
  for odd in stride(from: 1.0, through: 33, by: 2) {
    sum += power / odd
    power *= square
  }
  return 2 * sum + exponent * 0.693_147_180_559_945_3
}

/// e to this power, in the same way.
func exponential(_ power: Double) -> Double {
  precondition(abs(power) < 700)
  // Halved until its series is short, then squared as often.
  let small = power / 1_024
  var (sum, term) = (1.0, 1.0)
  for index in 1...12 {
    term *= small / Double(index)
    sum += term
  }
  for _ in 0..<10 { sum *= sum }
  return sum
}

/// Two strategies held against each other, run for run: the same viewer, the same network, the same feed.
///
/// Runs that have something in common beside the strategies, such as a trace, are one cluster and count as one
/// value, their mean: they are no independent witnesses.
package struct Comparison: Sendable {
  /// What is known by now. Less is better: loaders, waits, bytes.
  package enum Verdict: String, CaseIterable, Hashable, Sendable {
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
