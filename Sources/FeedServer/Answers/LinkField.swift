import JSON

/// The field `Link` (RFC 8288 section 3): targets, and how they relate to what is answered.
struct LinkField: Sendable {
  /// Its value; empty where there are no links.
  private(set) var value: [UInt8] = []

  /// - Parameter target: of a URI's characters alone.
  mutating func append(_ relation: StaticString, target: Span<UInt8>) {
    // Mostly of two.
    if value.isEmpty { value.reserveCapacity(640) }
    let isFirst = value.isEmpty
    let capacity = target.count + relation.utf8CodeUnitCount + 12
    value.append(addingCapacity: capacity) { output in
      output.append(isFirst ? "<" : ", <")
      output.append(target)
      output.append(">; rel=\"")
      output.append(relation)
      output.append("\"")
    }
  }
}
