/// A validator of a representation (RFC 9110 section 8.8.3).
public struct EntityTag: Sendable, Hashable {
  /// Whether it only says that representations are equivalent, and not that they are equal byte by byte.
  public let isWeak: Bool
  /// The text between the quotation marks.
  public let opaque: String

  /// A tag; `opaque` must consist of `etagc`: visible ASCII without a double quote.
  public init(_ opaque: String, isWeak: Bool = false) {
    var text = opaque
    // Checks many bytes at once.
    let isTag = text.withUTF8 { bytes in
      var others: UInt8 = 0
      for byte in bytes { others |= byte.isEntityTagCharacter ? 0 : 1 }
      return others == 0
    }
    precondition(isTag, "not an entity tag: \(opaque)")
    self.opaque = opaque
    self.isWeak = isWeak
  }

  /// Parses a tag with its quotation marks; nil if it is malformed.
  public init?(parsing text: some StringProtocol) {
    var rest = Substring(text)
    guard let tag = EntityTag(consuming: &rest), rest.isEmpty else { return nil }
    self = tag
  }

  /// Parses a tag at the front of `text`, and removes it.
  init?(consuming text: inout Substring) {
    let bytes = text.utf8
    var index = bytes.startIndex
    let isWeak = bytes.starts(with: [UInt8(ascii: "W"), UInt8(ascii: "/")])
    if isWeak { index = bytes.index(index, offsetBy: 2) }
    guard index < bytes.endIndex, bytes[index] == UInt8(ascii: "\"") else { return nil }
    let start = bytes.index(after: index)
    guard let end = bytes[start...].firstIndex(of: UInt8(ascii: "\"")),
      bytes[start..<end].allSatisfy({ $0.isEntityTagCharacter || $0 >= 0x80 })
    else { return nil }
    self.isWeak = isWeak
    opaque = String(text[start..<end])
    text = text[bytes.index(after: end)...]
  }

  /// Strong comparison: both strong and equal (RFC 9110 section 8.8.3.2).
  public func stronglyMatches(_ other: EntityTag) -> Bool {
    !isWeak && !other.isWeak && opaque == other.opaque
  }

  /// Weak comparison: equal, weak or not (RFC 9110 section 8.8.3.2).
  public func weaklyMatches(_ other: EntityTag) -> Bool { opaque == other.opaque }
}

extension EntityTag: CustomStringConvertible {
  /// The tag as it is written in a field, with its quotation marks.
  public var description: String {
    var text: [UInt8] = []
    write(to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// Appends the tag as it is written in a field.
  public func write(to output: inout [UInt8]) {
    output.append(text: isWeak ? "W/\"" : "\"")
    output.append(text: opaque)
    output.append(UInt8(ascii: "\""))
  }
}

extension UInt8 {
  /// `etagc` (RFC 9110 section 8.8.3) within ASCII.
  fileprivate var isEntityTagCharacter: Bool { isVisible && self != UInt8(ascii: "\"") }
}
