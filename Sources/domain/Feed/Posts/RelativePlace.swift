/// A relative place in a feed. The store computes a rank when it writes it, from what is written by then.
public enum RelativePlace: Hashable, Sendable {
  /// Above all others.
  case top
  /// Below all others that have a rank, and above those without.
  case bottom
  /// Directly below the item with this id, which has a rank in the feed.
  case after(ByteText)
  /// Directly above the item with this id, which has a rank in the feed.
  case before(ByteText)
}

/// Ranks with gaps between them.
public enum RankRoom {
  /// The distance between ranks if there is room.
  static let step = 1 << 20
  /// The rank of the first item of a feed.
  private static let origin = 1 << 32

  /// Returns a rank between those of the items directly above and below, if they exist; `nil` if there is
  /// no gap.
  public static func rank(below upper: Int?, above lower: Int?) -> Int? {
    let greatest = SortKey.rankRange.upperBound
    switch (upper, lower) {
    case (nil, nil): return origin
    case (nil, let lower?):
      guard lower > 0 else { return nil }
      return lower >= 2 * step ? lower - step : lower / 2
    case (let upper?, nil):
      guard upper < greatest else { return nil }
      return greatest - upper >= step ? upper + step : upper + 1 + (greatest - upper - 1) / 2
    case (let upper?, let lower?):
      return lower - upper >= 2 ? upper + (lower - upper) / 2 : nil
    }
  }

  /// The maximum number of items below that `shift` gives other ranks.
  public static let shiftLimit = 64

  /// Returns a rank directly below `upper`, and new ranks for the items below it, so that they stay below.
  /// It moves as few items as possible, as far apart as possible. `nil` if more than `shiftLimit` would
  /// have to move.
  ///
  /// - Parameter ranks: The ranks of the items below, from the top: all of them, or one more than
  ///   `shiftLimit`.
  public static func shift(_ ranks: [Int], below upper: Int?) -> (rank: Int, shifted: [Int])? {
    for step in [step, 1 << 10, 1] {
      // Cannot overflow: ranks are far below `Int.max`.
      let rank = (upper ?? -1) + step
      var shifted: [Int] = []
      var last = rank
      while shifted.count < ranks.count, ranks[shifted.count] <= last {
        last += step
        shifted.append(last)
      }
      if shifted.count <= shiftLimit, SortKey.rankRange.contains(last) {
        return (rank, shifted)
      }
    }
    return nil
  }

  /// Returns the rank of the item at this offset from the top when all items get new ranks.
  public static func spread(_ offset: Int) -> Int { origin + offset * step }
}
