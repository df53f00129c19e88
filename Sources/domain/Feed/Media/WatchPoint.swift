/// How many of those who began to watch an item still watch it.
public struct WatchPoint: Hashable, Sendable, Codable {
  /// So long after it became the active one. Where only the time of playback is known, give that.
  public var milliseconds: Int
  /// In thousandths.
  public var permille: Int

  /// A point of a survival curve.
  public init(milliseconds: Int, permille: Int) {
    self.milliseconds = milliseconds
    self.permille = permille
  }
}

extension [WatchPoint] {
  /// How many of a thousand still watch then: straight between the points, from all at 0; as at the last one behind it.
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
