/// A name, with what it is a name of.
struct XMLName: Hashable {
  let namespace: XMLNamespace
  let local: String

  /// `xml:lang`
  static let language = XMLName(namespace: .xml, local: "lang")
}

/// The vocabularies that feeds are written in.
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

/// An element of a feed with all that is in it.
struct XMLElement {
  let name: XMLName
  let attributes: [XMLName: String]
  /// Where relative references in it are from (XML Base).
  let base: String?
  /// The line on which it begins, from 1.
  let line: Int
  var children: [XMLNode] = []

  /// The attribute of this name that is of no namespace, without white space around it.
  subscript(_ attribute: String) -> String? {
    attributes[XMLName(namespace: .none, local: attribute)]?.trimmed
  }

  /// The language that it says it is in.
  var language: String? { attributes[.language]?.trimmed }

  /// The elements of this name directly in it.
  func all(_ local: String, _ namespace: XMLNamespace = .none) -> [XMLElement] {
    children.compactMap { $0.element(local, namespace) }
  }

  /// The first of them.
  func first(_ local: String, _ namespace: XMLNamespace = .none) -> XMLElement? {
    for child in children {
      if let element = child.element(local, namespace) { return element }
    }
    return nil
  }

  /// The text directly in the first of them, without white space around it.
  func text(_ local: String, _ namespace: XMLNamespace = .none) -> String? {
    first(local, namespace)?.text
  }

  /// The text directly in it, without white space around it; nil where there is nothing else.
  var text: String? {
    children.reduce(into: "") { if case .text(let text) = $1 { $0 += text } }.trimmed
  }

  /// What is in it as HTML: XHTML has the same elements.
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

/// What stands in an element.
indirect enum XMLNode {
  case text(String)
  case element(XMLElement)

  /// The element of this name that it is; nil where it is something else.
  func element(_ local: String, _ namespace: XMLNamespace) -> XMLElement? {
    guard case .element(let element) = self, element.name.namespace == namespace,
      element.name.local == local
    else { return nil }
    return element
  }
}
