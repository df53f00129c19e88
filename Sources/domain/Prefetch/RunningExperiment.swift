import Feed

/// A running experiment: some sessions on a feed and network load by another policy than the one in force.
///
/// Arm `a` is the policy in force, arm `b` the other one. A client draws its arm from the experiment's salt
/// and a number that only the client knows, so that the server need not know the client.
public struct RunningExperiment: Hashable, Sendable {
  /// The experiment's number.
  public let id: Int
  /// The feed whose policy is tried; `nil` for all feeds without a policy of their own.
  @ByBytes public private(set) var feed: String?
  /// The network; `nil` for all.
  @ByBytes public private(set) var network: String?
  /// Letters and digits that make the experiment's draws independent of those of others.
  public let salt: String
  /// The share of sessions in arm `b`, in thousandths.
  public let sharePermille: Int
  /// The policy of arm `b`: its strategy, its weights of images and videos, and its name. All other values
  /// are those of the policy in force.
  public let setting: Policy

  /// Creates an experiment.
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
  /// - Parameter number: the client's random number, kept for the session.
  public func arm(of number: UInt32) -> ExperimentArm { draw.arm(of: number) }

  /// The data that clients receive.
  public var draw: ExperimentDraw {
    ExperimentDraw(id: id, salt: salt, shares: [1_000 - sharePermille, sharePermille])
  }
}

/// The data with which a client draws its arm: `prefetch.experiment` of a page.
public struct ExperimentDraw: Hashable, Sendable {
  /// The experiment's number.
  public let id: Int
  /// The experiment's salt.
  public let salt: String
  /// The share of sessions of each arm, relative to the sum of all, in the arms' order.
  public let shares: [Int]

  /// Creates the data of a page.
  public init(id: Int, salt: String, shares: [Int]) {
    (self.id, self.salt, self.shares) = (id, salt, shares)
  }

  /// The arm of a client: FNV-1a over the salt and the number's four bytes, least significant first, then the
  /// finalizer of MurmurHash3.
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

  /// The name of the arm in reports of its sessions, such as `7.b`.
  public func name(of arm: ExperimentArm) -> String { "\(id).\(arm.rawValue)" }
}

/// An arm of an experiment.
public enum ExperimentArm: String, CaseIterable, Hashable, Sendable {
  /// The policy in force.
  case a
  /// The other policy.
  case b
}

extension Policy {
  /// The policy with the strategy, the weights of images and videos, and the name of another.
  public func with(_ setting: Policy) -> Policy {
    var policy = self
    policy.name = setting.name
    policy.strategy = setting.strategy
    policy.imageWeight = setting.imageWeight
    policy.videoWeight = setting.videoWeight
    return policy
  }

  /// The article's policies, with which the project began: five items regardless of weight, and more at once
  /// on a faster network.
  public static let ofArticle: [Policy] =
    [Policy(name: "plain-5", strategy: .plain(leading: 5))]
    + [10, 5, 3, 2].map {
      Policy(name: "weighted-\($0)", strategy: .weighted(leading: $0, maxCost: $0))
    }
}
