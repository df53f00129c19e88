import CoreMetrics
import System

/// Keeps the program's figures and writes them in Prometheus' exposition format 0.0.4
/// (https://prometheus.io/docs/instrumenting/exposition_formats/).
///
/// Pass it to `MetricsSystem.bootstrap`. Names are written verbatim, so the caller adds `_total` to a counter
/// and `_seconds` to a timer. The same name with the same dimensions is the same series. Destroying a handler
/// keeps the series, since others may hold it and a total must not fall. Handlers take no lock, and any
/// thread may use them.
///
/// The number of series is limited. Once there are `maximumSeries`, other dimensions of a known name share
/// one series with the label `overflow="true"`, and a new name is not written at all. Neither is a figure
/// whose name belongs to another kind.
public final class PrometheusRegistry: Sendable {
  /// The content type of `text()`.
  public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  /// The default maximum number of series.
  public static let defaultMaximumSeries = 2000

  /// The default bounds of histograms, for latencies in seconds: 0.1 ms to 10 s.
  public static let defaultBounds: [Double] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ]

  private static let overflowLabels = Array("overflow=\"true\"".utf8)

  private struct Description {
    let help: String
    let bounds: [Double]
  }

  /// Reads the current series of a family, by their dimensions.
  public typealias Reading = @Sendable () -> [(dimensions: [(String, String)], value: Int)]

  private struct State {
    var descriptions: [String: Description] = [:]
    var families: [String: FigureFamily] = [:]
    var seriesCount = 0
    var scrapes: [@Sendable () -> Void] = []
    /// Families whose series come and go, and which are read as a whole.
    var readings: [String: (type: FigureType, read: Reading)] = [:]
  }

  private let maximumSeries: Int
  private let state = Monitor(State())

  /// A registry of at most this many series, and one more for each name that exceeds the limit.
  public init(maximumSeries: Int = PrometheusRegistry.defaultMaximumSeries) {
    self.maximumSeries = maximumSeries
  }

  /// Describes a figure, with the upper bounds of its buckets if it is a histogram: finite numbers in
  /// ascending order. The bounds apply to series made after this call.
  public func describe(
    _ name: String, help: String, bounds: [Double] = PrometheusRegistry.defaultBounds
  ) {
    precondition(bounds.allSatisfy(\.isFinite), "a bound is not finite")
    precondition(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }, "bounds do not rise")
    let description = Description(help: help, bounds: bounds)
    state.withLock { $0.descriptions[Exposition.familyName(name)] = description }
  }

  /// Calls `body` before each `text()`, on the thread that calls that, to set figures that are read instead
  /// of counted. It must not call `text()`.
  public func onScrape(_ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.scrapes.append(body) }
  }

  /// Registers a family of gauges whose series are read as a whole for each `text()`; a series that is no
  /// longer among them is no longer written. They do not count towards `maximumSeries`: the caller limits
  /// them.
  public func gauges(_ name: String, help: String, _ read: @escaping Reading) {
    describe(name, help: help)
    state.withLock { $0.readings[Exposition.familyName(name)] = (.gauge, read) }
  }

  /// Registers a family of counters in the same way; none of them may fall while it is written.
  public func totals(_ name: String, help: String, _ read: @escaping Reading) {
    describe(name, help: help)
    state.withLock { $0.readings[Exposition.familyName(name)] = (.counter, read) }
  }

  /// Removes all closures that are called for a scrape, with all they hold, which commonly includes the
  /// registry.
  public func endScrapes() {
    state.withLock { state in
      state.scrapes = []
      state.readings = [:]
    }
  }

  /// All figures as text: names sorted, and the series of each sorted by their labels.
  public func text() -> [UInt8] {
    for body in state.withLock({ $0.scrapes }) { body() }
    let (readings, known, descriptions) = state.withLock {
      ($0.readings, $0.families, $0.descriptions)
    }
    var families = known
    for (name, reading) in readings {
      families[name] = FigureFamily(reading.type, reading.read())
    }
    var exposition = Exposition()
    for (name, family) in families.sorted(by: { $0.key < $1.key }) {
      family.write(name, help: descriptions[name]?.help, to: &exposition)
    }
    return exposition.bytes
  }

  /// The series with this name and these dimensions; `make` makes it with the name's bounds if it is absent.
  func figure<Kind: Figure>(
    _ label: String, _ dimensions: [(String, String)], make: (_ bounds: [Double]) -> Kind
  ) -> Kind {
    let name = Exposition.familyName(label)
    let labels = Array(Exposition.labels(dimensions).utf8)
    return state.withLock { state in
      let new = make(state.descriptions[name]?.bounds ?? Self.defaultBounds)
      let isFull = state.seriesCount >= maximumSeries
      let family = state.families[name] ?? (isFull ? nil : FigureFamily(type: Kind.type))
      guard var family, family.type == Kind.type else { return new }
      let key = isFull && family.series[labels] == nil ? Self.overflowLabels : labels
      if let known = family.series[key] as? Kind { return known }
      family.series[key] = new
      state.families[name] = family
      if !isFull { state.seriesCount += 1 }
      return new
    }
  }
}

extension PrometheusRegistry: MetricsFactory {
  /// The counter of this name and these dimensions, of a class that can also take over a total from something
  /// else that counts.
  public func counter(_ label: String, _ dimensions: [(String, String)] = []) -> CounterFigure {
    figure(label, dimensions) { _ in CounterFigure() }
  }

  /// The counter of this name and these dimensions.
  public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    counter(label, dimensions)
  }

  /// The counter of this name and these dimensions.
  public func makeFloatingPointCounter(
    label: String, dimensions: [(String, String)]
  ) -> any FloatingPointCounterHandler {
    counter(label, dimensions)
  }

  /// The gauge of this name and these dimensions.
  public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    gauge(label, dimensions)
  }

  /// A histogram with the name's bounds, or a gauge of the last value without `aggregate`.
  public func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    aggregate ? histogram(label, dimensions) : gauge(label, dimensions)
  }

  /// A histogram with the name's bounds, in seconds.
  public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    histogram(label, dimensions)
  }

  /// Leaves the series as it is.
  public func destroyCounter(_ handler: any CounterHandler) {}

  /// Leaves the series as it is.
  public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}

  /// Leaves the series as it is.
  public func destroyMeter(_ handler: any MeterHandler) {}

  /// Leaves the series as it is.
  public func destroyRecorder(_ handler: any RecorderHandler) {}

  /// Leaves the series as it is.
  public func destroyTimer(_ handler: any TimerHandler) {}

  private func gauge(_ label: String, _ dimensions: [(String, String)]) -> GaugeFigure {
    figure(label, dimensions) { _ in GaugeFigure() }
  }

  private func histogram(_ label: String, _ dimensions: [(String, String)]) -> HistogramFigure {
    figure(label, dimensions) { bounds in HistogramFigure(bounds: bounds) }
  }
}

/// Figures that components register, each with its `# HELP` text.
extension PrometheusRegistry {
  /// Registers a gauge that is read at each scrape.
  public func gauge(
    _ name: String, _ dimensions: [(String, String)] = [], help: String,
    _ value: @escaping @Sendable () -> Int
  ) {
    describe(name, help: help)
    let meter = Meter(label: name, dimensions: dimensions, factory: self)
    onScrape { meter.set(value()) }
  }

  /// Registers a total that something else counts.
  public func total(_ name: String, help: String, _ value: @escaping @Sendable () -> Int) {
    describe(name, help: help)
    let counter = self.counter(name)
    onScrape { counter.set(Double(value())) }
  }

  /// Registers a counter for each possible outcome.
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
