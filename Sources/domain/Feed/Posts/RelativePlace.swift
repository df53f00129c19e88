/// A place in a feed in words. A store makes a rank of it when it writes it, whatever others have written until then.
public enum RelativePlace: Hashable, Sendable {
  /// Above all others.
  case top
  /// Below all others that have a rank, and above those that have none.
  case bottom
  /// Directly below the item with this id, which has a rank in the feed.
  case after(ByteText)
  /// Directly above the item with this id, which has a rank in the feed.
  case before(ByteText)
}

/// Ranks with room between them.
public enum RankRoom {
  /// How far ranks are from each other where nothing is in the way.
  static let step = 1 << 20
  /// The rank of the first item of a feed.
  private static let origin = 1 << 32

  /// A rank between those of the items directly above and below, as far as there are such; nil where there is none.
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

  /// How many items below are given other ranks at the most, as long as that is enough.
  public static let shiftLimit = 64

  /// A rank directly below `upper`, and those that the items below it get so that they stay below it: as few as make
  /// room, as far apart as they can be. Nil where that takes more than `shiftLimit` of them.
  ///
  /// - Parameter ranks: those of the items below, from the top, all of them or `shiftLimit` and one more.
  public static func shift(_ ranks: [Int], below upper: Int?) -> (rank: Int, shifted: [Int])? {
    for step in [step, 1 << 10, 1] {
      // Ranks are far below the greatest number.
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

  /// The rank of the item at this offset from the top, where all get other ones.
  public static func spread(_ offset: Int) -> Int { origin + offset * step }
}
