import LinkModel
import Prefetch

/// What is measured: a policy, as a client has it.
package struct Contestant: Hashable, Sendable {
  /// What tables call it.
  package var name: String
  /// Its strategy, and what items cost by it.
  package var policy: Policy
  /// What bounds the engine.
  package var settings: PrefetchSettings
  /// Whether a server tells how large files are and how they start; else the policy's guesses apply.
  package var isHinted: Bool
  /// Whether it tells how long people watch items, as far as it has learned that.
  package var isLearned = true

  /// A client of this policy.
  package init(
    name: String, policy: Policy, settings: PrefetchSettings = PrefetchSettings(),
    isHinted: Bool = true
  ) {
    self.name = name
    self.policy = policy
    self.settings = settings
    self.isHinted = isHinted
  }

  /// A client of this strategy, with the articles' values for what items cost.
  package init(_ strategy: Policy.Strategy, isHinted: Bool = true) {
    self.init(
      name: strategy.title, policy: Policy(name: strategy.name, strategy: strategy),
      isHinted: isHinted)
  }
}

extension Policy.Strategy {
  /// Its name and its parameters: `weighted leading=5 maxCost=5`.
  package var title: String {
    ([name] + parameters.map { "\($0.name)=\($0.value)" }).joined(separator: " ")
  }
}

/// A network to measure on.
package struct LabNetwork: Hashable, Sendable {
  /// What tables call it.
  package let name: String
  /// What it is like.
  package internal(set) var schedule: LinkSchedule
  /// How requests go over it.
  package var link: LinkSettings
  /// What the client takes for granted before it has measured; `nil` where nothing is known.
  let expected: LinkConditions?
  /// Its schedule plays from its beginning, and not from a moment that the run draws.
  var beginsAtTop = false

  /// Whether it was recorded, and is no profile.
  var isRecorded: Bool { expected == nil }

  /// A profile's network: the client knows which one it is.
  package init(_ profile: NetworkProfile, link: LinkSettings = LinkSettings()) {
    name = profile.name
    schedule = LinkSchedule(profile)
    self.link = link
    expected = LinkConditions(profile)
  }

  /// A profile's network as `ShapedLink` makes it, of which the client library knows nothing before it has
  /// measured: no TLS, windows that do not shrink at rest.
  package init(shaped profile: NetworkProfile) {
    name = profile.name
    schedule = LinkSchedule(profile)
    link = LinkSettings()
    link.connections = 32
    link.setupRoundTrips = 1
    link.thinkMilliseconds = 1
    link.requestBytes = 250
    link.idleRestartMilliseconds = 1_000_000_000
    expected = nil
  }

  /// A recorded network, played from a moment that the run draws.
  package init(name: String, trace: LinkSchedule, link: LinkSettings = LinkSettings()) {
    self.name = name
    schedule = trace
    self.link = link
    expected = nil
  }
}
