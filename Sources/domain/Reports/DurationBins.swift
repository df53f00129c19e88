/// Durations counted in fixed logarithmic bins.
///
/// Bin 0 has durations below a millisecond; bin `b` those from 1.1^(b−1) up to 1.1^b milliseconds, and the
/// last bin all above. A quantile is the geometric middle of its bin, which differs from the true one by at
/// most 4.9 % (√1.1 − 1). The bins are the same everywhere, so counts of several servers and hours can be
/// added.
public struct DurationBins: Hashable, Sendable {
  /// The number of bins: the last one begins at 57 minutes.
  public static let count = 160
  /// The ratio of the widths of successive bins.
  public static let ratio = 1.1

  /// The number of durations in each bin, up to the last nonempty bin.
  public private(set) var counts: [Int] = []

  /// Creates empty bins.
  public init() {}

  /// The lower bounds of the bins in milliseconds, from bin 1 on.
  private static let bounds: [Double] = {
    var bounds = [1.0]
    while bounds.count < count - 1 { bounds.append(bounds[bounds.count - 1] * ratio) }
    return bounds
  }()

  /// Returns the bin of a duration.
  public static func bin(ofMilliseconds milliseconds: Double) -> Int {
    var (low, high) = (0, bounds.count)
    while low < high {
      let middle = (low + high) / 2
      if bounds[middle] <= milliseconds { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the representative duration of a bin, in milliseconds: the geometric middle; for bin 0 half a
  /// millisecond; for the last bin its lower bound.
  public static func milliseconds(ofBin bin: Int) -> Double {
    if bin <= 0 { return 0.5 }
    if bin >= count - 1 { return bounds[count - 2] }
    return bounds[bin - 1] * ratio.squareRoot()
  }

  /// Whether no duration was counted.
  public var isEmpty: Bool { counts.isEmpty }

  /// The number of durations.
  public var total: Int { counts.reduce(0, +) }

  /// The approximate sum of all durations, in milliseconds, each as the middle of its bin.
  public var milliseconds: Int {
    Int(
      counts.enumerated().reduce(0) {
        $0 + Double($1.element) * Self.milliseconds(ofBin: $1.offset)
      }
      .rounded())
  }

  /// Counts durations in a bin.
  ///
  /// - Parameter bin: The bin, 0…159.
  public mutating func add(_ number: Int, inBin bin: Int) {
    guard number > 0 else { return }
    precondition((0..<Self.count).contains(bin))
    if bin >= counts.count {
      counts.append(contentsOf: repeatElement(0, count: bin + 1 - counts.count))
    }
    counts[bin] += number
  }

  /// Counts one duration.
  public mutating func add(milliseconds: Double) {
    add(1, inBin: Self.bin(ofMilliseconds: milliseconds))
  }

  /// Adds the counts of other bins.
  public mutating func add(_ other: DurationBins) {
    for (bin, number) in other.counts.enumerated() { add(number, inBin: bin) }
  }

  /// Returns the duration that the share `quantile` of all does not exceed, in milliseconds; `nil` if no
  /// duration was counted.
  ///
  /// - Parameter quantile: The share, 0…1.
  public func milliseconds(atQuantile quantile: Double) -> Double? {
    let total = total
    guard total > 0 else { return nil }
    // The nearest-rank method.
    let rank = max(1, Int((quantile * Double(total)).rounded(.up)))
    var seen = 0
    for (bin, number) in counts.enumerated() {
      seen += number
      if seen >= rank { return Self.milliseconds(ofBin: bin) }
    }
    return nil
  }
}
