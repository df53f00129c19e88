import Feed

/// What the lab predicted of a policy that it found, beside what clients reported since it is in force.
///
/// Sums are by the hour: that in which the policy was applied counts as a whole.
public struct PolicyOutcome: Hashable, Sendable {
  /// The feed whose policy it is; nil for all feeds that have none of their own.
  @ByBytes public private(set) var feed: String?
  /// The network profile's name.
  @ByBytes public private(set) var network: String
  /// The policy's name.
  @ByBytes public private(set) var policy: String
  /// When it became the policy.
  public let appliedAt: Timestamp
  /// How many loaders of 1000 items the lab predicted.
  public let predictedPerThousand: Double
  /// Half of that prediction's interval of 95 %; nil where the lab told none.
  public let predictedHalfWidth: Double?
  /// Without a feed: those that have a policy of their own on the network.
  private let otherFeeds: Set<ByteText>
  /// What sessions under the policy met since; empty as long as they are too few to be shown.
  public private(set) var met = ReportCell()

  /// A prediction beside which nothing stands yet.
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

  /// The first hour that counts, in hours since 1970.
  public var sinceHour: Int { Int(appliedAt.microseconds / 3_600_000_000) }

  private func has(_ key: ReportCellKey) -> Bool {
    key.hour >= sinceHour && key.policy.isSame(as: policy) && key.network.isSame(as: network)
      && (feed.map(key.feed.isSame) ?? !otherFeeds.contains(ByteText(key.feed)))
  }

  /// The outcomes with what was met.
  ///
  /// - Parameters:
  ///   - leastSessions: of fewer nothing is told.
  ///   - read: hands out every cell from an hour on; called once, unless there is no outcome.
  /// - Throws: what `read` throws.
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

  /// How what was met stands to what was predicted.
  public enum Verdict: String, Sendable {
    /// Their intervals meet.
    case asPredicted
    case fewer, more
  }

  /// The verdict; nil where too little was met.
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
