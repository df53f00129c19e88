import Feed

/// What one media file costs to load ahead, and which bytes of it those are.
struct MediaCost {
  /// What to load while the item is not active, in ascending order.
  let start: [Range<Int>]
  /// The bytes of `start`.
  let minimumBytes: Int
  /// The whole file.
  let entireBytes: Int
  /// `minimumBytes` rests on the policy's defaults, because the truth is not known.
  let isStartEstimated: Bool
  /// `entireBytes` does.
  let isEntireEstimated: Bool

  /// Some of it does.
  var isEstimated: Bool { isStartEstimated || isEntireEstimated }

  private init(
    start: [Range<Int>], entireBytes: Int, isStartEstimated: Bool, isEntireEstimated: Bool
  ) {
    self.start = start
    minimumBytes = start.reduce(0) { $0 + $1.count }
    self.entireBytes = entireBytes
    self.isStartEstimated = isStartEstimated
    self.isEntireEstimated = isEntireEstimated
  }

  /// Bytes from the file's first on.
  init(startBytes: Int, entireBytes: Int, isStartEstimated: Bool, isEntireEstimated: Bool) {
    let startBytes = min(startBytes, entireBytes)
    self.init(
      start: startBytes > 0 ? [0..<startBytes] : [], entireBytes: entireBytes,
      isStartEstimated: isStartEstimated, isEntireEstimated: isEntireEstimated)
  }

  /// What starts a video into which somebody has looked, on a link of so many kbit/s.
  ///
  /// - Parameter unknownStartBytes: what is loaded where nothing is known of how far its bytes play.
  init(_ timing: MediaTiming, entireBytes: Int, downlinkKbps: Int, unknownStartBytes: Int) {
    if !timing.isStartable {
      self.init(
        start: timing.neededRanges, entireBytes: entireBytes, isStartEstimated: false,
        isEntireEstimated: false)
      return
    }
    let hasLead = !timing.lead.isEmpty
    let startBytes =
      hasLead
      ? timing.leadBytes(atKbps: downlinkKbps) ?? entireBytes
      : max(timing.headBytes, unknownStartBytes)
    self.init(
      startBytes: max(startBytes, timing.headBytes), entireBytes: entireBytes,
      isStartEstimated: !hasLead && entireBytes > startBytes, isEntireEstimated: false)
  }
}

extension MediaTiming {
  /// What has to be there before playback starts, so that it never stalls at that bandwidth: the row of the
  /// next lower one. `nil` where there is none: then the whole file.
  func leadBytes(atKbps kilobitsPerSecond: Int) -> Int? {
    lead.last { $0.kilobitsPerSecond <= kilobitsPerSecond }?.bytes
  }
}
