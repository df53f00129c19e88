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
    utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
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
