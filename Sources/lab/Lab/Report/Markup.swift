/// HTML and SVG as text: elements whose texts and attributes are escaped.
struct Markup: Sendable {
  private(set) var text = ""

  init() {}

  /// Adds text, escaped.
  mutating func write(_ words: String) { text += Self.escaped(words) }

  /// Adds markup.
  mutating func add(_ markup: Markup) { text += markup.text }

  /// Adds trusted text, without escaping.
  mutating func addTrusted(_ markup: String) { text += markup }

  /// Adds an element without content, such as `<line x1="3"/>`.
  mutating func mark(_ name: String, _ attributes: KeyValuePairs<String, String> = [:]) {
    text += "<\(name)\(Self.list(attributes))/>\n"
  }

  /// Adds an element with content.
  mutating func element(
    _ name: String, _ attributes: KeyValuePairs<String, String> = [:],
    _ content: (inout Markup) -> Void
  ) {
    text += "<\(name)\(Self.list(attributes))>"
    content(&self)
    text += "</\(name)>\n"
  }

  /// Adds an element with text.
  mutating func element(
    _ name: String, _ attributes: KeyValuePairs<String, String>, _ words: String
  ) {
    element(name, attributes) { $0.write(words) }
  }

  /// Adds an element with text and without attributes.
  mutating func element(_ name: String, _ words: String) {
    element(name, [:]) { $0.write(words) }
  }

  private static func list(_ attributes: KeyValuePairs<String, String>) -> String {
    attributes.map { " \($0)=\"\(escaped($1))\"" }.joined()
  }

  /// Escapes text, so that it has no markup. Control characters, which XML does not allow, become replacement
  /// characters.
  static func escaped(_ words: String) -> String {
    var escaped = ""
    for scalar in words.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "\t", "\n": escaped.unicodeScalars.append(scalar)
      case _ where scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value):
        escaped += "\u{fffd}"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
