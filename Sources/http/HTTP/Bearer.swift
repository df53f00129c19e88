/// Bearer tokens in `Authorization` (RFC 6750 section 2.1, RFC 9110 section 11.6.2).
public enum Bearer {
  /// The token that the request presents.
  ///
  /// nil if there is no `Authorization`, more than one, one of another scheme, or one whose token does not
  /// have the form `token68` (RFC 9110 section 11.2).
  public static func credentials(_ fields: Fields) -> String? {
    let values = fields.values(of: "Authorization")
    guard values.count == 1, let value = values.first else { return nil }
    let bytes = value.utf8.span
    guard bytes.equalsIgnoringCase(bytes.indices.prefix(7), "bearer ") else { return nil }
    var start = 7
    while start < bytes.count, bytes[start] == .space { start += 1 }
    var padding = start
    while padding < bytes.count, bytes[padding].isTokenCharacter68 { padding += 1 }
    var end = padding
    while end < bytes.count, bytes[end] == UInt8(ascii: "=") { end += 1 }
    return start < padding && end == bytes.count ? bytes.text(start..<end) : nil
  }

  /// Whether the presented token is the expected one; false if the expected one is empty.
  ///
  /// The time depends only on the length of `presented`: every byte of it is compared with some byte of
  /// `expected`, and the differences are combined without a branch, so that a caller learns neither how much
  /// of a guess was right nor the length of the token.
  @inline(never)
  public static func matches(_ presented: String, _ expected: String) -> Bool {
    let presented = presented.utf8.span
    let expected = expected.utf8.span
    guard !expected.isEmpty else { return false }
    var difference = presented.count ^ expected.count
    for index in presented.indices {
      // All ones while the index lies within `expected`, and then all zeros: bytes past its end are compared
      // with its first byte. The lengths differ there, so the result is known.
      let isWithin = (index &- expected.count) &>> (Int.bitWidth - 1)
      difference |= Int(presented[index] ^ expected[index & isWithin])
    }
    return difference == 0
  }
}

extension UInt8 {
  /// The characters before the padding of `token68` (RFC 9110 section 11.2).
  fileprivate var isTokenCharacter68: Bool {
    isUnreserved || self == UInt8(ascii: "+") || self == UInt8(ascii: "/")
  }
}
