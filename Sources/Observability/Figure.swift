/// One series: a figure that is kept, with its labels.
protocol Figure: AnyObject, Sendable {
  /// What a family of such figures is (`# TYPE`).
  static var type: FigureType { get }

  /// Writes the samples of the series with these labels.
  func write(_ labels: String, to exposition: inout Exposition)
}

/// A family's type, in the words of the exposition format.
enum FigureType: String {
  case counter, gauge, histogram
}

/// The series of one name, by their labels as they are written.
struct FigureFamily {
  let type: FigureType
  /// By bytes: to Swift's own `==`, names of feeds that differ may be the same text.
  var series: [[UInt8]: any Figure] = [:]

  init(type: FigureType) { self.type = type }

  /// Gauges or counters of these dimensions and values.
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
