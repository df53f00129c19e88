import Feed

/// The lab's prediction for a policy that it found, and what clients reported since the policy is in force.
///
/// Sums are by the hour: the hour in which the policy was applied is included as a whole.
public struct PolicyOutcome: Hashable, Sendable {
  /// The feed of the policy; `nil` for all feeds that do not have their own.
  @ByBytes public private(set) var feed: String?
  /// The network profile's name.
  @ByBytes public private(set) var network: String
  /// The policy's name.
  @ByBytes public private(set) var policy: String
  /// The time at which the policy came into force.
  public let appliedAt: Timestamp
  /// The number of loaders per 1000 items that the lab predicted.
  public let predictedPerThousand: Double
  /// Half of the 95 % interval of that prediction; `nil` if the lab gave none.
  public let predictedHalfWidth: Double?
  /// For a policy without a feed: the feeds that have their own policy on the network.
  private let otherFeeds: Set<ByteText>
  /// The sums of sessions under the policy since then; empty as long as they are too few to be shown.
  public private(set) var met = ReportCell()

  /// Creates a prediction without an outcome.
  public init(
    feed: String?, network: String, policy: String, appliedAt: Timestamp,
    predictedPerThousand: Double, predictedHalfWidth: Double?, otherFeeds: Set<ByteText> = []
  ) {
    self.feed = feed
    self.network = network
    self.policy = policy
    self.appliedAt = appliedAt
    self.predictedPerThousand = predictedPerThousand
    self.predictedHalfWidth = predictedHalfWidth
    self.otherFeeds = otherFeeds
  }

  /// The first hour of the sums, in hours since 1970.
  public var sinceHour: Int { Int(appliedAt.microseconds / 3_600_000_000) }

  private func has(_ key: ReportCellKey) -> Bool {
    key.hour >= sinceHour && key.policy.isSame(as: policy) && key.network.isSame(as: network)
      && (feed.map(key.feed.isSame) ?? !otherFeeds.contains(ByteText(key.feed)))
  }

  /// Returns the outcomes with the sums of sessions.
  ///
  /// - Parameters:
  ///   - leastSessions: The minimum number of sessions of an outcome that is shown.
  ///   - read: Passes every cell from an hour on to its argument; called once, unless there is no outcome.
  /// - Throws: Errors of `read`.
  public static func met(
    _ outcomes: [PolicyOutcome], leastSessions: Int,
    _ read: (Int, (ReportCellKey, ReportCell) throws -> Void) throws -> Void
  ) rethrows -> [PolicyOutcome] {
    guard let since = outcomes.map(\.sinceHour).min() else { return [] }
    var outcomes = outcomes
    try read(since) { key, cell in
      for index in outcomes.indices where outcomes[index].has(key) { outcomes[index].met.add(cell) }
    }
    for index in outcomes.indices where outcomes[index].met.sessions < leastSessions {
      outcomes[index].met = ReportCell()
    }
    return outcomes
  }

  /// A comparison of the outcome with the prediction.
  public enum Verdict: String, Sendable {
    /// The intervals overlap.
    case asPredicted
    case fewer, more
  }

  /// The comparison; `nil` if there are too few sessions.
  public var verdict: Verdict? {
    guard let interval = met.intervalPerThousand else { return nil }
    let half = predictedHalfWidth ?? 0
    if interval.upperBound < predictedPerThousand - half { return .fewer }
    return interval.lowerBound > predictedPerThousand + half ? .more : .asPredicted
  }

  /// For example `predicted 12 per 1000, met 14 (11 to 17)`.
  public var words: String {
    func figure(_ value: Double) -> String {
      value < 9.95 ? "\((value * 10).rounded() / 10)" : "\(Int(value.rounded()))"
    }
    let predicted = "predicted \(figure(predictedPerThousand)) per 1000"
    guard let middle = met.loadersPerThousand else {
      return "\(predicted), too few sessions measured"
    }
    guard let interval = met.intervalPerThousand else {
      return "\(predicted), met \(figure(middle))"
    }
    return "\(predicted), met \(figure(middle)) "
      + "(\(figure(interval.lowerBound)) to \(figure(interval.upperBound)))"
  }
}
