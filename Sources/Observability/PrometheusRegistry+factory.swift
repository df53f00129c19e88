import CoreMetrics

extension PrometheusRegistry: MetricsFactory {
  /// The counter of this name and these dimensions, of a class that can also take over a total that
  /// something else counts.
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

  /// A histogram of the name's bounds, or without `aggregate` a gauge of the last value.
  public func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    aggregate ? histogram(label, dimensions) : gauge(label, dimensions)
  }

  /// A histogram of the name's bounds, in seconds.
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
