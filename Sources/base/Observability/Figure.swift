import CoreMetrics
import Synchronization

/// One series: a figure with its labels.
protocol Figure: AnyObject, Sendable {
  /// The type of a family of such figures (`# TYPE`).
  static var type: FigureType { get }

  /// Writes the samples of the series with these labels.
  func write(_ labels: String, to exposition: inout Exposition)
}

/// A family's type, in the words of the exposition format.
enum FigureType: String {
  case counter, gauge, histogram
}

/// The series of one name, by their labels as text.
struct FigureFamily {
  let type: FigureType
  /// By bytes: Swift's own `==` takes names of feeds for equal that differ in their bytes.
  var series: [[UInt8]: any Figure] = [:]

  init(type: FigureType) { self.type = type }

  /// A family of gauges or counters with these dimensions and values.
  init(_ type: FigureType, _ values: [(dimensions: [(String, String)], value: Int)]) {
    self.init(type: type)
    for (dimensions, value) in values {
      let labels = Array(Exposition.labels(dimensions).utf8)
      if type == .gauge {
        let figure = GaugeFigure()
        figure.set(Int64(value))
        series[labels] = figure
      } else {
        let figure = CounterFigure()
        figure.increment(by: Int64(value))
        series[labels] = figure
      }
    }
  }

  func write(_ name: String, help: String?, to exposition: inout Exposition) {
    exposition.family(name, type: type.rawValue, help: help)
    for (labels, figure) in series.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      figure.write(String(decoding: labels, as: UTF8.self), to: &exposition)
    }
  }
}

/// A number that threads add to without a lock: the bits of a double in an atomic word.
struct AtomicDouble: ~Copyable, Sendable {
  private let bits = Atomic<UInt64>(Double.zero.bitPattern)

  var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

  func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

  /// Adds, and retries if another thread changed the value meanwhile.
  func add(_ amount: Double) {
    var seen = bits.load(ordering: .relaxed)
    while true {
      let sum = Double(bitPattern: seen) + amount
      let attempt = bits.weakCompareExchange(
        expected: seen, desired: sum.bitPattern, ordering: .relaxed)
      if attempt.exchanged { return }
      seen = attempt.original
    }
  }
}

/// A value that rises and falls: a meter, or a recorder that keeps only its last value.
final class GaugeFigure: MeterHandler, RecorderHandler, Figure {
  static let type = FigureType.gauge

  private let value = AtomicDouble()

  func set(_ value: Int64) { self.value.set(Double(value)) }
  func set(_ value: Double) { self.value.set(value) }
  func increment(by amount: Double) { value.add(amount) }
  func decrement(by amount: Double) { value.add(-amount) }
  func record(_ value: Int64) { set(value) }
  func record(_ value: Double) { set(value) }

  func write(_ labels: String, to exposition: inout Exposition) {
    exposition.sample(labels, value.value)
  }
}

/// A total that only rises, from zero at the start of the program.
///
/// Whole amounts and fractions are summed separately, so that counting by whole numbers is exact and one
/// atomic addition.
public final class CounterFigure: CounterHandler, FloatingPointCounterHandler, Figure {
  static let type = FigureType.counter

  private let whole = Atomic<UInt64>(0)
  private let rest = AtomicDouble()

  init() {}

  /// Adds to the total; ignores an amount below zero, since a counter never falls.
  public func increment(by amount: Int64) {
    guard amount > 0 else { return }
    whole.wrappingAdd(UInt64(amount), ordering: .relaxed)
  }

  /// Adds to the total; ignores an amount that is not finite or is below zero.
  public func increment(by amount: Double) {
    guard amount.isFinite, amount > 0 else { return }
    rest.add(amount)
  }

  /// Resets the total to zero.
  public func reset() { set(0) }

  /// Sets the total to one that something else counts and that is read at a scrape. Such a counter must not
  /// be incremented as well.
  public func set(_ total: Double) {
    whole.store(0, ordering: .relaxed)
    rest.set(total)
  }

  func write(_ labels: String, to exposition: inout Exposition) {
    let rest = rest.value
    let whole = whole.load(ordering: .relaxed)
    if rest == 0 {
      exposition.sample(labels, whole)
    } else {
      exposition.sample(labels, Double(whole) + rest)
    }
  }
}

/// The number of values at or below each of several bounds: a timer, in seconds, or a recorder.
final class HistogramFigure: TimerHandler, RecorderHandler, Figure {
  static let type = FigureType.histogram

  /// The count of one bucket: an array cannot hold an `Atomic` itself, which is not copyable.
  private final class Tally: Sendable {
    let count = Atomic<UInt64>(0)
  }

  private let bounds: [Double]
  /// One for each bound, and one for the values above all bounds.
  private let tallies: [Tally]
  /// The sum of what timers recorded: adding whole numbers needs no retry.
  private let nanoseconds = Atomic<UInt64>(0)
  /// The sum of what recorders recorded.
  private let sum = AtomicDouble()

  /// A histogram with these bounds, in ascending order.
  init(bounds: [Double]) {
    self.bounds = bounds
    tallies = (0...bounds.count).map { _ in Tally() }
  }

  /// Records a duration; one below zero counts as zero.
  func recordNanoseconds(_ duration: Int64) {
    let duration = max(duration, 0)
    count(Double(duration) / 1e9)
    nanoseconds.wrappingAdd(UInt64(duration), ordering: .relaxed)
  }

  func record(_ value: Int64) { record(Double(value)) }

  /// Records a value; ignores one that is not finite, since it would spoil the sum for good.
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

  /// Writes the cumulative buckets, the sum and the count. The count is the last bucket's, so that the two
  /// agree whatever is recorded meanwhile.
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
