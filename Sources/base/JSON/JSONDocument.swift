/// A parsed JSON text (RFC 8259): UTF-8 without a byte order mark, without duplicate keys, and nested no
/// deeper than the reader allowed.
///
/// Theory of operation. The parser reads the text once, from the first byte to the last, into a list of nodes
/// in the order of the text. Each node knows its bytes and the index of its next sibling. Texts and numbers
/// are decoded on access. Two keys are equal if their unescaped bytes are equal.
public final class JSONDocument: Sendable {
  /// The default limit of nested lists and objects.
  public static let defaultDepthLimit = 64

  let bytes: [UInt8]
  let nodes: [JSONNode]

  /// Parses the bytes.
  ///
  /// - Throws: `JSONError`.
  public init(_ bytes: [UInt8], depthLimit: Int = defaultDepthLimit) throws(JSONError) {
    var parser = JSONParser(bytes, depthLimit: depthLimit)
    try parser.readDocument()
    self.bytes = bytes
    nodes = parser.nodes
  }

  /// The root value.
  public var root: JSONValue { JSONValue(document: self, index: 0) }
}

/// A value of a document, or the name of an object's member.
struct JSONNode {
  var kind: JSONKind
  /// Whether a text has escapes, so that it differs from its bytes.
  var hasEscapes = false
  /// The index of its first byte; of a text, of the byte after the opening quotation mark.
  var start: UInt32
  /// The index after its last byte; of a text, the index of the closing quotation mark.
  var end: UInt32 = 0
  /// The index of the node after it and its contents; 0 while it is being read.
  var next: UInt32 = 0

  var range: Range<Int> { Int(start)..<Int(end) }
}

/// The kind of a JSON value.
public enum JSONKind: Hashable, Sendable {
  case object, array, text, number, boolean, null
}
