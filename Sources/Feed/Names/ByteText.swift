/// A name or id as a key: the same as another if it is the same to the byte, as it is to SQLite, to a URL and
/// to a cursor, and in the order of its bytes. To Swift's own `==`, `é` in one character and in two are the
/// same text.
public struct ByteText: Hashable, Comparable, Sendable {
  /// The text.
  public let text: String

  /// The key that is this text.
  @inlinable public init(_ text: String) { self.text = text }

  /// Whether the texts are the same to the byte.
  @inlinable public static func == (left: ByteText, right: ByteText) -> Bool {
    left.text.isSame(as: right.text)
  }

  /// Whether the left one's bytes come first.
  public static func < (left: ByteText, right: ByteText) -> Bool {
    left.text.precedesByBytes(right.text)
  }

  /// Of the bytes, as `==` compares them.
  @inlinable public func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}

extension Dictionary where Key == ByteText {
  /// The value of this name.
  @inlinable public subscript(_ name: String) -> Value? {
    get { self[ByteText(name)] }
    _modify { yield &self[ByteText(name)] }
  }
}

extension Set where Element == ByteText {
  /// Adds a name.
  public mutating func insert(_ name: String) { insert(ByteText(name)) }

  /// Whether the name is among them.
  public func contains(_ name: String) -> Bool { contains(ByteText(name)) }
}
