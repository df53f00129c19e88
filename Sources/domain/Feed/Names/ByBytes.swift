/// A text, or several, of a value whose `==` and hash are the compiler's: compared by bytes, as `ByteText` is.
@propertyWrapper
public struct ByBytes<Value: ByteComparable>: Hashable, Sendable {
  /// The text itself.
  public var wrappedValue: Value

  /// Compares this by bytes.
  @inlinable public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

  /// Whether the texts are the same to the byte.
  @inlinable public static func == (left: ByBytes, right: ByBytes) -> Bool {
    left.wrappedValue.isSame(as: right.wrappedValue)
  }

  /// Of the bytes, as `==` compares them.
  @inlinable public func hash(into hasher: inout Hasher) {
    wrappedValue.hashBytes(into: &hasher)
  }
}

extension ByBytes: Codable where Value: Codable {
  /// The text, as it is coded without the wrapper.
  public init(from decoder: any Decoder) throws {
    self.init(wrappedValue: try decoder.singleValueContainer().decode(Value.self))
  }

  /// The text, as it is coded without the wrapper.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(wrappedValue)
  }
}

/// What can be compared by the bytes of its texts.
public protocol ByteComparable: Sendable {
  /// Whether its texts are the same to the byte.
  func isSame(as other: Self) -> Bool
  /// Hashes its texts' bytes.
  func hashBytes(into hasher: inout Hasher)
}

extension String: ByteComparable {
  /// Whether the texts are the same to the byte.
  @inlinable public func isSame(as other: String) -> Bool {
    // Where they lie: an iterator over a text's bytes asks anew for each, and a copy takes references.
    let (left, right) = (utf8.span, other.utf8.span)
    guard left.count == right.count else { return false }
    for index in left.indices where left[index] != right[index] { return false }
    return true
  }

  /// Whether the text's bytes come first.
  public func precedesByBytes(_ other: String) -> Bool {
    var (left, right) = (self, other)
    return left.withUTF8 { left in right.withUTF8 { left.lexicographicallyPrecedes($0) } }
  }

  /// Hashes the text's bytes, and that it ends there.
  @inlinable public func hashBytes(into hasher: inout Hasher) {
    let isHashed: Void? = utf8.withContiguousStorageIfAvailable {
      hasher.combine(bytes: UnsafeRawBufferPointer($0))
    }
    if isHashed == nil { for byte in utf8 { hasher.combine(byte) } }
    // No byte of UTF-8.
    hasher.combine(0xff as UInt8)
  }
}

extension Optional: ByteComparable where Wrapped: ByteComparable {
  /// Whether both are there and the same, or neither is.
  public func isSame(as other: Wrapped?) -> Bool {
    switch (self, other) {
    case (nil, nil): true
    case (let left?, let right?): left.isSame(as: right)
    default: false
    }
  }

  /// Hashes what is there, and whether it is.
  public func hashBytes(into hasher: inout Hasher) {
    hasher.combine(self != nil)
    self?.hashBytes(into: &hasher)
  }
}

extension Array: ByteComparable where Element: ByteComparable {
  /// Whether there are as many, and each is the same as the other's in its place.
  public func isSame(as other: [Element]) -> Bool {
    count == other.count && zip(self, other).allSatisfy { $0.isSame(as: $1) }
  }

  /// Hashes each, and how many there are.
  public func hashBytes(into hasher: inout Hasher) {
    hasher.combine(count)
    for element in self { element.hashBytes(into: &hasher) }
  }
}

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
