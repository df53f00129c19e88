import Feed

/// The cost of loading one media file ahead, and the bytes to load.
struct MediaCost {
  /// The number of bytes to load while the item is not active.
  let minimumBytes: Int
  /// The number of bytes of the whole file.
  let entireBytes: Int
  /// Whether `minimumBytes` is based on the policy's defaults, because the actual number is unknown.
  let isStartEstimated: Bool
  /// Whether `entireBytes` is based on them.
  let isEntireEstimated: Bool
  /// The ranges of the minimum bytes, in ascending order; empty if they are the file's first bytes.
  let pieces: [Range<Int>]

  /// Creates the cost of a file that its first bytes start.
  init(startBytes: Int, entireBytes: Int, isStartEstimated: Bool, isEntireEstimated: Bool) {
    minimumBytes = min(startBytes, entireBytes)
    self.entireBytes = entireBytes
    self.isStartEstimated = isStartEstimated
    self.isEntireEstimated = isEntireEstimated
    pieces = []
  }

  /// Creates the cost of a file whose first bytes show nothing.
  private init(pieces: [Range<Int>], entireBytes: Int) {
    minimumBytes = pieces.reduce(0) { $0 + $1.count }
    self.entireBytes = entireBytes
    isStartEstimated = false
    isEntireEstimated = false
    self.pieces = pieces
  }

  /// Creates the cost of a video whose structure is known, over a link of this bandwidth in kbit/s.
  ///
  /// - Parameter unknownStartBytes: the number of bytes to load if it is unknown how far the file's bytes
  ///   play.
  init(_ timing: borrowing MediaTiming, entireBytes: Int, downlinkKbps: Int, unknownStartBytes: Int)
  {
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
  /// The number of bytes that must be held before playback starts so that it never stalls at this bandwidth:
  /// that of the row with the highest bandwidth not above it. `nil` if there is no such row: then the whole
  /// file.
  func leadBytes(atKbps kilobitsPerSecond: Int) -> Int? {
    lead.last { $0.kilobitsPerSecond <= kilobitsPerSecond }?.bytes
  }
}

extension MediaLoad {
  /// The number of bytes that must be held for a person who watches no longer than this: all bytes up to then
  /// arrive in time if the first further ones arrive after `latencyMilliseconds`. It follows the curve, then
  /// a straight line from its last point to the end; without a curve, a line from the first frame. `nil` if
  /// the first frame, the size or the duration is unknown.
  func leadBytes(
    atKbps kilobitsPerSecond: Int, throughMilliseconds watched: Int, latencyMilliseconds: Int
  ) -> Int? {
    guard let bytes, let duration = durationMilliseconds, duration > 0 else { return nil }
    return withTiming { timing in
      var most = timing.headBytes
      var before = (x: 0, y: timing.headBytes)
      func look(at time: Int, before next: (x: Int, y: Int)) {
        guard time >= before.x, time <= min(next.x, watched) else { return }
        let needed = Interpolation.value(at: time, from: before, to: next)
        let (bits, overflow) = max(0, time - latencyMilliseconds)
          .multipliedReportingOverflow(by: kilobitsPerSecond)
        most = max(most, overflow ? 0 : needed - bits / 8)
      }
      func pass(_ next: (x: Int, y: Int)) {
        // The maximum is at a point of the curve, where the first further bytes arrive, or at the end.
        look(at: latencyMilliseconds, before: next)
        look(at: watched, before: next)
        look(at: next.x, before: next)
        before = next
      }
      for point in timing.curve {
        guard before.x < watched else { break }
        pass((point.milliseconds, point.bytes))
      }
      if before.x < min(watched, duration) { pass((duration, max(bytes, before.y))) }
      return min(most, bytes)
    }
  }
}
