/// A distribution by its quantiles, straight between them: what is drawn is a whole number, and needs no
/// logarithm, which not every machine computes alike.
package struct Quantiles: Hashable, Sendable {
  /// A share of all values, in thousandths, which are no greater than the value.
  package struct Point: Hashable, Sendable {
    /// How many of a thousand.
    package let permille: Int
    /// The value.
    package let value: Int

    /// A quantile.
    package init(permille: Int, value: Int) {
      self.permille = permille
      self.value = value
    }
  }

  /// From 0 to 1000 permille, both rising.
  package let points: [Point]

  /// A distribution of these quantiles; `nil` where they do not begin at 0 permille, end at 1000, and rise:
  /// the permille each time, the values never falling; or where a value is not in ±2⁴⁰.
  package init?(_ points: [Point]) {
    guard let first = points.first, let last = points.last, first.permille == 0,
      last.permille == 1_000,
      zip(points, points.dropFirst()).allSatisfy({
        $0.permille < $1.permille && $0.value <= $1.value
      }), first.value >= -Self.mostValue, last.value <= Self.mostValue
    else { return nil }
    self.points = points
  }

  /// Always this value, which is within ±2⁴⁰.
  package init(always value: Int) {
    precondition(abs(value) <= Self.mostValue)
    points = [Point(permille: 0, value: value), Point(permille: 1_000, value: value)]
  }

  private static let mostValue = 1 << 40
  /// How finely a permille is divided.
  private static let parts = 1_000

  /// One value.
  package func draw(_ random: inout LabRandom) -> Int {
    value(atMillionth: random.number(below: 1_000 * Self.parts))
  }

  /// The value that is not exceeded by this many of a million.
  package func value(atMillionth millionth: Int) -> Int {
    precondition((0...1_000 * Self.parts).contains(millionth))
    // A handful of points: looked through from the first.
    var upper = 1
    while points[upper].permille * Self.parts < millionth { upper += 1 }
    let (low, high) = (points[upper - 1], points[upper])
    let width = (high.permille - low.permille) * Self.parts
    return low.value + (high.value - low.value) * (millionth - low.permille * Self.parts) / width
  }

  /// What is drawn on average, in thousandths.
  package var meanThousandths: Int {
    zip(points, points.dropFirst())
      .reduce(0) { $0 + ($1.1.permille - $1.0.permille) * ($1.0.value + $1.1.value) } / 2
  }
}
