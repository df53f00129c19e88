/// `uri-host [ ":" port ]` (RFC 9110 section 7.2, RFC 3986 section 3.2), without user information.
enum Authority {
  /// Whether the bytes are a host that is not empty, and a port if there is one.
  static func isWellFormed(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
    guard !range.isEmpty else { return false }
    var index = range.lowerBound
    if bytes[index] == UInt8(ascii: "[") {
      index += 1
      let start = index
      while index < range.upperBound, isInLiteral(bytes[index]) { index += 1 }
      guard index > start, index < range.upperBound, bytes[index] == UInt8(ascii: "]") else {
        return false
      }
      index += 1
    } else {
      while index < range.upperBound, bytes[index] != UInt8(ascii: ":") {
        guard isInName(bytes, &index, range.upperBound) else { return false }
      }
      guard index > range.lowerBound else { return false }
    }
    guard index < range.upperBound else { return true }
    guard bytes[index] == UInt8(ascii: ":") else { return false }
    let port = (index + 1)..<range.upperBound
    guard port.count <= 5 else { return false }
    var number = 0
    for digit in port {
      guard bytes[digit].isDigit else { return false }
      number = number * 10 + Int(bytes[digit] - 0x30)
    }
    return number <= 65_535
  }

  private static func isInLiteral(_ byte: UInt8) -> Bool {
    byte.hexadecimalValue != nil || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".")
  }

  /// Moves over one character of a registered name, or one percent-encoded byte.
  private static func isInName(_ bytes: Span<UInt8>, _ index: inout Int, _ end: Int) -> Bool {
    let byte = bytes[index]
    if byte == UInt8(ascii: "%") {
      guard index + 2 < end, bytes[index + 1].hexadecimalValue != nil,
        bytes[index + 2].hexadecimalValue != nil
      else { return false }
      index += 3
      return true
    }
    // A comma is a sub-delimiter, but here it is two hosts joined into one field.
    guard byte.isUnreserved || (byte.isSubDelimiter && byte != UInt8(ascii: ",")) else {
      return false
    }
    index += 1
    return true
  }
}
