/// The media types that a client accepts, with their weights (RFC 9110 section 12.5.1).
public struct AcceptedTypes: Sendable {
  /// Ranges such as `text/html` or `text/*`, in lower case, with weights in thousandths.
  private var ranges: [(range: String, weight: Int)] = []

  /// Parses the combined value of `Accept`; ignores malformed members.
  public init(_ field: String?) {
    guard let field else { return }
    let bytes = field.utf8.span
    var rest = bytes.indices
    while let member = bytes.nextListMember(&rest) { note(bytes, member) }
  }

  /// Whether the client names the type, or its half before the slash, with a weight no less than that of the
  /// other type. A client that accepts anything (`*/*`) or sends no field names neither.
  public func prefers(_ type: String, to other: String) -> Bool {
    guard let weight = weight(of: type, anything: nil), weight > 0 else { return false }
    return weight >= self.weight(of: other, anything: "*/*") ?? 0
  }

  /// The weight of the most specific range that contains the type.
  private func weight(of type: String, anything: String?) -> Int? {
    let half = type.prefix { $0 != "/" } + "/*"
    for range in [type, String(half), anything] {
      guard let range else { continue }
      let weights = ranges.lazy.filter { $0.range == range }.map(\.weight)
      if let weight = weights.max() { return weight }
    }
    return nil
  }

  /// Keeps a member of the form `media-range [ parameters ] [ weight ]`; ignores any other member.
  private mutating func note(_ bytes: Span<UInt8>, _ member: Range<Int>) {
    var parts: [Range<Int>] = []
    var start = member.lowerBound
    for index in member where bytes[index] == UInt8(ascii: ";") {
      parts.append(bytes.trimmed(start..<index))
      start = index + 1
    }
    parts.append(bytes.trimmed(start..<member.upperBound))
    var weight = 1000
    for part in parts.dropFirst() where bytes.equalsIgnoringCase(part.prefix(2), "q=") {
      guard let named = bytes.weight(part) else { return }
      weight = named
    }
    let name = String(decoding: parts[0].map { bytes[$0].asciiLowercased }, as: UTF8.self)
    ranges.append((name, weight))
  }
}
