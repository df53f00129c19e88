/// A distribution by its quantiles, linear between them. Drawn values are integers and need no logarithm,
/// which not every machine computes alike.
package struct Quantiles: Hashable, Sendable {
  /// A quantile: a share of all values, in thousandths, that are not greater than the value.
  package struct Point: Hashable, Sendable {
    /// The share in thousandths.
    package let permille: Int
    /// The value.
    package let value: Int

    /// Creates a quantile.
    package init(permille: Int, value: Int) {
      self.permille = permille
      self.value = value
    }
  }

  /// The quantiles from 0 to 1000 permille, both ascending.
  package let points: [Point]

  /// Creates a distribution of these quantiles; `nil` unless they begin at 0 permille, end at 1000 and rise
  /// in between, their values never fall, and all values are within ±2⁴⁰.
  package init?(_ points: [Point]) {
    guard let first = points.first, let last = points.last, first.permille == 0,
      last.permille == 1_000,
      zip(points, points.dropFirst()).allSatisfy({
        $0.permille < $1.permille && $0.value <= $1.value
      }), first.value >= -Self.mostValue, last.value <= Self.mostValue
    else { return nil }
    self.points = points
  }

  /// Creates a distribution of this value alone, which is within ±2⁴⁰.
  package init(always value: Int) {
    precondition(abs(value) <= Self.mostValue)
    points = [Point(permille: 0, value: value), Point(permille: 1_000, value: value)]
  }

  private static let mostValue = 1 << 40
  /// The number of parts of a permille.
  private static let parts = 1_000

  /// Draws a value.
  package func draw(_ random: inout LabRandom) -> Int {
    value(atMillionth: random.number(below: 1_000 * Self.parts))
  }

  /// The value that this share, in millionths, does not exceed.
  package func value(atMillionth millionth: Int) -> Int {
    precondition((0...1_000 * Self.parts).contains(millionth))
    // A linear search: there are few points.
    var upper = 1
    while points[upper].permille * Self.parts < millionth { upper += 1 }
    let (low, high) = (points[upper - 1], points[upper])
    let width = (high.permille - low.permille) * Self.parts
    return low.value + (high.value - low.value) * (millionth - low.permille * Self.parts) / width
  }

  /// The mean of drawn values, in thousandths.
  package var meanThousandths: Int {
    zip(points, points.dropFirst())
      .reduce(0) { $0 + ($1.1.permille - $1.0.permille) * ($1.0.value + $1.1.value) } / 2
  }
}
