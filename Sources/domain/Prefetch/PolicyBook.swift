import Feed

/// The network profiles, and the policy for each feed on each of them.
public struct PolicyBook: Sendable {
  /// The book's content. A class, since each request takes the book and few change it.
  private final class Content: Sendable {
    let networks: [NetworkProfile]
    let policies: [Policies]
    let feeds: [String]
    let experiments: [RunningExperiment]

    init(
      _ networks: [NetworkProfile], _ policies: [Policies], _ feeds: [String],
      _ experiments: [RunningExperiment]
    ) {
      self.networks = networks
      self.policies = policies
      self.feeds = feeds
      self.experiments = experiments
    }
  }

  private let content: Content
  /// The error in the policies that are stored now; this book is then the last one that was understood whole.
  public var problem: PolicyError?

  /// The policies on one network. A class, so that looking one up copies no other.
  private final class Policies: Sendable {
    let network: String
    /// The policy of every feed that has none of its own.
    let common: Policy?
    let ofFeeds: [ByteText: Policy]
    /// The evidence for those policies that the lab found.
    let commonEvidence: PolicyEvidence?
    let evidenceOfFeeds: [ByteText: PolicyEvidence]

    /// - Parameter keys: the keys of the network's policies.
    init(
      _ network: String, _ keys: [Key], _ policies: [Key: Policy],
      _ evidence: [Key: PolicyEvidence]
    ) {
      self.network = network
      func ofFeeds<Value>(_ values: [Key: Value]) -> [ByteText: Value] {
        Dictionary(
          uniqueKeysWithValues: keys.compactMap { key in
            key.feed.flatMap { feed in values[key].map { (ByteText(feed), $0) } }
          })
      }
      (self.ofFeeds, evidenceOfFeeds) = (ofFeeds(policies), ofFeeds(evidence))
      let common = keys.first { $0.feed == nil }
      self.common = common.flatMap { policies[$0] }
      commonEvidence = common.flatMap { evidence[$0] }
    }

    func policy(ofFeed feed: String?) -> Policy? {
      guard let feed, !ofFeeds.isEmpty else { return common }
      return ofFeeds[ByteText(feed)] ?? common
    }
  }

  /// A feed and a network; without a feed, all feeds that have no policy of their own.
  public struct Key: Hashable, Sendable {
    /// The feed's name; `nil` for all feeds that have no policy of their own.
    @ByBytes public private(set) var feed: String?
    /// The network profile's name.
    @ByBytes public private(set) var network: String

    /// The key of a feed's policy on a network.
    public init(feed: String?, network: String) {
      self.feed = feed
      self.network = network
    }
  }

  /// Creates a book of these profiles, in any order, and policies.
  ///
  /// - Parameters:
  ///   - evidence: the evidence for those policies that the lab found.
  ///   - experiments: the running experiments.
  public init(
    networks: [NetworkProfile], policies: [Key: Policy], evidence: [Key: PolicyEvidence] = [:],
    experiments: [RunningExperiment] = []
  ) {
    let byNetwork = Dictionary(grouping: policies.keys) { ByteText($0.network) }
    content = Content(
      networks.sorted {
        ($0.downlinkKbps, ByteText($1.name)) > ($1.downlinkKbps, ByteText($0.name))
      }, byNetwork.map { Policies($0.key.text, $0.value, policies, evidence) },
      Set(policies.keys.compactMap(\.feed).map(ByteText.init)).sorted().map(\.text),
      experiments.sorted { $0.id < $1.id })
  }

  /// The network profiles, from the fastest to the slowest.
  public var networks: [NetworkProfile] { content.networks }

  /// The feeds that have policies of their own, by name.
  public var feeds: [String] { content.feeds }

  /// The policy in force for the feed on the network: its own, else the one for all feeds, else one that
  /// loads nothing ahead.
  public func policy(feed: String?, network: NetworkProfile) -> Policy {
    // There are few: a linear search is faster than hashing.
    let policies = content.policies
    for index in policies.indices where policies[index].network.isSame(as: network.name) {
      if let policy = policies[index].policy(ofFeed: feed) { return policy }
    }
    return Policy(name: "none", strategy: .plain(leading: 0), trailing: 0)
  }

  /// The running experiments, in the order in which they began.
  public var experiments: [RunningExperiment] { content.experiments }

  /// The experiment on the feed's policy on the network. One on the feed itself takes precedence over one on
  /// all feeds without a policy of their own.
  public func experiment(feed: String?, network: NetworkProfile) -> RunningExperiment? {
    guard !content.experiments.isEmpty else { return nil }
    let here = content.experiments.filter { $0.network.map(network.name.isSame) ?? true }
    if let feed, let own = here.first(where: { $0.feed.map(feed.isSame) == true }) { return own }
    let policies = content.policies.first { $0.network.isSame(as: network.name) }
    if let feed, policies?.ofFeeds[ByteText(feed)] != nil { return nil }
    return here.first { $0.feed == nil }
  }

  /// The policy of an arm; without an experiment, the policy in force.
  public func policy(feed: String?, network: NetworkProfile, arm: ExperimentArm) -> Policy {
    let policy = policy(feed: feed, network: network)
    guard arm == .b, let experiment = experiment(feed: feed, network: network) else {
      return policy
    }
    return policy.with(experiment.setting)
  }

  /// A policy that the lab found and that has not changed since.
  public struct Found: Sendable {
    /// The policy's feed and network.
    public let key: Key
    /// The policy.
    public let policy: Policy
    /// The evidence for the policy.
    public let evidence: PolicyEvidence
    /// The feeds with a policy of their own on the network, if this is the policy of all other feeds;
    /// otherwise empty.
    public let otherFeeds: [String]
  }

  /// The policies that the lab found: by network in the order of `networks`, the policy of all feeds first,
  /// then by feed.
  public var found: [Found] {
    networks.flatMap { network -> [Found] in
      let policies = content.policies.first { $0.network.isSame(as: network.name) }
      guard let policies else { return [] }
      var found: [Found] = []
      if let common = policies.common, let evidence = policies.commonEvidence {
        found.append(
          Found(
            key: Key(feed: nil, network: network.name), policy: common, evidence: evidence,
            otherFeeds: policies.ofFeeds.keys.sorted().map(\.text)))
      }
      for (feed, evidence) in policies.evidenceOfFeeds.sorted(by: { $0.key < $1.key }) {
        guard let policy = policies.ofFeeds[feed] else { continue }
        found.append(
          Found(
            key: Key(feed: feed.text, network: network.name), policy: policy, evidence: evidence,
            otherFeeds: []))
      }
      return found
    }
  }

  /// The evidence for the policy in force for the feed on the network; `nil` if the lab did not find that
  /// policy.
  public func evidence(feed: String?, network: NetworkProfile) -> PolicyEvidence? {
    let policies = content.policies.first { $0.network.isSame(as: network.name) }
    guard let policies else { return nil }
    if let feed, policies.ofFeeds[ByteText(feed)] != nil {
      return policies.evidenceOfFeeds[ByteText(feed)]
    }
    return policies.commonEvidence
  }
}

/// The evidence for a policy that the lab found.
public struct PolicyEvidence: Hashable, Sendable {
  /// The time at which it became the policy.
  public let appliedAt: Timestamp
  /// The measurements, as a JSON object.
  public let json: [UInt8]

  /// Creates the evidence for a policy.
  public init(appliedAt: Timestamp, json: [UInt8]) {
    self.appliedAt = appliedAt
    self.json = json
  }
}
