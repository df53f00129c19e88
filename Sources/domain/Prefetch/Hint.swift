import Feed

/// The cost of loading an item ahead.
public struct Hint: Hashable, Sendable {
  /// The weight, in the policy's units.
  public let weight: Int
  /// The number of bytes to load while the item is not active.
  public let minimumBytes: Int
  /// The number of bytes to load while the item is active.
  public let entireBytes: Int
  /// Whether some of the bytes are the policy's defaults, because the actual sizes are unknown.
  public let isEstimated: Bool
}

extension HintCosts {
  /// The cost of the item.
  public func hint(for item: ItemLoad) -> Hint {
    var costs = ItemCosts()
    costs.append(item, by: self)
    return hint(for: item, costing: costs)
  }

  /// The cost of the item, which must be the only one in `costs`.
  public func hint(for item: ItemLoad, costing costs: ItemCosts) -> Hint {
    guard !item.media.isEmpty else {
      let bytes = unknownBytes(of: item)
      return Hint(
        weight: weight(of: item), minimumBytes: bytes.minimum, entireBytes: bytes.entire,
        isEstimated: bytes.entire > 0)
    }
    return costs.hint
  }

  /// The number of the item's media that are visible at first.
  func visibleParts(of item: ItemLoad) -> Int {
    item.type == .carousel ? min(max(carouselVisibleParts, 1), item.media.count) : item.media.count
  }

  /// The cost of the file that is loaded: this one, or one of its variants.
  func cost(of media: MediaLoad) -> MediaCost {
    // Usually there is nothing to choose; then the file is not copied.
    choosesVariants && media.hasVariants
      ? cost(ofFile: choice(of: media).file) : cost(ofFile: media)
  }

  /// The cost of this file, regardless of its variants.
  func cost(ofFile media: MediaLoad) -> MediaCost {
    switch media.kind {
    case .image:
      let bytes = media.bytes ?? imageBytes
      return MediaCost(
        startBytes: bytes, entireBytes: bytes, isStartEstimated: media.bytes == nil,
        isEntireEstimated: media.bytes == nil)
    case .video, .audio:
      let known = media.bytes.flatMap { bytes in
        media.withTiming {
          MediaCost(
            $0, entireBytes: bytes, downlinkKbps: downlinkKbps, unknownStartBytes: videoStartBytes)
        }
      }
      if let known { return known }
      let entire =
        media.bytes ?? media.durationMilliseconds.map(bytes(ofVideoMilliseconds:)) ?? videoBytes
      // The size does not say where the file starts to play: the start is the policy's default in either
      // case, unless the whole file is shorter.
      return MediaCost(
        startBytes: videoStartBytes, entireBytes: entire,
        isStartEstimated: media.bytes.map { $0 > videoStartBytes } ?? true,
        isEntireEstimated: media.bytes == nil)
    }
  }

  /// The amount that the item counts towards `Policy.maxCost`.
  func weight(of item: ItemLoad) -> Int {
    switch item.type {
    case .image: imageWeight
    case .video, .audio: videoWeight
    case .webapp: webappWeight
    case .ad: adWeight
    case .text: textWeight
    case .carousel:
      item.media.isEmpty
        ? imageWeight * max(carouselVisibleParts, 1)
        : item.media.prefix(visibleParts(of: item))
          .reduce(0) { $0 + ($1.kind.plays ? videoWeight : imageWeight) }
    }
  }

  /// The size of a video of this duration at the policy's bit rate, rounded up, at most
  /// `RecordLimits.fileBytes`. The longest duration of a record does not overflow.
  private func bytes(ofVideoMilliseconds milliseconds: Int) -> Int {
    let (bits, overflow) = milliseconds.multipliedReportingOverflow(by: videoKbps)
    let bytes = bits / 8 + (bits % 8 > 0 ? 1 : 0)
    return overflow ? RecordLimits.fileBytes : min(bytes, RecordLimits.fileBytes)
  }

  /// The numbers of bytes of an item without known media.
  private func unknownBytes(of item: ItemLoad) -> (minimum: Int, entire: Int) {
    switch item.type {
    case .image: (imageBytes, imageBytes)
    case .carousel:
      (imageBytes * max(carouselVisibleParts, 1), imageBytes * max(carouselVisibleParts, 1))
    case .video, .audio: (videoStartBytes, videoBytes)
    case .webapp, .ad: (webappBytes, webappBytes)
    case .text: (0, 0)
    }
  }
}
