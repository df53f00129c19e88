/// A JSON text (RFC 8259) that has been read, and that holds no surprise: it is UTF-8 without a byte order
/// mark, no object has a key twice, and it is nested no deeper than its reader allowed.
///
/// Theory of operation. The text is read once, from its first byte to its last, into a list of nodes in
/// the order of the text; each knows its bytes and where the next one beside it stands. Texts and numbers
/// are made of their bytes when they are asked for. Keys are the same if their texts are the same to the
/// byte, whichever of their characters are written as escapes.
public final class JSONDocument: Sendable {
  /// How deep lists and objects may stand in each other.
  public static let defaultDepthLimit = 64

  let bytes: [UInt8]
  let nodes: [JSONNode]

  /// The document that the bytes are.
  ///
  /// - Throws: `JSONError`.
  public init(_ bytes: [UInt8], depthLimit: Int = defaultDepthLimit) throws(JSONError) {
    var parser = JSONParser(bytes, depthLimit: depthLimit)
    try parser.readDocument()
    self.bytes = bytes
    nodes = parser.nodes
  }

  /// The one value that it is.
  public var root: JSONValue { JSONValue(document: self, index: 0) }
}

/// A value of a document, or the name of an object's member.
struct JSONNode {
  var kind: JSONKind
  /// Of a text: it is not what its bytes are.
  var hasEscapes = false
  /// The first of its bytes; of a text, behind the quotation mark.
  var start: UInt32
  /// Behind the last of its bytes; of a text, the quotation mark.
  var end: UInt32 = 0
  /// The node behind it and its contents; 0 as long as it is being read.
  var next: UInt32 = 0

  var range: Range<Int> { Int(start)..<Int(end) }
}

/// What a JSON value is.
public enum JSONKind: Hashable, Sendable {
  case object, array, text, number, boolean, null
}
