/// How far an estimate may be from the truth, whenever one looks: for estimates that are sums over many independent
/// sessions, of whose values nothing is known but their variance.
///
/// The asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, "Time-uniform central limit
/// theory and asymptotic confidence sequences" (2021), theorem 2.2 and proposition B.1 for one side: Robbins' normal
/// mixture, a martingale for a sum of normal numbers, which sums of many sessions come as near to as one likes.
/// `SequentialInterval` is the same mixture for few values, whose deviation has to be learned with them: with many, the
/// two widths agree.
package enum NormalMixture {
  /// Half of the width of an interval for a difference, both of its sides together wrong with the probability `error`.
  ///
  /// - Parameters:
  ///   - variance: of the estimate as it is now; of 0 nothing is concluded.
  ///   - priorDeviation: which differences the interval is narrowest for, in the estimate's unit; chosen before one
  ///     looks, above 0.
  package static func halfWidth(
    variance: Double, priorDeviation: Double, error: Double
  ) -> Double {
    let prior = priorDeviation * priorDeviation
    guard variance > 0, prior > 0, variance.isFinite else { return .infinity }
    let spread = 1 + variance / prior
    return (variance * spread * naturalLogarithm((1 + prior / variance) / (error * error)))
      .squareRoot()
  }

  /// How far below an estimate the truth lies at the most, wrong with the probability `error`: for one side alone.
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

/// Whether counts of two kinds came about by a share that was said before, whenever one looks.
package enum ShareTest {
  /// The logarithm of how much likelier the counts are by shares around the expected one than by the expected one:
  /// above `log(1 / error)` it is a wrong share, and of as many right ones as `error` says one ever gets there (Ville).
  ///
  /// A mixture over shares by a beta distribution about the expected one (Lindon and Malek, "Anytime-valid inference
  /// for multinomial count data", 2020). Such logarithms of independent counts add up.
  ///
  /// - Parameters:
  ///   - share: above 0 and below 1: what is expected of the first kind.
  package static func logEvidence(_ first: Int, _ second: Int, share: Double) -> Double {
    guard first + second > 0 else { return 0 }
    let (a, b) = (Double(first), Double(second))
    let (priorA, priorB) = (concentration * share, concentration * (1 - share))
    return logBeta(a + priorA, b + priorB) - logBeta(priorA, priorB)
      - a * naturalLogarithm(share) - b * naturalLogarithm(1 - share)
  }

  /// How close to the expected one other shares are thought to be.
  private static let concentration = 100.0

  private static func logBeta(_ a: Double, _ b: Double) -> Double {
    logGamma(a) + logGamma(b) - logGamma(a + b)
  }

  /// Stirling's series, for numbers above 0.
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
