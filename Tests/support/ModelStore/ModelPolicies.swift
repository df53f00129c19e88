import Feed
import Prefetch

/// The networks and policies of the model: those with which every store begins.
struct ModelPolicies {
  private let networks: [NetworkProfile]
  var policies: [PolicyBook.Key: Policy]

  var book: PolicyBook { PolicyBook(networks: networks, policies: policies) }

  mutating func rename(_ feed: String, to name: String) {
    for network in networks {
      let policy = policies.removeValue(forKey: .init(feed: feed, network: network.name))
      if let policy { policies[.init(feed: name, network: network.name)] = policy }
    }
  }

  mutating func remove(_ feed: String) {
    for network in networks { policies[.init(feed: feed, network: network.name)] = nil }
  }

  static let first: ModelPolicies = {
    let networks = [
      network("lte", "LTE", 50_000, 10_000, 115, effectiveType: "4g"),
      network("wifi", "Wi-Fi", 40_000, 33_000, 2),
      network("dsl", "DSL", 2_000, 256, 10),
      network(
        "very-bad", "Very bad network", 1_000, 1_000, 1_000, loss: 10, effectiveType: "slow-2g"),
      network("3g", "3G", 780, 330, 200, effectiveType: "3g", isDefault: true),
      network("edge", "EDGE", 240, 200, 800, effectiveType: "2g"),
      network("offline", "100 % loss", 0, 0, 0, loss: 100),
    ]
    var policies: [PolicyBook.Key: Policy] = [:]
    for network in networks {
      policies[.init(feed: nil, network: network.name)] =
        network.downlinkKbps == 0
        ? Policy(name: "weighted-0", strategy: .weighted(leading: 0, maxCost: 0))
        : Policy(name: "expected-wait", strategy: .expectedWait(WaitTuning()))
      policies[.init(feed: "featured", network: network.name)] = Policy(
        name: "plain-5", strategy: .plain(leading: 5))
    }
    return ModelPolicies(networks: networks, policies: policies)
  }()

  private static func network(
    _ name: String, _ title: String, _ downlink: Int, _ uplink: Int, _ roundTrip: Int,
    loss: Int = 0, effectiveType: String? = nil, isDefault: Bool = false
  ) -> NetworkProfile {
    NetworkProfile(
      name: name, title: title, downlinkKbps: downlink, uplinkKbps: uplink,
      roundTripMilliseconds: roundTrip, lossPercent: loss, effectiveType: effectiveType,
      isDefault: isDefault)
  }
}
