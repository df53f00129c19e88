import Reports
import Statistics

/// The difference of a figure between the arms `b` and `a`: an estimate with its variance. Differences of
/// stages are weighted by the number of sessions that they compare, not by their variances, because these
/// are small for a stage with few loaders.
package struct ArmDifference: Hashable, Sendable {
  /// The figure of the arm `a`, per item or per session.
  package let base: Double
  /// The figure of `b` minus that of `a`.
  package let mean: Double
  /// The variance of `mean`.
  package let variance: Double

  /// The minimum number of sessions of an arm for a stage to count and to be shown, as in all reports
  /// (docs/privacy.md).
  package static let leastSessions = 50
  /// The difference for which intervals are narrowest: a tenth.
  private static let expectedShare = 0.1

  /// Estimates the difference in a measure.
  ///
  /// - Parameter isPerSession: Whether the figure is per session; otherwise it is per item, a ratio of two
  ///   sums over sessions with the variance of the delta method (Cochran, Sampling Techniques, section
  ///   6.3).
  /// - Returns: `nil` if too few sessions are compared.
  package init?(_ measure: SessionMeasure, isPerSession: Bool, _ pairs: [ExperimentSums.Pair]) {
    var (weights, means, variances) = (0.0, 0.0, 0.0)
    var all = ExperimentSums.Pair()
    for pair in pairs {
      let (a, b) = (
        Figure(measure, isPerSession, pair.a), Figure(measure, isPerSession, pair.b)
      )
      guard let a, let b else { continue }
      // At least the pooled variance: the variance of a few sessions without a loader would be too small.
      let pooled = (a.residuals + b.residuals) / (a.sessions + b.sessions - 2)
      let weight = a.sessions * b.sessions / (a.sessions + b.sessions)
      weights += weight
      means += weight * (b.mean - a.mean)
      variances += weight * weight * (a.variance(atLeast: pooled) + b.variance(atLeast: pooled))
      all.a.add(pair.a)
      all.b.add(pair.b)
    }
    guard weights > 0, let base = Figure(measure, isPerSession, all.a) else { return nil }
    self.base = base.mean
    mean = means / weights
    variance = variances / (weights * weights)
  }

  private struct Figure {
    let mean: Double
    let sessions: Double
    /// The sum of squared residuals of sessions.
    let residuals: Double
    /// The divisor of a session's residual.
    private let size: Double

    init?(_ measure: SessionMeasure, _ isPerSession: Bool, _ arm: ArmSums) {
      guard arm.sessions >= ArmDifference.leastSessions else { return nil }
      sessions = Double(arm.sessions)
      if isPerSession {
        mean = arm.moments.sum(measure) / sessions
        residuals = max(0, arm.moments.squares(measure) - sessions * mean * mean)
        size = 1
      } else {
        let items = arm.moments.sum(.items)
        guard items > 0 else { return nil }
        mean = arm.moments.sum(measure) / items
        residuals = arm.moments.residuals(of: measure, ratio: mean)
        size = items / sessions
      }
    }

    func variance(atLeast pooled: Double) -> Double {
      max(residuals / (sessions - 1), pooled) / (sessions * size * size)
    }
  }

  /// The scale of the differences that are expected.
  private var priorDeviation: Double { Self.expectedShare * max(base, 0) }

  /// Returns the half-width of the confidence interval, which is valid at any number of looks.
  ///
  /// - Parameter error: The probability that the interval ever excludes the true value.
  package func halfWidth(error: Double) -> Double {
    NormalMixture.halfWidth(variance: variance, priorDeviation: priorDeviation, error: error)
  }

  /// Returns the width of the one-sided interval.
  package func oneSidedWidth(error: Double) -> Double {
    NormalMixture.oneSidedWidth(variance: variance, priorDeviation: priorDeviation, error: error)
  }

  /// Returns the difference that would be detected with a probability of 80 % with `factor` times as many
  /// sessions.
  package func detectable(error: Double, sessions factor: Double) -> Double {
    let then = variance / max(factor, 1e-9)
    return NormalMixture.halfWidth(
      variance: then, priorDeviation: priorDeviation, error: error)
      + 0.842 * then.squareRoot()
  }
}
