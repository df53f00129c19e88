import Feed

/// An experiment that runs: of the sessions on a feed and network some load by another policy than the one in force.
///
/// Arm `a` is the policy in force, arm `b` the other one. A client draws its arm itself, from a number that it alone
/// knows and the experiment's salt, so that the server need not know the client.
public struct RunningExperiment: Hashable, Sendable {
  /// Its number.
  public let id: Int
  /// Whose policy is tried; `nil` for all feeds without a policy of their own.
  @ByBytes public private(set) var feed: String?
  /// On which network; `nil` for all.
  @ByBytes public private(set) var network: String?
  /// Makes the draws of an experiment independent of those of others: letters and digits.
  public let salt: String
  /// How many of a thousand sessions are to have the arm `b`.
  public let sharePermille: Int
  /// What the arm `b` loads by: the strategy, what images and videos weigh, and its name. All else is as in the policy in
  /// force.
  public let setting: Policy

  /// An experiment of these.
  public init(
    id: Int, feed: String?, network: String?, salt: String, sharePermille: Int, setting: Policy
  ) {
    self.id = id
    self.salt = salt
    self.sharePermille = sharePermille
    self.setting = setting
    self.feed = feed
    self.network = network
  }

  /// The arm of a client.
  ///
  /// - Parameter number: picked at random by the client, and kept for the session.
  public func arm(of number: UInt32) -> ExperimentArm {
    ExperimentDraw(id: id, salt: salt, shares: [1_000 - sharePermille, sharePermille])
      .arm(of: number)
  }
}

/// What a client must know of an experiment to draw its arm: `prefetch.experiment` of a page.
public struct ExperimentDraw: Hashable, Sendable {
  /// The experiment's number.
  public let id: Int
  /// Its salt.
  public let salt: String
  /// How many sessions are to have each arm, in the arms' order.
  public let shares: [Int]

  /// What a page says.
  public init(id: Int, salt: String, shares: [Int]) {
    (self.id, self.salt, self.shares) = (id, salt, shares)
  }

  /// The arm of a client: FNV-1a over the salt and the number's four bytes, the least first, mixed as MurmurHash3 ends.
  public func arm(of number: UInt32) -> ExperimentArm {
    var hash: UInt32 = 2_166_136_261
    func take(_ byte: UInt8) { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    for byte in salt.utf8 { take(byte) }
    for index in 0..<4 { take(UInt8(truncatingIfNeeded: number >> (8 * UInt32(index)))) }
    hash = (hash ^ hash >> 16) &* 0x85eb_ca6b
    hash = (hash ^ hash >> 13) &* 0xc2b2_ae35
    hash ^= hash >> 16
    let total = shares.reduce(0) { $0 + max(0, $1) }
    guard shares.count > 1, total > 0, total <= 1_000_000 else { return .a }
    return Int((UInt64(hash) * UInt64(total)) >> 32) < shares[0] ? .a : .b
  }

  /// What reports of the arm's sessions say: `7.b`.
  public func name(of arm: ExperimentArm) -> String { "\(id).\(arm.rawValue)" }
}

/// An arm of an experiment.
public enum ExperimentArm: String, CaseIterable, Hashable, Sendable {
  /// The policy in force.
  case a
  /// The other one.
  case b
}

extension Policy {
  /// The policy with another strategy, other weights of images and videos, and another name.
  public func with(_ setting: Policy) -> Policy {
    var policy = self
    policy.name = setting.name
    policy.strategy = setting.strategy
    policy.imageWeight = setting.imageWeight
    policy.videoWeight = setting.videoWeight
    return policy
  }

  /// The article's policies, by which the project began: five items whatever they weigh, and more at once on a faster
  /// network.
  public static let ofArticle: [Policy] =
    [Policy(name: "plain-5", strategy: .plain(leading: 5))]
    + [10, 5, 3, 2].map {
      Policy(name: "weighted-\($0)", strategy: .weighted(leading: $0, maxCost: $0))
    }
}
