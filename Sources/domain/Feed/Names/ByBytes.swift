/// One or several texts that a synthesized `==` and hash compare by bytes, like `ByteText`.
@propertyWrapper
public struct ByBytes<Value: ByteComparable>: Hashable, Sendable {
  /// The text.
  public var wrappedValue: Value

  /// Wraps a text, which is compared by bytes.
  @inlinable public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

  /// Whether the texts are identical to the byte.
  @inlinable public static func == (left: ByBytes, right: ByBytes) -> Bool {
    left.wrappedValue.isSame(as: right.wrappedValue)
  }

  /// Hashes the bytes that `==` compares.
  @inlinable public func hash(into hasher: inout Hasher) {
    wrappedValue.hashBytes(into: &hasher)
  }
}

extension ByBytes: Codable where Value: Codable {
  /// Decodes the text, in the same form as without the wrapper.
  public init(from decoder: any Decoder) throws {
    self.init(wrappedValue: try decoder.singleValueContainer().decode(Value.self))
  }

  /// Encodes the text, in the same form as without the wrapper.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(wrappedValue)
  }
}

/// A type that can be compared by the bytes of its texts.
public protocol ByteComparable: Sendable {
  /// Whether the texts are identical to the byte.
  func isSame(as other: Self) -> Bool
  /// Hashes the bytes of the texts.
  func hashBytes(into hasher: inout Hasher)
}

extension String: ByteComparable {
  /// Whether the texts are identical to the byte.
  @inlinable public func isSame(as other: String) -> Bool {
    // Spans read in place: an iterator over `utf8` looks up the storage for each byte, and a copy retains
    // the string.
    let (left, right) = (utf8.span, other.utf8.span)
    guard left.count == right.count else { return false }
    for index in left.indices where left[index] != right[index] { return false }
    return true
  }

  /// Whether the text comes before the other one in the order of bytes.
  public func precedesByBytes(_ other: String) -> Bool {
    var (left, right) = (self, other)
    return left.withUTF8 { left in right.withUTF8 { left.lexicographicallyPrecedes($0) } }
  }

  /// Hashes the text's bytes and a terminator.
  @inlinable public func hashBytes(into hasher: inout Hasher) {
    let isHashed: Void? = utf8.withContiguousStorageIfAvailable {
      hasher.combine(bytes: UnsafeRawBufferPointer($0))
    }
    if isHashed == nil { for byte in utf8 { hasher.combine(byte) } }
    // 0xff does not occur in UTF-8.
    hasher.combine(0xff as UInt8)
  }
}

extension Optional: ByteComparable where Wrapped: ByteComparable {
  /// Whether both are present and identical, or both are `nil`.
  public func isSame(as other: Wrapped?) -> Bool {
    switch (self, other) {
    case (nil, nil): true
    case (let left?, let right?): left.isSame(as: right)
    default: false
    }
  }

  /// Hashes the value and whether it is present.
  public func hashBytes(into hasher: inout Hasher) {
    hasher.combine(self != nil)
    self?.hashBytes(into: &hasher)
  }
}

extension Array: ByteComparable where Element: ByteComparable {
  /// Whether the counts are equal, and each element is identical to the one at the same index.
  public func isSame(as other: [Element]) -> Bool {
    count == other.count && zip(self, other).allSatisfy { $0.isSame(as: $1) }
  }

  /// Hashes the elements and their count.
  public func hashBytes(into hasher: inout Hasher) {
    hasher.combine(count)
    for element in self { element.hashBytes(into: &hasher) }
  }
}

/// A name or id as a key: equal if it is identical to the byte, as in SQLite, in a URL and in a cursor, and
/// ordered by its bytes. Swift's own `==` treats `é` as one code point and as two as the same text.
public struct ByteText: Hashable, Comparable, Sendable {
  /// The text.
  public let text: String

  /// Creates the key of a text.
  @inlinable public init(_ text: String) { self.text = text }

  /// Whether the texts are identical to the byte.
  @inlinable public static func == (left: ByteText, right: ByteText) -> Bool {
    left.text.isSame(as: right.text)
  }

  /// Whether the left text comes first in the order of bytes.
  public static func < (left: ByteText, right: ByteText) -> Bool {
    left.text.precedesByBytes(right.text)
  }

  /// Hashes the bytes that `==` compares.
  @inlinable public func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}

extension Dictionary where Key == ByteText {
  /// The value for this name.
  @inlinable public subscript(_ name: String) -> Value? {
    get { self[ByteText(name)] }
    _modify { yield &self[ByteText(name)] }
  }
}

extension Set where Element == ByteText {
  /// Adds a name.
  public mutating func insert(_ name: String) { insert(ByteText(name)) }

  /// Whether the set contains the name.
  public func contains(_ name: String) -> Bool { contains(ByteText(name)) }
}
