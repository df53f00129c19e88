import Feed
import JSON

/// A decision about an experiment, and its reason.
package struct ExperimentDecision: Hashable, Sendable {
  /// The step to take.
  package let kind: ExperimentStep.Kind
  /// The share of the arm `b` from then on, in thousandths of the sessions.
  package let sharePermille: Int
  /// The reason, as a clause.
  package let reason: String
  /// The finding on which it is based.
  package let finding: ExperimentFinding?

  /// Creates a decision.
  package init(
    _ kind: ExperimentStep.Kind, sharePermille: Int = 0, reason: String,
    finding: ExperimentFinding? = nil
  ) {
    self.kind = kind
    self.sharePermille = sharePermille
    self.reason = reason
    self.finding = finding
  }

  /// Returns the evidence of the step: a JSON object.
  ///
  /// For an applied policy it has the expected loaders in the form of the lab's evidence: those that the
  /// experiment measured.
  package func evidence(of experiment: PolicyExperiment) -> [UInt8] {
    var writer = JSONWriter(capacity: 1_024)
    writer.object { writer in
      writer.member("experiment", experiment.id)
      writer.member("reason", reason)
      guard let finding else { return }
      writer.key("finding")
      writer.finding(finding)
      guard kind == .applied, let loaders = finding.loadersPerThousand.b else { return }
      writer.array("judged") { writer in
        writer.object { writer in
          writer.member("setting", experiment.setting.name)
          writer.key("loaders")
          writer.number((loaders * 100).rounded() / 100)
        }
      }
    }
    return writer.bytes
  }
}

extension PolicyExperiment {
  /// The duration in hours of a stage without a result, before the next one begins.
  private static let stageHours = 3

  /// Returns the step to take now; `nil` if there is none.
  ///
  /// - Parameters:
  ///   - finding: The current finding of its sums.
  ///   - sums: The sums.
  ///   - hour: The current time, in hours since 1970.
  package func decision(
    _ finding: ExperimentFinding, _ sums: ExperimentSums, atHour hour: Int
  ) -> ExperimentDecision? {
    guard isRunning, let last = steps.last else { return nil }
    if finding.sharesAreWrong {
      let (a, b) = finding.sessions
      return ExperimentDecision(
        .stopped,
        reason: "the shares are wrong: \(a) sessions have arm a, \(b) have arm b; clients that do "
          + "not draw an arm, or caches that drop arm=b, cause this", finding: finding)
    }
    if kind == .holdout {
      guard finding.verdict == .better else { return nil }
      return ExperimentDecision(
        .takenBack, reason: "the previous policy has \(finding.words)", finding: finding)
    }
    if let broken = finding.brokenGuards.first {
      return ExperimentDecision(
        .rolledBack, reason: "it broke a guard: \(broken.words)", finding: finding)
    }
    if finding.verdict == .worse {
      return ExperimentDecision(
        .rolledBack, reason: "it has \(finding.words)", finding: finding)
    }
    let isAtTop = last.sharePermille >= limits.sharePermille
    if isAtTop, finding.verdict == .better {
      return ExperimentDecision(.applied, reason: "it has \(finding.words)", finding: finding)
    }
    if isAtTop, finding.verdict == .equivalent {
      return ExperimentDecision(
        .ended, reason: "no difference of \(limits.marginPercent) % or more: \(finding.words)",
        finding: finding)
    }
    if hour >= sums.sinceHour + limits.days * 24 {
      return ExperimentDecision(
        .ended, reason: "undecided after \(limits.days) days: \(finding.words)", finding: finding)
    }
    guard !isAtTop, hour > last.hour, let stage = sums.stages.last,
      stage.arms.b.sessions >= ArmDifference.leastSessions || hour >= last.hour + Self.stageHours
    else { return nil }
    let next = limits.ramp.first { $0 > last.sharePermille } ?? limits.sharePermille
    return ExperimentDecision(
      .ramped, sharePermille: next, reason: "no evidence against it: \(finding.words)",
      finding: finding)
  }
}
