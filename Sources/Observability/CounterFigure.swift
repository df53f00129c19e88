import CoreMetrics
import Synchronization

/// A total that only rises, from zero when the program starts.
///
/// Whole amounts and fractions are added up apart, so that counting by whole numbers is one atomic
/// addition and exact.
public final class CounterFigure: CounterHandler, FloatingPointCounterHandler, Figure {
  static let type = FigureType.counter

  private let whole = Atomic<UInt64>(0)
  private let rest = AtomicDouble()

  init() {}

  /// Counts; an amount below zero is passed over, since a counter never falls.
  public func increment(by amount: Int64) {
    guard amount > 0 else { return }
    whole.wrappingAdd(UInt64(amount), ordering: .relaxed)
  }

  /// Counts; an amount that is not finite or is below zero is passed over.
  public func increment(by amount: Double) {
    guard amount.isFinite, amount > 0 else { return }
    rest.add(amount)
  }

  /// Starts again from zero.
  public func reset() { set(0) }

  /// Takes over a total that something else counts, read at a scrape. Such a counter must not be
  /// incremented as well.
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
