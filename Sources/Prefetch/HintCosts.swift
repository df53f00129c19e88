/// All of a policy that hints rest on: policies with the same costs give each item the same hint. Few
/// policies of a server differ in them.
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
}

extension Policy {
  /// What its hints rest on, and nothing else of it.
  public var costs: HintCosts {
    HintCosts(
      imageWeight: imageWeight, videoWeight: videoWeight, webappWeight: webappWeight,
      adWeight: adWeight, textWeight: textWeight, carouselVisibleParts: carouselVisibleParts,
      videoStartBytes: videoStartBytes, videoBytes: videoBytes, videoKbps: videoKbps,
      imageBytes: imageBytes, webappBytes: webappBytes)
  }
}
