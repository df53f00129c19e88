import Feed
import Prefetch

/// What a page's hints are by, and the hashes by which records of items say what theirs are by.
///
/// Most items cost the same on every network: their records are by the policy's costs alone, so that pages
/// for all networks find them as they need them.
struct PageCosts {
  /// The costs, of items that rest on the bandwidth and the width, and so good for all others, too.
  let costs: HintCosts
  private let hash: ContentHash
  private let downlinkHash: ContentHash
  private let widthHash: ContentHash

  /// - Parameter widthPixels: how wide the client shows files; nil where it does not say.
  init(_ policy: Policy, on network: NetworkProfile, widthPixels: Int?) {
    costs = policy.costs(downlinkKbps: network.downlinkKbps, widthPixels: widthPixels ?? 0)
    hash = Self.hash(of: policy.costs(downlinkKbps: 0))
    downlinkHash = Self.hash(of: policy.costs(downlinkKbps: network.downlinkKbps))
    widthHash = widthPixels == nil ? downlinkHash : Self.hash(of: costs)
  }

  private static func hash(of costs: HintCosts) -> ContentHash {
    Swift.withUnsafeBytes(of: costs) { ContentHash($0) }
  }

  /// What a record says of the costs that its hint is by.
  func hash(dependsOnDownlink: Bool, hasVariants: Bool) -> ContentHash {
    if hasVariants, costs.choosesVariants { return widthHash }
    return dependsOnDownlink ? downlinkHash : hash
  }
}
