/// Why text cannot be percent-decoded, and where.
public struct PercentEncodingError: Error, Sendable, Hashable {
  /// What is wrong.
  public enum Reason: Sendable, Hashable {
    /// `%` without two hexadecimal digits behind it.
    case malformedEscape
    /// `%00`, which no name here holds and which ends a string in C.
    case nul
    /// The decoded bytes are not UTF-8.
    case invalidUTF8
  }

  /// What is wrong.
  public let reason: Reason
  /// The offset in bytes, in the encoded text, at which it goes wrong.
  public let offset: Int

  /// An error at an offset of the encoded text.
  public init(reason: Reason, offset: Int) {
    self.reason = reason
    self.offset = offset
  }
}

extension PercentEncodingError: CustomStringConvertible {
  /// What is wrong, as a clause.
  public var description: String {
    let what =
      switch reason {
      case .malformedEscape: "a % without two hexadecimal digits"
      case .nul: "an encoded NUL"
      case .invalidUTF8: "bytes that are not UTF-8"
      }
    return "\(what) at offset \(offset)"
  }
}
