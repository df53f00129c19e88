import HTTP
import JSON
import PostJSON

/// The field `Link` (RFC 8288 section 3): targets, and how they relate to what is answered.
enum LinkField: Sendable {
  case none
  /// Those of a page, from where they lie.
  case page(PageLinks)
  case these([Link])

  /// A target, of a URI's characters alone, and how it relates to what is answered.
  struct Link {
    let relation: StaticString
    let target: String
  }

  /// Those of these targets that there are.
  static func ofPage(next: String?, previous: String?) -> LinkField {
    .these(
      [
        next.map { Link(relation: "next", target: $0) },
        previous.map { Link(relation: "prev", target: $0) },
      ].compactMap { $0 })
  }

  var isEmpty: Bool {
    switch self {
    case .none: true
    case .page(let links): links.next == nil && links.previous == nil
    case .these(let links): links.isEmpty
    }
  }

  /// Appends its value.
  func write(to value: inout [UInt8]) {
    switch self {
    case .none: return
    case .page(let links):
      if let next = links.next {
        Self.write("next", links.bytes.span.extracting(next.target), to: &value)
      }
      if let previous = links.previous {
        if links.next != nil { value.append(text: ", ") }
        Self.write("prev", links.bytes.span.extracting(previous.target), to: &value)
      }
    case .these(let links):
      for (index, link) in links.enumerated() {
        if index > 0 { value.append(text: ", ") }
        Self.write(link.relation, link.target.utf8.span, to: &value)
      }
    }
  }

  private static func write(
    _ relation: StaticString, _ target: Span<UInt8>, to value: inout [UInt8]
  ) {
    value.append(addingCapacity: target.count + relation.utf8CodeUnitCount + 10) { output in
      output.append("<")
      output.append(target)
      output.append(">; rel=\"")
      output.append(relation)
      output.append("\"")
    }
  }
}
