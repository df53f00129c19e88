/// `*( BWS ";" BWS chunk-ext-name [ BWS "=" BWS chunk-ext-val ] )` (RFC 9112 section 7.1.1).
///
/// The server ignores them, but checks them so that no other reading of the same bytes is possible.
enum ChunkExtensions {
  static func isWellFormed(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
    var index = range.lowerBound
    while index < range.upperBound {
      skipWhitespace(bytes, &index, range.upperBound)
      guard index < range.upperBound, bytes[index] == UInt8(ascii: ";") else { return false }
      index += 1
      skipWhitespace(bytes, &index, range.upperBound)
      guard skipToken(bytes, &index, range.upperBound) else { return false }
      var lookahead = index
      skipWhitespace(bytes, &lookahead, range.upperBound)
      guard lookahead < range.upperBound, bytes[lookahead] == UInt8(ascii: "=") else { continue }
      index = lookahead + 1
      skipWhitespace(bytes, &index, range.upperBound)
      guard index < range.upperBound else { return false }
      let isValue =
        bytes[index] == UInt8(ascii: "\"")
        ? skipQuoted(bytes, &index, range.upperBound) : skipToken(bytes, &index, range.upperBound)
      guard isValue else { return false }
    }
    return true
  }

  private static func skipWhitespace(_ bytes: Span<UInt8>, _ index: inout Int, _ end: Int) {
    while index < end, bytes[index].isOptionalWhitespace { index += 1 }
  }

  private static func skipToken(_ bytes: Span<UInt8>, _ index: inout Int, _ end: Int) -> Bool {
    let start = index
    while index < end, bytes[index].isTokenCharacter { index += 1 }
    return index > start
  }

  /// Skips a `quoted-string` (RFC 9110 section 5.6.4).
  private static func skipQuoted(_ bytes: Span<UInt8>, _ index: inout Int, _ end: Int) -> Bool {
    index += 1
    while index < end {
      let byte = bytes[index]
      index += 1
      if byte == UInt8(ascii: "\"") { return true }
      guard byte.isFieldValueCharacter else { return false }
      if byte == UInt8(ascii: "\\") {
        guard index < end, bytes[index].isFieldValueCharacter else { return false }
        index += 1
      }
    }
    return false
  }
}
