import CoreMetrics

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
