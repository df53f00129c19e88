import Feed

/// What one media file costs to load ahead, and which bytes of it those are.
struct MediaCost {
  /// What to load while the item is not active.
  let minimumBytes: Int
  /// The whole file.
  let entireBytes: Int
  /// `minimumBytes` rests on the policy's defaults, because the truth is not known.
  let isStartEstimated: Bool
  /// `entireBytes` does.
  let isEntireEstimated: Bool
  /// Where those minimum bytes lie, in ascending order, where they are not the file's first ones.
  let pieces: [Range<Int>]

  /// Bytes from the file's first on.
  init(startBytes: Int, entireBytes: Int, isStartEstimated: Bool, isEntireEstimated: Bool) {
    minimumBytes = min(startBytes, entireBytes)
    self.entireBytes = entireBytes
    self.isStartEstimated = isStartEstimated
    self.isEntireEstimated = isEntireEstimated
    pieces = []
  }

  /// Bytes of a file whose first ones show nothing.
  private init(pieces: [Range<Int>], entireBytes: Int) {
    minimumBytes = pieces.reduce(0) { $0 + $1.count }
    self.entireBytes = entireBytes
    isStartEstimated = false
    isEntireEstimated = false
    self.pieces = pieces
  }

  /// What starts a video whose structure is known, on a link of this bandwidth in kbit/s.
  ///
  /// - Parameter unknownStartBytes: what is loaded where nothing is known of how far its bytes play.
  init(_ timing: MediaTiming, entireBytes: Int, downlinkKbps: Int, unknownStartBytes: Int) {
    guard timing.isStartable else {
      self.init(pieces: timing.neededRanges, entireBytes: entireBytes)
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

extension MediaLoad {
  /// What has to be there for who watches no longer than that: so that all bytes up to then come in time, where the
  /// first further ones come after `latencyMilliseconds`. By the curve, and a straight line from its last point to
  /// the end, or from the first frame where there is none. `nil` for an unknown first frame, how large it is or
  /// how long it plays.
  func leadBytes(
    atKbps kilobitsPerSecond: Int, throughMilliseconds watched: Int, latencyMilliseconds: Int
  ) -> Int? {
    guard let timing, let bytes, let duration = durationMilliseconds, duration > 0 else {
      return nil
    }
    var most = timing.headBytes
    var before = (x: 0, y: timing.headBytes)
    func pass(_ next: (x: Int, y: Int)) {
      // The most is at a point, where the first further bytes come, or at the end.
      for time in [latencyMilliseconds, watched, next.x]
      where time >= before.x && time <= min(next.x, watched) {
        let needed = Interpolation.value(at: time, from: before, to: next)
        let (bits, overflow) = max(0, time - latencyMilliseconds)
          .multipliedReportingOverflow(by: kilobitsPerSecond)
        most = max(most, overflow ? 0 : needed - bits / 8)
      }
      before = next
    }
    for point in timing.curve where before.x < watched { pass((point.milliseconds, point.bytes)) }
    if before.x < min(watched, duration) { pass((duration, max(bytes, before.y))) }
    return min(most, bytes)
  }
}
