/// Appends XML 1.0: elements of attributes and text, in UTF-8.
struct XMLWriter {
  private(set) var bytes: [UInt8] = Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".utf8)

  /// An element of what the body writes.
  mutating func element(
    _ name: StaticString, _ attributes: [(StaticString, String?)] = [],
    _ body: (inout XMLWriter) -> Void
  ) {
    open(name, attributes)
    append(">")
    body(&self)
    append("</")
    append(name)
    append(">\n")
  }

  /// An element without content.
  mutating func element(_ name: StaticString, _ attributes: [(StaticString, String?)]) {
    open(name, attributes)
    append("/>\n")
  }

  /// An element of a text, left out where there is none.
  mutating func element(
    _ name: StaticString, _ attributes: [(StaticString, String?)] = [], text: String?
  ) {
    guard let text else { return }
    element(name, attributes) { $0.text(text) }
  }

  /// Text in which nothing is markup.
  mutating func text(_ text: String) { escape(text, inAttribute: false) }

  private mutating func open(_ name: StaticString, _ attributes: [(StaticString, String?)]) {
    append("<")
    append(name)
    for case (let name, let value?) in attributes {
      append(" ")
      append(name)
      append("=\"")
      escape(value, inAttribute: true)
      append("\"")
    }
  }

  private mutating func append(_ text: StaticString) {
    text.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  /// Characters that XML cannot hold (section 2.2), however they are written, become U+FFFD; line ends that a
  /// parser would change (section 2.11), and white space that it would change in attributes (section 3.3.3),
  /// become references.
  private mutating func escape(_ text: String, inAttribute: Bool) {
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": append("&amp;")
      case "<": append("&lt;")
      case ">": append("&gt;")
      case "\"" where inAttribute: append("&quot;")
      case "\r": append("&#13;")
      case "\n" where inAttribute: append("&#10;")
      case "\t" where inAttribute: append("&#9;")
      case "\t", "\n": bytes.append(UInt8(scalar.value))
      case "\u{0}"..."\u{1f}", "\u{fffe}", "\u{ffff}": append("\u{fffd}")
      default: bytes.append(contentsOf: UTF8.encode(scalar)!)
      }
    }
  }
}
