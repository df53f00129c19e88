/// A name with its namespace.
struct XMLName: Hashable {
  let namespace: XMLNamespace
  let local: String

  /// `xml:lang`
  static let language = XMLName(namespace: .xml, local: "lang")
}

/// The XML namespaces used in feeds.
enum XMLNamespace: Hashable {
  case none, atom, content, dublinCore, media, itunes, slash, threading, xhtml, xml, other

  private static let byURI: [String: XMLNamespace] = [
    "": .none, "http://www.w3.org/2005/Atom": .atom,
    "http://purl.org/rss/1.0/modules/content/": .content,
    "http://purl.org/dc/elements/1.1/": .dublinCore, "http://search.yahoo.com/mrss/": .media,
    "http://search.yahoo.com/mrss": .media, "http://www.itunes.com/dtds/podcast-1.0.dtd": .itunes,
    "http://purl.org/rss/1.0/modules/slash/": .slash,
    "http://purl.org/syndication/thread/1.0": .threading, "http://www.w3.org/1999/xhtml": .xhtml,
    "http://www.w3.org/XML/1998/namespace": .xml,
  ]

  init(uri: String) { self = Self.byURI[uri] ?? .other }
}

/// An element of a feed with its content.
struct XMLElement {
  let name: XMLName
  let attributes: [XMLName: String]
  /// The base of relative references in the element (XML Base).
  let base: String?
  /// The line on which the element begins, from 1.
  let line: Int
  var children: [XMLNode] = []

  /// The attribute with this name and no namespace, without surrounding white space.
  subscript(_ attribute: String) -> String? {
    attributes[XMLName(namespace: .none, local: attribute)]?.trimmed
  }

  /// The language that the element declares.
  var language: String? { attributes[.language]?.trimmed }

  /// The direct children with this name.
  func all(_ local: String, _ namespace: XMLNamespace = .none) -> [XMLElement] {
    children.compactMap { $0.element(local, namespace) }
  }

  /// The first direct child with this name.
  func first(_ local: String, _ namespace: XMLNamespace = .none) -> XMLElement? {
    for child in children {
      if let element = child.element(local, namespace) { return element }
    }
    return nil
  }

  /// The text directly in the first child with this name, without surrounding white space.
  func text(_ local: String, _ namespace: XMLNamespace = .none) -> String? {
    first(local, namespace)?.text
  }

  /// The text directly in the element, without surrounding white space; nil if it is empty.
  var text: String? {
    children.reduce(into: "") { if case .text(let text) = $1 { $0 += text } }.trimmed
  }

  /// The content as HTML: XHTML has the same elements.
  var markup: String {
    var html = ""
    for child in children {
      switch child {
      case .text(let text):
        html += text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
      case .element(let element):
        html += "<\(element.name.local)>\(element.markup)</\(element.name.local)>"
      }
    }
    return html
  }
}

/// A child of an element.
indirect enum XMLNode {
  case text(String)
  case element(XMLElement)

  /// The element, if the node is one with this name.
  func element(_ local: String, _ namespace: XMLNamespace) -> XMLElement? {
    guard case .element(let element) = self, element.name.namespace == namespace,
      element.name.local == local
    else { return nil }
    return element
  }
}
