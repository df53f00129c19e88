/// The inputs of hints: a policy's costs, the network's bandwidth, and the width at which the client shows
/// files. The same costs give each item the same hint. Few policies of a server differ in them, and the
/// bandwidth matters only for files whose timing says how far their bytes play.
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
  /// The bandwidth; 0 if no file depends on it.
  let downlinkKbps: Int
  /// The width at which the client shows files, in its own pixels; 0 if the client does not say, or if no
  /// file depends on it.
  let widthPixels: Int

  /// Whether a variant may be loaded in place of a file.
  public var choosesVariants: Bool { widthPixels > 0 }
}

extension Policy {
  /// The inputs of the policy's hints, without the rest of the policy.
  ///
  /// - Parameters:
  ///   - downlinkKbps: the network's bandwidth; 0 for the costs of items that do not depend on it
  ///     (`ItemLoad.dependsOnDownlink`).
  ///   - widthPixels: the width at which the client shows files; 0 for the costs of the files themselves, and
  ///     of items without variants (`ItemLoad.hasVariants`).
  public func costs(downlinkKbps: Int, widthPixels: Int = 0) -> HintCosts {
    HintCosts(
      imageWeight: imageWeight, videoWeight: videoWeight, webappWeight: webappWeight,
      adWeight: adWeight, textWeight: textWeight, carouselVisibleParts: carouselVisibleParts,
      videoStartBytes: videoStartBytes, videoBytes: videoBytes, videoKbps: videoKbps,
      imageBytes: imageBytes, webappBytes: webappBytes, downlinkKbps: downlinkKbps,
      widthPixels: widthPixels)
  }

  /// The cost of the item under this policy on the network.
  ///
  /// - Parameter widthPixels: the width at which the client shows files; 0 if it does not say.
  public func hint(
    for item: ItemLoad, on network: NetworkProfile, widthPixels: Int = 0
  ) -> Hint {
    costs(downlinkKbps: network.downlinkKbps, widthPixels: widthPixels).hint(for: item)
  }
}
