import CoreMetrics

extension PrometheusRegistry {
  /// A gauge that is read when somebody asks.
  public func gauge(
    _ name: String, _ dimensions: [(String, String)] = [], _ value: @escaping @Sendable () -> Int
  ) {
    let meter = Meter(label: name, dimensions: dimensions, factory: self)
    onScrape { meter.set(value()) }
  }

  /// A total that something else counts.
  public func total(_ name: String, _ value: @escaping @Sendable () -> Int) {
    let counter = self.counter(name)
    onScrape { counter.set(Double(value())) }
  }
}
