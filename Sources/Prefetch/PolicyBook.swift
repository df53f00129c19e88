import Feed

/// The network profiles, and the policy for each feed on each of them.
public struct PolicyBook: Sendable {
  /// From the fastest to the slowest.
  public let networks: [NetworkProfile]
  private let policies: [Key: Policy]
  /// Why the book is not the one that is written by now, but the last one before that was understood whole.
  public var problem: PolicyError?

  /// A feed and a network; without a feed, every feed that has no policy of its own.
  public struct Key: Hashable, Sendable {
    /// The feed's name; `nil` for every feed that has no policy of its own.
    @ByBytes public private(set) var feed: String?
    /// The network profile's name.
    @ByBytes public private(set) var network: String

    /// The key of a feed's policy on a network.
    public init(feed: String?, network: String) {
      self.feed = feed
      self.network = network
    }
  }

  /// A book of these profiles, which may come in any order, and policies.
  public init(networks: [NetworkProfile], policies: [Key: Policy]) {
    self.networks = networks.sorted {
      ($0.downlinkKbps, ByteText($1.name)) > ($1.downlinkKbps, ByteText($0.name))
    }
    self.policies = policies
  }

  /// The policy in force for the feed on the network: its own, or else the one for all feeds, or else
  /// one that loads nothing ahead.
  public func policy(feed: String?, network: NetworkProfile) -> Policy {
    policies[Key(feed: feed, network: network.name)]
      ?? policies[Key(feed: nil, network: network.name)]
      ?? Policy(name: "none", strategy: .plain(leading: 0), trailing: 0)
  }

  /// The feeds that have policies of their own, by name.
  public var feeds: [String] {
    Set(policies.keys.compactMap(\.feed).map(ByteText.init)).sorted().map(\.text)
  }
}
