/// HTML and SVG as text: elements whose texts and attributes are escaped.
struct Markup: Sendable {
  private(set) var text = ""

  init() {}

  /// Text that is shown as it is.
  mutating func write(_ words: String) { text += Self.escaped(words) }

  /// What is markup already.
  mutating func add(_ markup: Markup) { text += markup.text }

  /// Text of ours that is not escaped.
  mutating func addTrusted(_ markup: String) { text += markup }

  /// An element without content, `<line x1="3"/>`.
  mutating func mark(_ name: String, _ attributes: KeyValuePairs<String, String> = [:]) {
    text += "<\(name)\(Self.list(attributes))/>\n"
  }

  /// An element with what is in it.
  mutating func element(
    _ name: String, _ attributes: KeyValuePairs<String, String> = [:],
    _ content: (inout Markup) -> Void
  ) {
    text += "<\(name)\(Self.list(attributes))>"
    content(&self)
    text += "</\(name)>\n"
  }

  /// An element of a text.
  mutating func element(
    _ name: String, _ attributes: KeyValuePairs<String, String>, _ words: String
  ) {
    element(name, attributes) { $0.write(words) }
  }

  /// An element of a text, without attributes.
  mutating func element(_ name: String, _ words: String) {
    element(name, [:]) { $0.write(words) }
  }

  private static func list(_ attributes: KeyValuePairs<String, String>) -> String {
    attributes.map { " \($0)=\"\(escaped($1))\"" }.joined()
  }

  /// Whatever it is, no markup; control characters, which XML does not have, as a replacement character.
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
