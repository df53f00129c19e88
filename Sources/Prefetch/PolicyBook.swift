/// The network profiles, and the policy for each feed on each of them.
public struct PolicyBook: Sendable {
  /// From the fastest to the slowest.
  public let networks: [NetworkProfile]
  private let policies: [Key: Policy]

  /// A feed and a network; without a feed, every feed that has no policy of its own.
  public struct Key: Hashable, Sendable {
    public let feed: String?
    public let network: String

    public init(feed: String?, network: String) {
      self.feed = feed
      self.network = network
    }
  }

  public init(networks: [NetworkProfile], policies: [Key: Policy]) {
    self.networks = networks.sorted {
      ($0.downlinkKbps, $1.name) > ($1.downlinkKbps, $0.name)
    }
    self.policies = policies
  }

  /// The policy in force for the feed on the network: its own, or else the one for all feeds.
  public func policy(feed: String?, network: NetworkProfile) -> Policy {
    policies[Key(feed: feed, network: network.name)]
      ?? policies[Key(feed: nil, network: network.name)]
      ?? Policy(name: "none", strategy: .plain, maxCost: 0, leading: 0, trailing: 0)
  }

  /// The feeds that have policies of their own, by name.
  public var feeds: [String] {
    Set(policies.keys.compactMap(\.feed)).sorted()
  }
}

/// Where network profiles and policies are kept.
public protocol PolicyStore: Sendable {
  /// The profiles and policies in force.
  func policyBook() throws -> PolicyBook
}
