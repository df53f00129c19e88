/// Writes XML 1.0 in UTF-8: elements with attributes and text.
struct XMLWriter {
  private(set) var bytes: [UInt8] = Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".utf8)

  /// Writes an element whose content `body` writes.
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

  /// Writes an element without content.
  mutating func element(_ name: StaticString, _ attributes: [(StaticString, String?)]) {
    open(name, attributes)
    append("/>\n")
  }

  /// Writes an element with a text; writes nothing if the text is nil.
  mutating func element(
    _ name: StaticString, _ attributes: [(StaticString, String?)] = [], text: String?
  ) {
    guard let text else { return }
    element(name, attributes) { $0.text(text) }
  }

  /// Writes escaped text.
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

  /// Escapes text. Characters that XML cannot represent (section 2.2) become U+FFFD, as references cannot
  /// name them either. Line ends that a parser would normalize (section 2.11), and white space that it would
  /// normalize in attributes (section 3.3.3), become references.
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
