/// The share of viewers of an item that still watch it after a time.
public struct WatchPoint: Hashable, Sendable, Codable {
  /// The time since the item became active. If only the playback time is known, use that.
  public var milliseconds: Int
  /// The share of viewers that still watch, in thousandths.
  public var permille: Int

  /// Creates a point of a survival curve.
  public init(milliseconds: Int, permille: Int) {
    self.milliseconds = milliseconds
    self.permille = permille
  }
}

extension [WatchPoint] {
  /// Returns the share that still watches at a time, in thousandths: interpolated linearly between the
  /// points, from 1000 at 0; constant after the last point.
  public func permille(atMilliseconds time: Int) -> Double {
    var before = WatchPoint(milliseconds: 0, permille: 1_000)
    for point in self {
      if point.milliseconds >= time {
        let span = Double(point.milliseconds - before.milliseconds)
        let share = span > 0 ? Double(time - before.milliseconds) / span : 1
        return Double(before.permille) + share * Double(point.permille - before.permille)
      }
      before = point
    }
    return Double(before.permille)
  }
}
