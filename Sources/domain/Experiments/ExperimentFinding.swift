import Feed
import JSON
import Prefetch
import Reports
import Statistics

/// The conclusions that an experiment's sums allow now, valid at any number of looks: of a hundred
/// experiments of a policy with itself, at most five ever report better, worse, a broken guard or wrong
/// shares.
package struct ExperimentFinding: Hashable, Sendable {
  /// The probability that the loaders of equal arms ever seem different.
  package static let error = 0.025
  /// The same error probability of one guard; there are five.
  package static let guardError = 0.004
  /// The same error probability of correct shares.
  package static let shareError = 0.001

  /// The number of sessions of each arm.
  package let sessions: (a: Int, b: Int)
  /// The loaders per 1000 items of each arm, over all stages.
  package let loadersPerThousand: (a: Double?, b: Double?)
  /// The bytes per session of each arm, over all stages.
  package let bytesPerSession: (a: Double?, b: Double?)
  /// The difference in loaders per item; `nil` if too few sessions were compared.
  package let difference: ArmDifference?
  /// The verdict on which arm has fewer loaders.
  package let verdict: Verdict
  /// The guards that are broken.
  package let brokenGuards: [ExperimentGuard]
  /// Whether the numbers of sessions of the arms contradict their shares.
  package let sharesAreWrong: Bool
  /// The differences by network, if there are several: as measured, and shrunk towards the difference of
  /// all.
  package let networks: [NetworkDifference]
  /// The difference that would be detected by the end, in percent of the loaders of `a`; `nil` without
  /// data.
  package let detectablePercent: Double?

  /// The difference on one network.
  package struct NetworkDifference: Hashable, Sendable {
    /// The network's name.
    package let network: String
    /// The measured difference, in percent of the loaders of `a`.
    package let percent: Double
    /// The best estimate: small networks are more like all others than their few sessions suggest.
    package let shrunkPercent: Double
  }

  /// Computes the conclusions.
  ///
  /// - Parameters:
  ///   - sums: The sums of the experiment.
  ///   - hour: The current time, in hours since 1970.
  package init(_ experiment: PolicyExperiment, _ sums: ExperimentSums, atHour hour: Int) {
    let (pairs, total) = (sums.stages.map(\.arms), sums.total)
    sessions = (total.a.sessions, total.b.sessions)
    func perThousand(_ arm: ArmSums) -> Double? {
      let items = arm.moments.sum(.items)
      return items > 0 ? 1_000 * arm.moments.sum(.loaders) / items : nil
    }
    loadersPerThousand = (perThousand(total.a), perThousand(total.b))
    func bytes(_ arm: ArmSums) -> Double? {
      arm.sessions > 0 ? arm.moments.sum(.bytes) / Double(arm.sessions) : nil
    }
    bytesPerSession = (bytes(total.a), bytes(total.b))
    let difference = ArmDifference(.loaders, isPerSession: false, pairs)
    self.difference = difference
    verdict = Self.verdict(difference, marginPercent: experiment.limits.marginPercent)
    brokenGuards = ExperimentGuard.all.filter { Self.isBroken($0, pairs) }
    let evidence = sums.stages.reduce(0.0) { sum, stage in
      sum
        + ShareTest.logEvidence(
          stage.arms.b.sharedSessions, stage.arms.a.sharedSessions,
          share: Double(stage.sharePermille) / 1_000)
    }
    sharesAreWrong = evidence > -naturalLogarithm(Self.shareError)
    networks = Self.byNetwork(sums, difference)
    let past = max(1, hour + 1 - sums.sinceHour)
    detectablePercent = difference.flatMap { difference in
      guard difference.base > 0 else { return nil }
      let factor = max(1, Double(experiment.limits.days * 24) / Double(past))
      let found = difference.detectable(error: Self.error, sessions: factor)
      return found.isFinite ? 100 * found / difference.base : nil
    }
  }

  private static func verdict(_ difference: ArmDifference?, marginPercent: Int) -> Verdict {
    guard let difference else { return .undecided }
    let width = difference.halfWidth(error: error)
    guard width.isFinite else { return .undecided }
    let (lower, upper) = (difference.mean - width, difference.mean + width)
    if upper < 0 { return .better }
    if lower > 0 { return .worse }
    let margin = difference.base * Double(marginPercent) / 100
    return lower >= -margin && upper <= margin ? .equivalent : .undecided
  }

  private static func isBroken(_ rule: ExperimentGuard, _ pairs: [ExperimentSums.Pair]) -> Bool {
    let difference = ArmDifference(rule.measure, isPerSession: rule.isPerSession, pairs)
    guard let difference else { return false }
    let width = difference.oneSidedWidth(error: guardError)
    guard width.isFinite else { return false }
    let worse = rule.mayNotFall ? -difference.mean : difference.mean
    return worse - width > difference.base * rule.tolerancePercent / 100
  }

  /// Computes empirical Bayes estimates, from the variance between networks beyond chance (DerSimonian and
  /// Laird, "Meta-analysis in clinical trials", 1986).
  private static func byNetwork(
    _ sums: ExperimentSums, _ all: ArmDifference?
  ) -> [NetworkDifference] {
    guard let all, all.base > 0, sums.networks.count > 1 else { return [] }
    let known = sums.networks.sorted { $0.key < $1.key }.compactMap { network, pair in
      ArmDifference(.loaders, isPerSession: false, [pair]).flatMap { difference in
        difference.variance > 0 ? (network.text, difference) : nil
      }
    }
    let weights = known.reduce(0.0) { $0 + 1 / $1.1.variance }
    let squares = known.reduce(0.0) { $0 + 1 / ($1.1.variance * $1.1.variance) }
    guard known.count > 1, weights > 0 else { return [] }
    let mean = known.reduce(0.0) { $0 + $1.1.mean / $1.1.variance } / weights
    let spread = known.reduce(0.0) {
      $0 + ($1.1.mean - mean) * ($1.1.mean - mean) / $1.1.variance
    }
    let between = max(0, (spread - Double(known.count - 1)) / (weights - squares / weights))
    return known.map { network, difference in
      let trust = between / (between + difference.variance)
      return NetworkDifference(
        network: network, percent: 100 * difference.mean / all.base,
        shrunkPercent: 100 * (trust * difference.mean + (1 - trust) * all.mean) / all.base)
    }
  }

  /// The difference in percent of the loaders of `a`, with its interval.
  package var percent: (mean: Double, lower: Double, upper: Double)? {
    guard let difference, difference.base > 0 else { return nil }
    let width = difference.halfWidth(error: Self.error)
    guard width.isFinite else { return nil }
    return (
      100 * difference.mean / difference.base, 100 * (difference.mean - width) / difference.base,
      100 * (difference.mean + width) / difference.base
    )
  }

  /// For example `12.3 % fewer loaders (-16.6 to -8.0 %), 20010 of 40000 sessions with it`.
  package var words: String {
    let counts = "\(sessions.b) of \(sessions.a + sessions.b) sessions with it"
    guard let percent else { return "not enough data yet, \(counts)" }
    func number(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
    let direction = percent.mean < 0 ? "fewer" : "more"
    return "\(number(abs(percent.mean))) % \(direction) loaders "
      + "(\(number(percent.lower)) to \(number(percent.upper)) %), \(counts)"
  }

  /// Whether the sessions, the differences, the verdicts, the broken guards and the shares are equal.
  package static func == (left: Self, right: Self) -> Bool {
    left.sessions == right.sessions && left.difference == right.difference
      && left.verdict == right.verdict && left.brokenGuards == right.brokenGuards
      && left.sharesAreWrong == right.sharesAreWrong
  }

  /// Hashes the difference and the verdict.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(difference)
    hasher.combine(verdict)
  }
}

