import Feed

extension MediaLoad {
  /// The times by which bytes are needed: the curve, or without one, a straight line.
  func milestones(duration: Int, bytes: Int) -> [(time: Int, end: Int)] {
    guard let curve = timing?.curve, !curve.isEmpty else {
      return (1...8).map { (duration * $0 / 8, bytes / 8 * $0 + ($0 == 8 ? bytes % 8 : 0)) }
    }
    return curve.map { ($0.milliseconds, $0.bytes) } + [
      (max(duration, curve.last!.milliseconds), bytes)
    ]
  }

  /// The number of first bytes that play the file through this time: by the curve, linear between its points;
  /// without one, by the share of the duration. `nil` if the size or the duration is unknown.
  public func bytes(throughMilliseconds time: Int) -> Int? {
    guard let bytes, let duration = durationMilliseconds, duration > 0 else { return nil }
    guard time < duration else { return bytes }
    var before = (x: 0, y: timing?.headBytes ?? 0)
    for (at, end) in milestones(duration: duration, bytes: bytes) {
      if at >= time { return Interpolation.value(at: time, from: before, to: (at, end)) }
      before = (at, end)
    }
    return bytes
  }
}

/// Linear interpolation in integers.
enum Interpolation {
  /// The value at `x` on the line between two points, rounded up; beyond the line, that of its nearer end.
  static func value(at x: Int, from: (x: Int, y: Int), to: (x: Int, y: Int)) -> Int {
    guard x > from.x else { return from.y }
    guard x < to.x, to.y > from.y else { return to.y }
    let (span, part) = (UInt(to.x - from.x), UInt(x - from.x))
    let (quotient, rest) = span.dividingFullWidth(part.multipliedFullWidth(by: UInt(to.y - from.y)))
    return from.y + Int(quotient) + (rest > 0 ? 1 : 0)
  }
}
