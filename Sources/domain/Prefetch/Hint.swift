import Feed

/// What an item costs to load ahead.
public struct Hint: Hashable, Sendable {
  /// In the policy's units.
  public let weight: Int
  /// What to load while the item is not active.
  public let minimumBytes: Int
  /// What to load when it is.
  public let entireBytes: Int
  /// Some of the bytes are the policy's defaults, because the truth is not known.
  public let isEstimated: Bool
}

extension HintCosts {
  /// What the item costs.
  public func hint(for item: ItemLoad) -> Hint {
    var costs = ItemCosts()
    costs.append(item, by: self)
    return hint(for: item, costing: costs)
  }

  /// What the item costs, which is the only one of these.
  public func hint(for item: ItemLoad, costing costs: ItemCosts) -> Hint {
    guard !item.media.isEmpty else {
      let bytes = unknownBytes(of: item)
      return Hint(
        weight: weight(of: item), minimumBytes: bytes.minimum, entireBytes: bytes.entire,
        isEstimated: bytes.entire > 0)
    }
    return costs.hint
  }

  /// How many of the item's media are seen at first.
  func visibleParts(of item: ItemLoad) -> Int {
    item.type == .carousel ? min(max(carouselVisibleParts, 1), item.media.count) : item.media.count
  }

  /// What the file costs that is loaded of this one and its variants.
  func cost(of media: MediaLoad) -> MediaCost {
    // Mostly there is nothing to choose: then the file is not copied.
    choosesVariants && media.hasVariants
      ? cost(ofFile: choice(of: media).file) : cost(ofFile: media)
  }

  /// What this very file costs.
  func cost(ofFile media: MediaLoad) -> MediaCost {
    switch media.kind {
    case .image:
      let bytes = media.bytes ?? imageBytes
      return MediaCost(
        startBytes: bytes, entireBytes: bytes, isStartEstimated: media.bytes == nil,
        isEntireEstimated: media.bytes == nil)
    case .video, .audio:
      if let bytes = media.bytes, let timing = media.timing {
        return MediaCost(
          timing, entireBytes: bytes, downlinkKbps: downlinkKbps,
          unknownStartBytes: videoStartBytes)
      }
      let entire =
        media.bytes ?? media.durationMilliseconds.map(bytes(ofVideoMilliseconds:)) ?? videoBytes
      // Where it starts to play is not known from its size: the start is the policy's either way,
      // unless the whole file is shorter.
      return MediaCost(
        startBytes: videoStartBytes, entireBytes: entire,
        isStartEstimated: media.bytes.map { $0 > videoStartBytes } ?? true,
        isEntireEstimated: media.bytes == nil)
    }
  }

  /// What the item counts towards `Policy.maxCost`.
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

  /// At least as many as the duration has, and no overflow for the longest that a record may have.
  private func bytes(ofVideoMilliseconds milliseconds: Int) -> Int {
    let (bits, overflow) = milliseconds.multipliedReportingOverflow(by: videoKbps)
    let bytes = bits / 8 + (bits % 8 > 0 ? 1 : 0)
    return overflow ? RecordLimits.fileBytes : min(bytes, RecordLimits.fileBytes)
  }

  /// The bytes of an item none of whose media is known.
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
