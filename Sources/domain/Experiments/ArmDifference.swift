import Reports
import Statistics

/// By how much a figure of the arm `b` differs from that of `a`, as an estimate with its variance. Differences of stages
/// weigh by how many sessions they compare: not by their variances, which are small where few loaders were met.
package struct ArmDifference: Hashable, Sendable {
  /// The figure of the arm `a`, of an item or of a session.
  package let base: Double
  /// That of `b` less that of `a`.
  package let mean: Double
  /// The variance of `mean`.
  package let variance: Double

  /// Of fewer sessions of an arm a stage says nothing, and nothing is shown: as of all reports (docs/privacy.md).
  package static let leastSessions = 50
  /// What intervals are narrowest for: a difference of a tenth.
  private static let expectedShare = 0.1

  /// The difference in a measure.
  ///
  /// - Parameter isPerSession: of a session, otherwise of an item: then a ratio of two sums over sessions, of which the
  ///   variance is by the delta method (Cochran, Sampling Techniques, section 6.3).
  /// - Returns: nil where too few sessions are compared.
  package init?(_ measure: SessionMeasure, isPerSession: Bool, _ pairs: [ExperimentSums.Pair]) {
    var (weights, means, variances) = (0.0, 0.0, 0.0)
    var all = ExperimentSums.Pair()
    for pair in pairs {
      let (a, b) = (
        Figure(measure, isPerSession, pair.a), Figure(measure, isPerSession, pair.b)
      )
      guard let a, let b else { continue }
      // As large as that of both: of few sessions without a loader the own one is too small.
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
    /// The sum of the squares of what sessions have beyond the mean.
    let residuals: Double
    /// What a session's beyond is divided by.
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

  /// Which differences are looked for.
  private var priorDeviation: Double { Self.expectedShare * max(base, 0) }

  /// Half of the width of its interval, whenever one looks.
  ///
  /// - Parameter error: how probable it is that it ever leaves the truth outside.
  package func halfWidth(error: Double) -> Double {
    NormalMixture.halfWidth(variance: variance, priorDeviation: priorDeviation, error: error)
  }

  /// The same for one side.
  package func oneSidedWidth(error: Double) -> Double {
    NormalMixture.oneSidedWidth(variance: variance, priorDeviation: priorDeviation, error: error)
  }

  /// The difference that is found with a chance of four in five were there `factor` times as many sessions.
  package func detectable(error: Double, sessions factor: Double) -> Double {
    let then = variance / max(factor, 1e-9)
    return NormalMixture.halfWidth(
      variance: then, priorDeviation: priorDeviation, error: error)
      + 0.842 * then.squareRoot()
  }
}
