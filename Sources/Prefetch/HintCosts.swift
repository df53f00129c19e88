/// All of a policy that hints rest on, and the network's bandwidth: the same costs give each item the same
/// hint. Few policies of a server differ in them, and the bandwidth matters only for files of which is known
/// how far their bytes play.
public struct HintCosts: Hashable, BitwiseCopyable, Sendable {
  let imageWeight: Int
  let videoWeight: Int
  let webappWeight: Int
  let adWeight: Int
  let textWeight: Int
  let carouselVisibleParts: Int
  let videoStartBytes: Int
  let videoBytes: Int
  let videoKbps: Int
  let imageBytes: Int
  let webappBytes: Int
  /// 0 where no file asks for it.
  let downlinkKbps: Int
}

extension Policy {
  /// What its hints rest on, and nothing else of it.
  ///
  /// - Parameter downlinkKbps: the network's bandwidth; with 0, the costs of items that do not depend on it
  ///   (`ItemLoad.dependsOnDownlink`).
  public func costs(downlinkKbps: Int) -> HintCosts {
    HintCosts(
      imageWeight: imageWeight, videoWeight: videoWeight, webappWeight: webappWeight,
      adWeight: adWeight, textWeight: textWeight, carouselVisibleParts: carouselVisibleParts,
      videoStartBytes: videoStartBytes, videoBytes: videoBytes, videoKbps: videoKbps,
      imageBytes: imageBytes, webappBytes: webappBytes, downlinkKbps: downlinkKbps)
  }

  /// What the item costs under this policy on the network.
  public func hint(for item: ItemLoad, on network: NetworkProfile) -> Hint {
    costs(downlinkKbps: network.downlinkKbps).hint(for: item)
  }
}
