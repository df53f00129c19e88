import CoreMetrics
import Synchronization

/// How many values were at or below each of some bounds: a timer, in seconds, or a recorder.
final class HistogramFigure: TimerHandler, RecorderHandler, Figure {
  static let type = FigureType.histogram

  /// One bucket's count: an array cannot hold an `Atomic` itself, which must not be copied.
  private final class Tally: Sendable {
    let count = Atomic<UInt64>(0)
  }

  private let bounds: [Double]
  /// One for each bound and one for what is above them all.
  private let tallies: [Tally]
  /// What timers recorded: a sum of whole numbers needs no second try.
  private let nanoseconds = Atomic<UInt64>(0)
  /// What recorders recorded.
  private let sum = AtomicDouble()

  /// A histogram of these bounds, which rise.
  init(bounds: [Double]) {
    self.bounds = bounds
    tallies = (0...bounds.count).map { _ in Tally() }
  }

  /// Takes a duration; one below zero counts as zero.
  func recordNanoseconds(_ duration: Int64) {
    let duration = max(duration, 0)
    count(Double(duration) / 1e9)
    nanoseconds.wrappingAdd(UInt64(duration), ordering: .relaxed)
  }

  func record(_ value: Int64) { record(Double(value)) }

  /// Takes a value; one that is not finite is passed over, since it would spoil the sum for good.
  func record(_ value: Double) {
    guard value.isFinite else { return }
    count(value)
    sum.add(value)
  }

  private func count(_ value: Double) {
    tallies[bucket(of: value)].count.wrappingAdd(1, ordering: .relaxed)
  }

  /// The first bucket whose bound is not below the value.
  private func bucket(of value: Double) -> Int {
    var low = 0
    var high = bounds.count
    while low < high {
      let middle = (low + high) / 2
      if bounds[middle] < value { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Writes the buckets, each with all below it, the sum and the count. The count is the last
  /// bucket's, so that the two agree whatever is recorded meanwhile.
  func write(_ labels: String, to exposition: inout Exposition) {
    var total: UInt64 = 0
    for (index, tally) in tallies.enumerated() {
      total += tally.count.load(ordering: .relaxed)
      let bound = index < bounds.count ? bounds[index] : .infinity
      let label = "le=\"\(Exposition.text(bound))\""
      exposition.sample(labels.isEmpty ? label : "\(labels),\(label)", total, suffix: "_bucket")
    }
    let seconds = Double(nanoseconds.load(ordering: .relaxed)) / 1e9
    exposition.sample(labels, seconds + sum.value, suffix: "_sum")
    exposition.sample(labels, total, suffix: "_count")
  }
}
