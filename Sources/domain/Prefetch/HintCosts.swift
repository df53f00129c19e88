/// All of a policy that hints rest on, the network's bandwidth, and how wide the client shows files: the same
/// costs give each item the same hint. Few policies of a server differ in them, and the bandwidth matters
/// only for files of which is known how far their bytes play.
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
  /// How wide the client shows files, in its own pixels; 0 where it does not say, or no file asks for it.
  let widthPixels: Int

  /// Whether a variant may be loaded in place of a file.
  public var choosesVariants: Bool { widthPixels > 0 }
}

extension Policy {
  /// What its hints rest on, and nothing else of it.
  ///
  /// - Parameters:
  ///   - downlinkKbps: the network's bandwidth; with 0, the costs of items that do not depend on it
  ///     (`ItemLoad.dependsOnDownlink`).
  ///   - widthPixels: how wide the client shows files; with 0, the costs of the files themselves, and of
  ///     items that have no variants (`ItemLoad.hasVariants`).
  public func costs(downlinkKbps: Int, widthPixels: Int = 0) -> HintCosts {
    HintCosts(
      imageWeight: imageWeight, videoWeight: videoWeight, webappWeight: webappWeight,
      adWeight: adWeight, textWeight: textWeight, carouselVisibleParts: carouselVisibleParts,
      videoStartBytes: videoStartBytes, videoBytes: videoBytes, videoKbps: videoKbps,
      imageBytes: imageBytes, webappBytes: webappBytes, downlinkKbps: downlinkKbps,
      widthPixels: widthPixels)
  }

  /// What the item costs under this policy on the network.
  ///
  /// - Parameter widthPixels: how wide the client shows files, 0 where it does not say.
  public func hint(
    for item: ItemLoad, on network: NetworkProfile, widthPixels: Int = 0
  ) -> Hint {
    costs(downlinkKbps: network.downlinkKbps, widthPixels: widthPixels).hint(for: item)
  }
}
