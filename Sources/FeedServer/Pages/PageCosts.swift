import Feed
import Prefetch

/// What a page's hints are by, and the hashes by which records of items say what theirs are by.
///
/// Most items cost the same on every network: their records are by the policy's costs alone, so that pages
/// for all networks find them as they need them.
struct PageCosts {
  private let costs: HintCosts
  private let hash: ContentHash
  private let downlinkHash: ContentHash

  init(_ policy: Policy, on network: NetworkProfile) {
    costs = policy.costs(downlinkKbps: network.downlinkKbps)
    downlinkHash = Self.hash(of: costs)
    hash = Self.hash(of: policy.costs(downlinkKbps: 0))
  }

  private static func hash(of costs: HintCosts) -> ContentHash {
    Swift.withUnsafeBytes(of: costs) { ContentHash($0) }
  }

  /// What the item costs.
  func hint(for item: ItemLoad) -> Hint { costs.hint(for: item) }

  /// What a record says of the costs that its hint is by.
  func hash(dependsOnDownlink: Bool) -> ContentHash { dependsOnDownlink ? downlinkHash : hash }
}