extension JSONWriter {
  /// Writes a finding as an object.
  package mutating func finding(_ finding: ExperimentFinding) {
    func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }
    object { writer in
      writer.member("words", finding.words)
      writer.member("verdict", finding.verdict.rawValue)
      writer.array("sessions") { writer in
        writer.integer(finding.sessions.a)
        writer.integer(finding.sessions.b)
      }
      if min(finding.sessions.a, finding.sessions.b) >= ArmDifference.leastSessions,
        let a = finding.loadersPerThousand.a, let b = finding.loadersPerThousand.b
      {
        writer.array("loadersPer1000") { writer in
          writer.number(rounded(a))
          writer.number(rounded(b))
        }
        if let a = finding.bytesPerSession.a, let b = finding.bytesPerSession.b {
          writer.array("bytesPerSession") { writer in
            writer.integer(Int(a))
            writer.integer(Int(b))
          }
        }
      }
      if let percent = finding.percent {
        writer.key("percent")
        writer.number(rounded(percent.mean))
        writer.array("interval") { writer in
          writer.number(rounded(percent.lower))
          writer.number(rounded(percent.upper))
        }
      }
      if let detectable = finding.detectablePercent {
        writer.key("detectablePercent")
        writer.number(rounded(detectable))
      }
      writer.array("brokenGuards") { writer in
        for rule in finding.brokenGuards { writer.string(rule.words) }
      }
      writer.key("sharesAreWrong")
      writer.boolean(finding.sharesAreWrong)
      guard !finding.networks.isEmpty else { return }
      writer.array("networks") { writer in
        for network in finding.networks {
          writer.object { writer in
            writer.member("network", network.network)
            writer.key("percent")
            writer.number(rounded(network.percent))
            writer.key("shrunkPercent")
            writer.number(rounded(network.shrunkPercent))
          }
        }
      }
    }
  }
}
