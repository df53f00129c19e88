/// The width of an interval around an estimate that holds at every look: for estimates that are sums over
/// many independent sessions, of whose values only the variance is known.
///
/// The asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, "Time-uniform
/// central limit theory and asymptotic confidence sequences" (2021), theorem 2.2 and proposition B.1 for one
/// side: Robbins' normal mixture, a martingale for a sum of normal numbers, which sums over many sessions
/// approximate arbitrarily well. `SequentialInterval` is the same mixture for few values, where the deviation
/// has to be estimated as well; with many values the two widths agree.
package enum NormalMixture {
  /// Half the width of an interval for a difference, which is wrong on either side with the probability
  /// `error`.
  ///
  /// - Parameters:
  ///   - variance: the variance of the estimate at this look; with 0 the width is infinite.
  ///   - priorDeviation: the difference for which the interval is narrowest, in the estimate's unit; above 0,
  ///     and chosen before the first look.
  package static func halfWidth(
    variance: Double, priorDeviation: Double, error: Double
  ) -> Double {
    let prior = priorDeviation * priorDeviation
    guard variance > 0, prior > 0, variance.isFinite else { return .infinity }
    let spread = 1 + variance / prior
    return (variance * spread * naturalLogarithm((1 + prior / variance) / (error * error)))
      .squareRoot()
  }

  /// The maximum distance of the truth below an estimate, wrong with the probability `error`: for one side
  /// alone.
  package static func oneSidedWidth(
    variance: Double, priorDeviation: Double, error: Double
  ) -> Double {
    let prior = priorDeviation * priorDeviation
    guard variance > 0, prior > 0, variance.isFinite else { return .infinity }
    let spread = 1 + variance / prior
    let ratio = (1 + prior / variance).squareRoot()
    return (2 * variance * spread * naturalLogarithm(1 + ratio / (2 * error))).squareRoot()
  }
}

/// A test whether counts of two kinds agree with a share that was fixed in advance; it holds at every look.
package enum ShareTest {
  /// The logarithm of the likelihood ratio of the counts, of shares around the expected one to the expected
  /// one itself. Above `log(1 / error)` the share is wrong; with the right share, the probability that it
  /// ever gets there is at most `error` (Ville).
  ///
  /// A mixture over shares by a beta distribution around the expected one (Lindon and Malek, "Anytime-valid
  /// inference for multinomial count data", 2020). The logarithms of independent counts add up.
  ///
  /// - Parameters:
  ///   - share: the expected share of the first kind, above 0 and below 1.
  package static func logEvidence(_ first: Int, _ second: Int, share: Double) -> Double {
    guard first + second > 0 else { return 0 }
    let (a, b) = (Double(first), Double(second))
    let (priorA, priorB) = (concentration * share, concentration * (1 - share))
    return logBeta(a + priorA, b + priorB) - logBeta(priorA, priorB)
      - a * naturalLogarithm(share) - b * naturalLogarithm(1 - share)
  }

  /// The concentration of the beta distribution: how close other shares are assumed to be to the expected
  /// one.
  private static let concentration = 100.0

  private static func logBeta(_ a: Double, _ b: Double) -> Double {
    logGamma(a) + logGamma(b) - logGamma(a + b)
  }

  /// The logarithm of the gamma function by Stirling's series, for numbers above 0.
  static func logGamma(_ number: Double) -> Double {
    var (x, shift) = (number, 0.0)
    while x < 10 {
      shift += naturalLogarithm(x)
      x += 1
    }
    let square = 1 / (x * x)
    let series = (1 / 12.0 - square * (1 / 360.0 - square * (1 / 1_260.0 - square / 1_680))) / x
    return (x - 0.5) * naturalLogarithm(x) - x + 0.918_938_533_204_672_7 + series - shift
  }
}
