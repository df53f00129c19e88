/// Prometheus' text format: exposition format 0.0.4
/// (https://prometheus.io/docs/instrumenting/exposition_formats/).
struct Exposition {
  private(set) var bytes: [UInt8] = []
  private var name = ""

  /// Begins a family of figures with one name.
  mutating func family(_ name: String, type: String, help: String?) {
    self.name = name
    if let help { line("# HELP \(name) \(Self.escaped(help, quotes: false))") }
    line("# TYPE \(name) \(type)")
  }

  /// Appends a sample of the family, with the suffix after its name.
  mutating func sample(_ labels: String, _ value: UInt64, suffix: String = "") {
    sample(labels, text: "\(value)", suffix)
  }

  /// Appends a sample of the family, with the suffix after its name.
  mutating func sample(_ labels: String, _ value: Double, suffix: String = "") {
    sample(labels, text: Self.text(value), suffix)
  }

  private mutating func sample(_ labels: String, text: String, _ suffix: String) {
    line("\(name)\(suffix)\(labels.isEmpty ? "" : "{\(labels)}") \(text)")
  }

  private mutating func line(_ text: String) {
    bytes.append(contentsOf: text.utf8)
    bytes.append(UInt8(ascii: "\n"))
  }

  /// A number in the shortest form that reads back as the same one; whole numbers without a point.
  static func text(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    if let whole = Int64(exactly: value), abs(value) < 1e16 { return "\(whole)" }
    return "\(value)"
  }

  /// The text with escapes for backslashes and line feeds, and for quotation marks if `quotes`.
  static func escaped(_ text: String, quotes: Bool) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result.append(contentsOf: "\\\\".unicodeScalars)
      case "\n": result.append(contentsOf: "\\n".unicodeScalars)
      case "\"" where quotes: result.append(contentsOf: "\\\"".unicodeScalars)
      default: result.append(scalar)
      }
    }
    return String(result)
  }

  /// A valid name of a family, `[a-zA-Z_:][a-zA-Z0-9_:]*`: any other character becomes `_`.
  static func familyName(_ label: String) -> String { name(label, allowsColon: true) }

  /// The labels of a series as text, sorted by name.
  ///
  /// Names have the form `[a-zA-Z_][a-zA-Z0-9_]*`; any other character becomes `_`. `le` is reserved for
  /// histograms and becomes `le_`. Of labels with the same name the first is kept.
  static func labels(_ dimensions: [(String, String)]) -> String {
    var values: [String: String] = [:]
    for (label, value) in dimensions {
      let name = name(label, allowsColon: false)
      let free = name == "le" ? "le_" : name
      if values[free] == nil { values[free] = value }
    }
    return values.sorted { $0.key < $1.key }
      .map { "\($0.key)=\"\(escaped($0.value, quotes: true))\"" }
      .joined(separator: ",")
  }

  private static func name(_ label: String, allowsColon: Bool) -> String {
    let bytes = label.unicodeScalars.enumerated().map { index, scalar -> UInt8 in
      switch scalar {
      case "a"..."z", "A"..."Z", "_": UInt8(scalar.value)
      case "0"..."9" where index > 0: UInt8(scalar.value)
      case ":" where allowsColon: UInt8(scalar.value)
      default: UInt8(ascii: "_")
      }
    }
    return bytes.isEmpty ? "_" : String(decoding: bytes, as: UTF8.self)
  }
}
