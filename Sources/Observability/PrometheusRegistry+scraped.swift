import CoreMetrics

/// Figures as a component registers its own: each with what `# HELP` says of it.
extension PrometheusRegistry {
  /// A gauge that is read when somebody asks.
  public func gauge(
    _ name: String, _ dimensions: [(String, String)] = [], help: String,
    _ value: @escaping @Sendable () -> Int
  ) {
    describe(name, help: help)
    let meter = Meter(label: name, dimensions: dimensions, factory: self)
    onScrape { meter.set(value()) }
  }

  /// A total that something else counts.
  public func total(_ name: String, help: String, _ value: @escaping @Sendable () -> Int) {
    describe(name, help: help)
    let counter = self.counter(name)
    onScrape { counter.set(Double(value())) }
  }

  /// A counter for each outcome that there may be.
  public func counters<Outcome: CaseIterable & RawRepresentable<String> & Hashable>(
    _ name: String, help: String, of outcomes: Outcome.Type, label: String = "outcome"
  ) -> [Outcome: Counter] {
    describe(name, help: help)
    return Dictionary(
      uniqueKeysWithValues: Outcome.allCases.map { outcome in
        let dimensions = [(label, outcome.rawValue)]
        return (outcome, Counter(label: name, dimensions: dimensions, factory: self))
      })
  }
}
